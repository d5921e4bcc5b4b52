// Scores whole windows, one at a time: nothing is computed ahead. The simplest Scorer, and the
// measure of what others compute.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "scoring/frame_window.h"
#include "scoring/scorer.h"

namespace tocsin {

struct WindowScorerOptions {
  // Limits memory: each key takes steps x (12 x features + 16) bytes.
  std::size_t key_count_max = 16'384;
};

// What came of a failed inference that was tried again.
struct FailureReplay {
  bool fails = false;
  float score = 0;    // if it does not fail
  std::string error;  // if it does
};

class WindowScorer final : public Scorer {
 public:
  explicit WindowScorer(LoadedModel model, const WindowScorerOptions& options = {});

  const LoadedModel& model() const noexcept override { return model_; }
  // kResourceExhausted past key_count_max.
  Status add_key(InstrumentId key) override;
  void push(InstrumentId key, const FeatureFrame& frame) noexcept override;
  ScoreStatus score(InstrumentId key, float& score) noexcept override;
  void settle(InstrumentId key) noexcept override { window(key).hash_frames(digest_builder_); }
  void reset(InstrumentId key) noexcept override { window(key).reset(); }
  InputPosition first_position(InstrumentId key) const noexcept override {
    return window(key).first_position();
  }
  std::uint64_t raw_hash(InstrumentId key) noexcept override {
    return window(key).raw_hash(digest_builder_);
  }
  FailureCapsule capture_failure(InstrumentId key) const override;
  ScorerCounters counters() const noexcept override { return counters_; }

  std::span<const float> normalised(InstrumentId key) const noexcept override {
    return window(key).normalised();
  }
  bool full(InstrumentId key) const noexcept { return window(key).full(); }
  // For a scorer around this one: a window that it scored by itself, and one that it could not.
  void count_scored() noexcept { ++counters_.windows_scored; }
  void count_whole() noexcept { ++counters_.whole_windows; }
  // The same for an output that is no number and cannot be computed here.
  ScoreStatus fail(float output) noexcept;

  // P(event) for one window of normalised values [steps, features]. False: the engine failed or the
  // output is not finite; `score` is not written.
  bool score_window(std::span<const float> normalised, float& score) noexcept;

  // Scores a captured window again. An error if the capsule is of another package or window length.
  Result<FailureReplay> replay(const FailureCapsule& capsule);

 private:
  FrameWindow& window(InstrumentId key) noexcept;
  const FrameWindow& window(InstrumentId key) const noexcept;
  // Why the last score_window() returned false.
  std::string failure_reason() const;

  LoadedModel model_;
  WindowScorerOptions options_;
  ScorerCounters counters_;
  DigestBuilder digest_builder_{DigestKind::kBlake2s256};
  std::vector<std::unique_ptr<FrameWindow>> windows_;  // by key; null: not added
  std::array<std::int64_t, 3> input_shape_;
  std::array<std::int64_t, 2> output_shape_;
  std::vector<float> outputs_;  // one row of the model's output
  bool engine_failed_ = false;  // of the last failure: the engine's, or an output that is no number
};

}  // namespace tocsin
