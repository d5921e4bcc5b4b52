// Sums over the last updates and seconds, all windows over one ring of records. O(1) an update in
// the long run: each record enters each window once and leaves it once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "features/feature_inputs.h"

namespace tocsin {

class RollingWindows {
 public:
  struct Options {
    std::size_t updates_capacity = 0;  // held by a window of time before the first growth
    // Held at most, from 500 to kWindowUpdatesMax: past it the oldest leave early, and are counted.
    std::size_t updates_max = kWindowUpdatesMax;
    std::array<bool, kWindowCount> kept = {true, true, true, true, true};  // others stay empty
  };
  explicit RollingWindows(const Options& options);

  // Times must not fall, but below all that the windows of time hold: that empties them. Allocates
  // only where a window of time holds more updates than its capacity and than ever before.
  void push(const UpdateRecord& record);

  const AllWindows& windows() const noexcept { return windows_; }
  std::uint64_t truncated_count() const noexcept { return truncated_count_; }
  // Of the ring; what was never used of it costs address space alone.
  std::size_t memory_bytes() const noexcept { return ring_size_ * sizeof(UpdateRecord); }

 private:
  static constexpr std::size_t kFirstTimeWindow = kWindowUpdates.size();

  const UpdateRecord& record(std::uint64_t number) const noexcept {
    return records_[number & (ring_size_ - 1)];
  }
  template <std::size_t kWindow>
  void drop_oldest() noexcept;
  template <std::size_t kWindow>
  void make_room(std::int64_t now_ns) noexcept;
  template <std::size_t kWindow>
  void take_in(const UpdateRecord& record) noexcept;
  void grow();

  std::unique_ptr<UpdateRecord[]> records_;  // a ring
  std::size_t ring_size_;                    // a power of two
  AllWindows windows_;
  std::uint64_t next_update_ = 0;
  std::uint64_t truncated_count_ = 0;
  std::size_t updates_max_;
  std::array<bool, kWindowCount> kept_;
};

// The greatest and the least of the last kMidRangeUpdates values, by two queues of candidates.
class RollingRange {
 public:
  void push(std::int64_t value) noexcept;
  std::uint64_t range() const noexcept;

 private:
  static constexpr std::uint32_t kCapacity = 128;
  static_assert(kCapacity >= kMidRangeUpdates);
  struct Candidate {
    std::int64_t value = 0;
    std::uint64_t number = 0;
  };
  // Values rise (or fall) strictly from the front to the back: the front is the extreme.
  struct Queue {
    std::array<Candidate, kCapacity> candidates;
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    const Candidate& front() const noexcept { return candidates[first % kCapacity]; }
    const Candidate& back() const noexcept { return candidates[(first + count - 1) % kCapacity]; }
  };
  template <typename Beats>
  void push(Queue& queue, std::int64_t value, Beats beats) noexcept;

  Queue greatest_;
  Queue least_;
  std::uint64_t next_ = 0;
};

}  // namespace tocsin
