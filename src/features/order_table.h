// Order id -> slot: open addressing with linear probing. A removal shifts the run behind it back,
// so there are no tombstones and the table grows by the number of orders alone, never by churn.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/chunked_pool.h"

namespace tocsin {

class OrderTable {
 public:
  explicit OrderTable(std::size_t order_capacity) {
    const std::size_t entry_count = std::bit_ceil(order_capacity < 8 ? 16 : 2 * order_capacity);
    entries_.resize(entry_count);
    mask_ = entry_count - 1;
  }

  // The slot of an order, or kNoSlot.
  std::uint32_t find(std::uint64_t order_id) const noexcept {
    for (std::size_t i = home(order_id);; i = (i + 1) & mask_) {
      const Entry& entry = entries_[i];
      if (entry.slot == kNoSlot || entry.order_id == order_id) return entry.slot;
    }
  }

  // `order_id` must not be there yet. Allocates when more than half of the entries would be taken.
  void insert(std::uint64_t order_id, std::uint32_t slot) {
    if (2 * (size_ + 1) > entries_.size()) [[unlikely]]
      grow();
    place(order_id, slot);
    ++size_;
  }

  // `order_id` must be there.
  void erase(std::uint64_t order_id) noexcept {
    std::size_t hole = home(order_id);
    while (entries_[hole].order_id != order_id || entries_[hole].slot == kNoSlot) {
      hole = (hole + 1) & mask_;
    }
    for (std::size_t i = (hole + 1) & mask_; entries_[i].slot != kNoSlot; i = (i + 1) & mask_) {
      // An entry may move back into the hole if that lies between its home and where it is now.
      const std::size_t distance_from_home = (i - home(entries_[i].order_id)) & mask_;
      if (distance_from_home >= ((i - hole) & mask_)) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    entries_[hole].slot = kNoSlot;
    --size_;
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t memory_bytes() const noexcept { return entries_.size() * sizeof(Entry); }

 private:
  struct Entry {
    std::uint64_t order_id = 0;
    std::uint32_t slot = kNoSlot;
  };

  // Venues number orders in runs and strides; two multiplications spread both.
  std::size_t home(std::uint64_t order_id) const noexcept {
    std::uint64_t hash = (order_id ^ (order_id >> 32)) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
    return static_cast<std::size_t>(hash >> 20) & mask_;
  }

  void place(std::uint64_t order_id, std::uint32_t slot) noexcept {
    std::size_t i = home(order_id);
    while (entries_[i].slot != kNoSlot) i = (i + 1) & mask_;
    entries_[i] = {order_id, slot};
  }

  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    mask_ = entries_.size() - 1;
    for (const Entry& entry : old) {
      if (entry.slot != kNoSlot) place(entry.order_id, entry.slot);
    }
  }

  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tocsin
