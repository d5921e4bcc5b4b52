// A ring of remembered holes; looked at only when a number comes out of turn.
#include "ingest/gap_detector.h"

#include <algorithm>

namespace tocsin {

SequenceFinding GapDetector::check_range(std::uint64_t first, std::uint64_t count) noexcept {
  SequenceFinding finding;
  // A range that would run past the largest number ends there.
  const std::uint64_t end = first + std::min(count, UINT64_MAX - first);
  if (!started_) {
    started_ = true;
    expected_ = end;
  } else if (first == expected_) {
    expected_ = end;
  } else if (first > expected_) {
    finding.quality = Quality::kGap;
    finding.missing_count = first - expected_;
    open_hole(expected_, first);
    expected_ = end;
  } else if (count > 0) {
    finding.quality = take_from_hole(first, count) ? Quality::kOutOfOrder : Quality::kDuplicate;
  }
  return finding;
}

void GapDetector::open_hole(std::uint64_t first, std::uint64_t end) noexcept {
  holes_[next_hole_] = {first, end};
  next_hole_ = (next_hole_ + 1) % holes_.size();
}

bool GapDetector::take_from_hole(std::uint64_t first, std::uint64_t count) noexcept {
  for (Hole& hole : holes_) {
    if (first < hole.first || first >= hole.end) continue;
    const std::uint64_t end = first + std::min(count, hole.end - first);
    const Hole rest{end, hole.end};
    hole.end = first;
    if (rest.first == rest.end) return true;
    if (hole.first == hole.end) {
      hole = rest;
    } else {
      open_hole(rest.first, rest.end);
    }
    return true;
  }
  return false;
}

}  // namespace tocsin
