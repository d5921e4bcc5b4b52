// Says afterwards what became of each alert: did the mid move by more than k ticks within the next
// N frames? The same definition as the models' training target (models/model_package.h,
// BurstTarget).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tocsin {

struct OutcomeOptions {
  std::int64_t move_nanos = 0;      // k ticks, in price units of 1e-9
  std::int64_t horizon_frames = 0;  // N
  // Called for each frame in order, N frames later: whether a burst followed. For audits; may
  // allocate.
  std::function<void(bool burst)> on_judged{};
};

struct OutcomeCounters {
  std::uint64_t frames = 0;        // frames whose next N frames are all known
  std::uint64_t burst_frames = 0;  // of these, frames that a burst followed
  std::uint64_t hits = 0;          // alerts that a burst followed within N frames
  std::uint64_t false_alerts = 0;  // alerts that none followed
  std::uint64_t misses = 0;        // stretches of burst frames without an alert in them
  std::uint64_t undecided = 0;     // alerts too near the end to know
  double base_rate() const noexcept {
    return frames == 0 ? 0.0 : static_cast<double>(burst_frames) / static_cast<double>(frames);
  }
  OutcomeCounters& operator+=(const OutcomeCounters& other) noexcept;
};

// One instrument. The counters of a frame are known N frames later; frames are told apart by `part`
// (0 to kParts-1: which stretch of the input the frame lies in).
class OutcomeTracker {
 public:
  static constexpr std::size_t kParts = 3;

  explicit OutcomeTracker(const OutcomeOptions& options);

  // `mid_nanos_x2` is best bid + best ask of the frame. O(1) amortised; allocates only in warm-up.
  void on_frame(std::int64_t mid_nanos_x2, bool alerted, std::size_t part) noexcept;
  // No more frames: what is still open counts as undecided.
  void finish() noexcept;
  const OutcomeCounters& counters(std::size_t part) const noexcept { return counters_[part]; }

 private:
  struct Pending {
    std::int64_t mid_nanos_x2 = 0;
    std::size_t part = 0;
    bool alerted = false;
  };
  // Fixed-capacity queue of frame numbers whose mids are monotone: the extreme of the last N mids.
  class ExtremeQueue {
   public:
    explicit ExtremeQueue(std::size_t capacity) : frames_(capacity + 1) {}
    template <typename Keeps>
    void push(std::uint64_t frame, Keeps&& keeps) noexcept;
    void drop_below(std::uint64_t frame) noexcept;
    std::uint64_t front() const noexcept { return frames_[head_ % frames_.size()]; }

   private:
    std::vector<std::uint64_t> frames_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
  };

  const Pending& pending(std::uint64_t frame) const noexcept { return ring_[frame % ring_.size()]; }
  void judge(std::uint64_t frame) noexcept;

  OutcomeOptions options_;
  std::vector<Pending> ring_;  // the last N + 1 frames
  ExtremeQueue highs_;
  ExtremeQueue lows_;
  std::uint64_t frame_count_ = 0;
  bool in_stretch_ = false;  // the last judged frame was a burst frame
  bool stretch_alerted_ = false;
  std::size_t stretch_part_ = 0;
  OutcomeCounters counters_[kParts];
};

}  // namespace tocsin
