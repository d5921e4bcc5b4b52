// Forward extremes of the mid by two monotone queues over a ring of the last N + 1 frames.
#include "runtime/outcome_tracker.h"

#include "base/assert.h"

namespace tocsin {

OutcomeCounters& OutcomeCounters::operator+=(const OutcomeCounters& other) noexcept {
  frames += other.frames;
  burst_frames += other.burst_frames;
  hits += other.hits;
  false_alerts += other.false_alerts;
  misses += other.misses;
  undecided += other.undecided;
  return *this;
}

template <typename Keeps>
void OutcomeTracker::ExtremeQueue::push(std::uint64_t frame, Keeps&& keeps) noexcept {
  while (tail_ > head_ && !keeps(frames_[(tail_ - 1) % frames_.size()])) --tail_;
  frames_[tail_ % frames_.size()] = frame;
  ++tail_;
}

void OutcomeTracker::ExtremeQueue::drop_below(std::uint64_t frame) noexcept {
  while (frames_[head_ % frames_.size()] < frame) ++head_;
}

OutcomeTracker::OutcomeTracker(const OutcomeOptions& options)
    : options_(options),
      ring_(static_cast<std::size_t>(options.horizon_frames) + 1),
      highs_(static_cast<std::size_t>(options.horizon_frames) + 1),
      lows_(static_cast<std::size_t>(options.horizon_frames) + 1) {
  TOCSIN_ASSERT(options.horizon_frames > 0 && options.move_nanos > 0);
}

void OutcomeTracker::on_frame(std::int64_t mid_nanos_x2, bool alerted, std::size_t part) noexcept {
  const std::uint64_t frame = frame_count_++;
  ring_[frame % ring_.size()] = Pending{mid_nanos_x2, part, alerted};
  highs_.push(frame, [&](std::uint64_t f) { return pending(f).mid_nanos_x2 > mid_nanos_x2; });
  lows_.push(frame, [&](std::uint64_t f) { return pending(f).mid_nanos_x2 < mid_nanos_x2; });
  const auto horizon = static_cast<std::uint64_t>(options_.horizon_frames);
  if (frame >= horizon) judge(frame - horizon);
}

void OutcomeTracker::judge(std::uint64_t frame) noexcept {
  // Extremes over frame .. frame + N; the frame itself cannot move away from itself.
  highs_.drop_below(frame);
  lows_.drop_below(frame);
  const Pending& judged = pending(frame);
  const std::int64_t limit_x2 = 2 * options_.move_nanos;
  const bool burst = pending(highs_.front()).mid_nanos_x2 - judged.mid_nanos_x2 > limit_x2 ||
                     judged.mid_nanos_x2 - pending(lows_.front()).mid_nanos_x2 > limit_x2;
  OutcomeCounters& counters = counters_[judged.part];
  ++counters.frames;
  if (burst) ++counters.burst_frames;
  if (judged.alerted) ++(burst ? counters.hits : counters.false_alerts);
  if (burst) {
    if (!in_stretch_) stretch_part_ = judged.part;
    stretch_alerted_ = (in_stretch_ && stretch_alerted_) || judged.alerted;
  } else if (in_stretch_ && !stretch_alerted_) {
    ++counters_[stretch_part_].misses;
  }
  in_stretch_ = burst;
  if (options_.on_judged) options_.on_judged(burst);
}

void OutcomeTracker::finish() noexcept {
  if (in_stretch_ && !stretch_alerted_) ++counters_[stretch_part_].misses;
  in_stretch_ = false;
  const auto horizon = static_cast<std::uint64_t>(options_.horizon_frames);
  for (std::uint64_t frame = frame_count_ > horizon ? frame_count_ - horizon : 0;
       frame < frame_count_; ++frame)
    if (pending(frame).alerted) ++counters_[pending(frame).part].undecided;
}

}  // namespace tocsin
