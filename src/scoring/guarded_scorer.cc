// The band is closed and compared in double precision, where the difference of two floats of this
// size is exact.
#include "scoring/guarded_scorer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/assert.h"
#include "scoring/ahead_scorer.h"

namespace tocsin {

bool is_within_band(float score, float width, const DecisionThresholds& thresholds) noexcept {
  const auto near = [score, width](float threshold) {
    return std::abs(static_cast<double>(score) - static_cast<double>(threshold)) <=
           static_cast<double>(width);
  };
  return near(thresholds.alert) || near(thresholds.release);
}

GuardedScorer::GuardedScorer(std::unique_ptr<Scorer> scorer, std::unique_ptr<Session> full_session,
                             const DecisionThresholds& thresholds)
    : scorer_(std::move(scorer)),
      full_session_(std::move(full_session)),
      thresholds_(thresholds),
      width_(model().package.precision->band.width),
      input_shape_{1, model().options.steps, static_cast<std::int64_t>(model().feature_count())},
      output_shape_{1, static_cast<std::int64_t>(model().output_columns())},
      outputs_(model().output_columns()) {
  TOCSIN_ASSERT(full_session_ != nullptr);
}

bool GuardedScorer::score_full(std::span<const float> window, float& score) noexcept {
  // A view serves inputs and outputs alike; a session only reads its inputs.
  const TensorView input{DataType::kFloat32, input_shape_, const_cast<float*>(window.data()),
                         window.size_bytes()};
  const TensorView output{DataType::kFloat32, output_shape_, outputs_.data(),
                          outputs_.size() * sizeof(float)};
  engine_failed_ = !full_session_->run(std::span(&input, 1), std::span(&output, 1));
  if (engine_failed_) return false;
  const float found = outputs_[model().package.output_index];
  if (!std::isfinite(found)) return false;
  score = found;
  return true;
}

ScoreStatus GuardedScorer::score(InstrumentId key, float& score) noexcept {
  float low = 0;
  const ScoreStatus status = scorer_->score(key, low);
  if (status == ScoreStatus::kWindowNotFull) return status;
  const bool is_scored = status == ScoreStatus::kScored;
  if (is_scored && !is_within_band(low, width_, thresholds_)) {
    score = low;
    return status;
  }
  ++rescored_;
  if (score_full(scorer_->normalised(key), score)) {
    if (!is_scored) ++recovered_;
    return ScoreStatus::kScored;
  }
  if (is_scored) ++lost_;
  return ScoreStatus::kFailed;
}

FailureCapsule GuardedScorer::capture_failure(InstrumentId key) const {
  FailureCapsule capsule = scorer_->capture_failure(key);
  const std::size_t column = model().package.output_index;
  capsule.error =
      "in float32: " + (engine_failed_ ? full_session_->error().message()
                                       : fmt::format("output {} is {}", column, outputs_[column]));
  return capsule;
}

ScorerCounters GuardedScorer::counters() const noexcept {
  ScorerCounters counters = scorer_->counters();
  counters.rescored = rescored_;
  counters.windows_scored += recovered_ - lost_;
  counters.failures -= recovered_ - lost_;
  return counters;
}

std::unique_ptr<Scorer> make_scorer(LoadedModel model, const DecisionThresholds& thresholds,
                                    const WindowScorerOptions& options) {
  std::unique_ptr<Session> full_session = std::move(model.full_session);
  std::unique_ptr<Scorer> scorer;
  if (model.stream != nullptr)
    scorer = std::make_unique<AheadScorer>(std::move(model), options);
  else
    scorer = std::make_unique<WindowScorer>(std::move(model), options);
  if (full_session == nullptr) return scorer;
  return std::make_unique<GuardedScorer>(std::move(scorer), std::move(full_session), thresholds);
}

}  // namespace tocsin
