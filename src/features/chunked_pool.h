// A pool of equal slots addressed by number, doubling as it grows: a slot never moves, a freed slot
// is the next one taken. Numbers are 32 bits, so that links between slots are half as large as
// pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tocsin {

inline constexpr std::uint32_t kNoSlot = UINT32_MAX;

// T must be default constructible and have a member `std::uint32_t next`, which links free slots.
template <typename T, std::uint32_t kChunkBits>
class ChunkedPool {
 public:
  static constexpr std::uint32_t kChunkSlots = 1U << kChunkBits;

  T& operator[](std::uint32_t slot) noexcept {
    return chunks_[slot >> kChunkBits][slot & (kChunkSlots - 1)];
  }
  const T& operator[](std::uint32_t slot) const noexcept {
    return chunks_[slot >> kChunkBits][slot & (kChunkSlots - 1)];
  }

  // Takes a slot; its content is what it last held. Allocates only when none is free.
  std::uint32_t take() {
    if (first_free_ == kNoSlot) [[unlikely]]
      grow();
    const std::uint32_t slot = first_free_;
    first_free_ = (*this)[slot].next;
    return slot;
  }

  void give_back(std::uint32_t slot) noexcept {
    (*this)[slot].next = first_free_;
    first_free_ = slot;
  }

  void reserve(std::size_t slot_count) {
    while (capacity() < slot_count) grow();
  }

  std::size_t capacity() const noexcept { return chunks_.size() * kChunkSlots; }
  std::size_t memory_bytes() const noexcept { return capacity() * sizeof(T); }

 private:
  // As many chunks as there are, in one allocation: n slots cost O(log n) allocations.
  void grow() {
    const auto first = static_cast<std::uint32_t>(capacity());
    const std::size_t chunk_count = std::max<std::size_t>(chunks_.size(), 1);
    const auto slot_count = static_cast<std::uint32_t>(chunk_count * kChunkSlots);
    blocks_.push_back(std::make_unique<T[]>(slot_count));
    chunks_.reserve(chunks_.size() + chunk_count);
    for (std::size_t i = 0; i < chunk_count; ++i)
      chunks_.push_back(blocks_.back().get() + i * kChunkSlots);
    for (std::uint32_t i = slot_count; i-- > 0;) give_back(first + i);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;  // owns
  std::vector<T*> chunks_;                    // where each chunk of kChunkSlots begins
  std::uint32_t first_free_ = kNoSlot;
};

}  // namespace tocsin
