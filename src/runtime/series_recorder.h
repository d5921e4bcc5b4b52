// A run's mid price and score as at most 4,096 points, however long the run: for plots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tocsin {

struct SeriesPoint {
  std::int64_t exchange_time_ns = 0;  // of the last frame in the point
  std::int64_t mid_nanos_x2 = 0;      // of the last frame in the point
  float score_max = 0.0F;             // highest score in the point; -1 if nothing was scored
};

class SeriesRecorder {
 public:
  static constexpr std::size_t kPointsMax = 4096;

  SeriesRecorder() { points_.reserve(kPointsMax); }

  // `score` is -1 where the frame was not scored. O(1) amortised, no allocation.
  void add(const SeriesPoint& frame) noexcept;
  std::span<const SeriesPoint> points() const noexcept { return points_; }

 private:
  std::vector<SeriesPoint> points_;
  std::uint64_t frames_per_point_ = 1;
  std::uint64_t frames_in_last_ = 0;
};

}  // namespace tocsin
