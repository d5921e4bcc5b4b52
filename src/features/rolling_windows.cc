// Windows over one ring. What leaves is taken off before what enters is added, so that the ring
// needs room for no more than the longest window.
#include "features/rolling_windows.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace tocsin {
namespace {

// A time ahead of now is older than any window: time has started anew since.
std::uint64_t age_ns(std::int64_t then_ns, std::int64_t now_ns) noexcept {
  if (then_ns > now_ns) return UINT64_MAX;
  return static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(then_ns);
}

}  // namespace

RollingWindows::RollingWindows(const Options& options)
    : ring_size_(std::bit_ceil(std::clamp<std::size_t>(options.updates_capacity,
                                                       kWindowUpdates.back(), kWindowUpdatesMax))),
      updates_max_(
          std::clamp<std::size_t>(options.updates_max, kWindowUpdates.back(), kWindowUpdatesMax)),
      kept_(options.kept) {
  records_ = std::make_unique_for_overwrite<UpdateRecord[]>(ring_size_);
}

template <std::size_t kWindow>
void RollingWindows::drop_oldest() noexcept {
  constexpr Columns kColumns = kWindowColumns[kWindow];
  WindowSums& window = windows_[kWindow];
  const SummandValues& oldest = record(window.first_update).summands;
  for (std::size_t i = 0; i < kColumns.count; ++i) {
    window.sums[kColumns.first + i] -= oldest[kColumns.first + i];
  }
  ++window.first_update;
  --window.update_count;
}

template <std::size_t kWindow>
void RollingWindows::take_in(const UpdateRecord& record) noexcept {
  constexpr Columns kColumns = kWindowColumns[kWindow];
  WindowSums& window = windows_[kWindow];
  for (std::size_t i = 0; i < kColumns.count; ++i) {
    window.sums[kColumns.first + i] += record.summands[kColumns.first + i];
  }
  ++window.update_count;
}

template <std::size_t kWindow>
void RollingWindows::make_room(std::int64_t now_ns) noexcept {
  WindowSums& window = windows_[kWindow];
  if constexpr (kWindow < kFirstTimeWindow) {
    if (window.update_count == kWindowUpdates[kWindow]) drop_oldest<kWindow>();
  } else {
    constexpr std::uint64_t kDurationNs = kWindowDurationNs[kWindow - kFirstTimeWindow];
    while (window.update_count > 0 &&
           age_ns(record(window.first_update).time_ns, now_ns) >= kDurationNs) {
      drop_oldest<kWindow>();
    }
    if (window.update_count == updates_max_) [[unlikely]] {
      drop_oldest<kWindow>();
      ++truncated_count_;
    }
  }
}

void RollingWindows::push(const UpdateRecord& new_record) {
  [&]<std::size_t... kWindow>(std::index_sequence<kWindow...>) {
    ((kept_[kWindow] ? make_room<kWindow>(new_record.time_ns) : void()), ...);
    if (std::max(windows_[kFirstTimeWindow].update_count, windows_.back().update_count) ==
        ring_size_) [[unlikely]]
      grow();
    records_[next_update_ & (ring_size_ - 1)] = new_record;
    ++next_update_;
    ((kept_[kWindow] ? take_in<kWindow>(new_record) : void()), ...);
  }
  (std::make_index_sequence<kWindowCount>());
}

void RollingWindows::grow() {
  const std::size_t larger_size = 2 * ring_size_;
  auto larger = std::make_unique_for_overwrite<UpdateRecord[]>(larger_size);
  for (std::uint64_t number = next_update_ - ring_size_; number < next_update_; ++number) {
    larger[number & (larger_size - 1)] = record(number);
  }
  records_ = std::move(larger);
  ring_size_ = larger_size;
}

template <typename Beats>
void RollingRange::push(Queue& queue, std::int64_t value, Beats beats) noexcept {
  if (queue.count > 0 && queue.front().number + kMidRangeUpdates == next_) {
    ++queue.first;
    --queue.count;
  }
  while (queue.count > 0 && !beats(queue.back().value, value)) --queue.count;
  queue.candidates[(queue.first + queue.count) % kCapacity] = {value, next_};
  ++queue.count;
}

void RollingRange::push(std::int64_t value) noexcept {
  push(greatest_, value, std::greater<>());
  push(least_, value, std::less<>());
  ++next_;
}

std::uint64_t RollingRange::range() const noexcept {
  if (greatest_.count == 0) return 0;
  return static_cast<std::uint64_t>(greatest_.front().value) -
         static_cast<std::uint64_t>(least_.front().value);
}

}  // namespace tocsin
