// One side of an order book: its price levels, sorted, and a copy of the best ten that is changed
// only when one of these is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "features/chunked_pool.h"
#include "features/order_book.h"
#include "features/price_index.h"

namespace tocsin {

class BookSide {
 public:
  struct Level {
    std::int64_t price_nanos = 0;
    std::int64_t quantity_nanos = 0;   // of the queue and anonymous
    std::int64_t anonymous_nanos = 0;  // known by price alone; taken to be ahead of the queue
    std::uint32_t queue_head = kNoSlot;
    std::uint32_t queue_tail = kNoSlot;
    std::uint32_t order_count = 0;
    std::uint32_t next = kNoSlot;  // of the pool's free levels
  };

  BookSide(Side side, std::size_t level_capacity);

  Level& operator[](std::uint32_t level) noexcept { return levels_[level]; }
  const Level& operator[](std::uint32_t level) const noexcept { return levels_[level]; }
  // The level at a price, or kNoSlot.
  std::uint32_t find(std::int64_t price_nanos) const noexcept;
  // A new, empty level; the price must not be there yet. To be filled and then refreshed.
  std::uint32_t create(std::int64_t price_nanos);
  // To be called after each change of a level; removes it if nothing rests there anymore.
  void refresh(std::uint32_t level) noexcept;
  // The level by rank; `rank` must be below size(). O(rank).
  std::uint32_t at_rank(std::size_t rank) const noexcept { return index_.level_at_rank(rank); }
  std::uint32_t worst() const noexcept { return index_.worst(); }
  std::size_t size() const noexcept { return index_.size(); }
  void clear() noexcept;
  template <typename Visit>
  void for_each(Visit&& visit) const {
    index_.for_each(visit);
  }

  std::span<const BookLevel> top() const noexcept { return {top_.data(), top_count_}; }
  std::size_t memory_bytes() const noexcept {
    return levels_.memory_bytes() + index_.memory_bytes() + sizeof(*this);
  }
  const PriceIndex& index() const noexcept { return index_; }

  static BookLevel view(const Level& level) noexcept {
    return {level.price_nanos, level.quantity_nanos, level.order_count};
  }

 private:
  // Better prices have greater keys on both sides.
  std::int64_t key_of(std::int64_t price_nanos) const noexcept { return price_nanos ^ key_mask_; }
  bool within_top(std::int64_t key) const noexcept {
    return top_count_ > 0 && key >= key_of(top_[top_count_ - 1].price_nanos);
  }
  std::size_t top_position(std::int64_t price_nanos) const noexcept;
  void remove(std::uint32_t level) noexcept;

  std::array<BookLevel, OrderBook::kTopLevels> top_{};
  std::size_t top_count_ = 0;
  std::int64_t key_mask_;
  PriceIndex index_;
  ChunkedPool<Level, 6> levels_;
};

}  // namespace tocsin
