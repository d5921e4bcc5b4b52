// Scores in low precision, and again in FP32 where the low-precision score lies so near a threshold
// that its error could change the decision.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "scoring/window_scorer.h"

namespace tocsin {

// What a decision compares a score with.
struct DecisionThresholds {
  float alert = 0;
  float release = 0;
};

// Whether |score - t| <= width for a threshold t. Outside, a score that is off by no more than
// `width` lies on the same side of both thresholds as the exact one.
bool is_within_band(float score, float width, const DecisionThresholds& thresholds) noexcept;

// The same model in FP32.
struct FullPrecision {
  std::unique_ptr<Session> session;
  std::unique_ptr<WindowStream> stream{};  // null: what is scored again is run whole
};

class GuardedScorer final : public Scorer {
 public:
  // `scorer` is of a model in low precision whose package has a guard band; full.session is there.
  GuardedScorer(std::unique_ptr<Scorer> scorer, FullPrecision full,
                const DecisionThresholds& thresholds);

  const LoadedModel& model() const noexcept override { return scorer_->model(); }
  Status add_key(InstrumentId key) override;
  void push(InstrumentId key, const FeatureFrame& frame) noexcept override;
  // A score that low precision could not give is computed in FP32, too.
  ScoreStatus score(InstrumentId key, float& score) noexcept override;
  bool work_ahead() noexcept override;
  void settle(InstrumentId key) noexcept override;
  void reset(InstrumentId key) noexcept override;
  InputPosition first_position(InstrumentId key) const noexcept override {
    return scorer_->first_position(key);
  }
  std::uint64_t raw_hash(InstrumentId key) noexcept override { return scorer_->raw_hash(key); }
  std::span<const float> normalised(InstrumentId key) const noexcept override {
    return scorer_->normalised(key);
  }
  FailureCapsule capture_failure(InstrumentId key) const override;
  ScorerCounters counters() const noexcept override;

 private:
  void follow(InstrumentId key) noexcept;
  bool run_whole(std::span<const float> window) noexcept;
  bool score_full(InstrumentId key, float& score) noexcept;

  std::unique_ptr<Scorer> scorer_;
  FullPrecision full_;
  // By key: the newest frame is not yet in the FP32 stream. It gets there once the frame is
  // decided, or when its score is wanted: a frame does not wait for it.
  std::vector<std::uint8_t> is_behind_;
  DecisionThresholds thresholds_;
  float width_;
  std::array<std::int64_t, 3> input_shape_;
  std::array<std::int64_t, 2> output_shape_;
  std::vector<float> outputs_;  // one row of the model's output
  bool engine_failed_ = false;  // of the last failure in FP32: the engine's, or no finite output
  std::uint64_t rescored_ = 0;
  std::uint64_t recovered_ = 0;  // failed in low precision alone
  std::uint64_t lost_ = 0;       // failed in FP32 alone
};

// The scorer that does the least between a frame and its score, and decides as FP32 does.
std::unique_ptr<Scorer> make_scorer(LoadedModel model, const DecisionThresholds& thresholds,
                                    const WindowScorerOptions& options = {});

}  // namespace tocsin
