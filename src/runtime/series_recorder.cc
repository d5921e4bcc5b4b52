// When the points are used up, neighbours are merged and each new point holds twice the frames.
#include "runtime/series_recorder.h"

#include <algorithm>

namespace tocsin {
namespace {

void merge_into(SeriesPoint& point, const SeriesPoint& later) noexcept {
  const float score_max = std::max(point.score_max, later.score_max);
  point = later;
  point.score_max = score_max;
}

}  // namespace

void SeriesRecorder::add(const SeriesPoint& frame) noexcept {
  if (!points_.empty() && frames_in_last_ < frames_per_point_) {
    merge_into(points_.back(), frame);
    ++frames_in_last_;
    return;
  }
  if (points_.size() == kPointsMax) {
    for (std::size_t i = 0; i < kPointsMax / 2; ++i) {
      SeriesPoint merged = points_[2 * i];
      merge_into(merged, points_[2 * i + 1]);
      points_[i] = merged;
    }
    points_.resize(kPointsMax / 2);
    frames_per_point_ *= 2;
  }
  points_.push_back(frame);
  frames_in_last_ = 1;
}

}  // namespace tocsin
