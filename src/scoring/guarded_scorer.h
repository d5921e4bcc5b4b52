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

class GuardedScorer final : public Scorer {
 public:
  // `scorer` is of a model in low precision whose package has a guard band; `full_session` is the
  // same model in FP32.
  GuardedScorer(std::unique_ptr<Scorer> scorer, std::unique_ptr<Session> full_session,
                const DecisionThresholds& thresholds);

  const LoadedModel& model() const noexcept override { return scorer_->model(); }
  Status add_key(InstrumentId key) override { return scorer_->add_key(key); }
  void push(InstrumentId key, const FeatureFrame& frame) noexcept override {
    scorer_->push(key, frame);
  }
  // A score that low precision could not give is computed in FP32, too.
  ScoreStatus score(InstrumentId key, float& score) noexcept override;
  bool work_ahead() noexcept override { return scorer_->work_ahead(); }
  void settle(InstrumentId key) noexcept override { scorer_->settle(key); }
  void reset(InstrumentId key) noexcept override { scorer_->reset(key); }
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
  bool score_full(std::span<const float> window, float& score) noexcept;

  std::unique_ptr<Scorer> scorer_;
  std::unique_ptr<Session> full_session_;
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
