// Bounded queue between one producer thread and one consumer thread: no lock, no allocation
// after construction; "full" and "empty" are return values.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/assert.h"
#include "base/cache_line.h"

namespace tocsin {

template <typename T>
class SpscRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // `capacity` is rounded up to a power of two.
  explicit SpscRing(std::size_t capacity)
      : slots_(std::bit_ceil(capacity < 2 ? 2 : capacity)), mask_(slots_.size() - 1) {}

  std::size_t capacity() const noexcept { return slots_.size(); }

  // Producer only. False if the ring is full: `value` is not taken.
  bool try_push(const T& value) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - cached_head_ == slots_.size()) {
      cached_head_ = head_.load(std::memory_order_acquire);
      if (tail - cached_head_ == slots_.size()) return false;
    }
    slots_[tail & mask_] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Consumer only. False if the ring is empty.
  bool try_pop(T& value) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == cached_tail_) {
      cached_tail_ = tail_.load(std::memory_order_acquire);
      if (head == cached_tail_) return false;
    }
    value = slots_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  std::vector<T> slots_;
  std::size_t mask_;
  alignas(kCacheLineBytes) std::atomic<std::size_t> tail_{0};  // written by the producer
  std::size_t cached_head_ = 0;                                // producer's copy of head_
  alignas(kCacheLineBytes) std::atomic<std::size_t> head_{0};  // written by the consumer
  std::size_t cached_tail_ = 0;                                // consumer's copy of tail_
};

}  // namespace tocsin
