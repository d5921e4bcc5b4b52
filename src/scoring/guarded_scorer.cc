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

GuardedScorer::GuardedScorer(std::unique_ptr<Scorer> scorer, FullPrecision full,
                             const DecisionThresholds& thresholds)
    : scorer_(std::move(scorer)),
      full_(std::move(full)),
      thresholds_(thresholds),
      width_(model().package.precision->band.width),
      input_shape_{1, model().options.steps, static_cast<std::int64_t>(model().feature_count())},
      output_shape_{1, static_cast<std::int64_t>(model().output_columns())},
      outputs_(model().output_columns()) {
  TOCSIN_ASSERT(full_.session != nullptr);
}

Status GuardedScorer::add_key(InstrumentId key) {
  TOCSIN_RETURN_IF_ERROR(scorer_->add_key(key));
  if (full_.stream == nullptr) return {};
  if (key >= is_behind_.size()) is_behind_.resize(key + 1);
  return full_.stream->add_key(key);
}

void GuardedScorer::push(InstrumentId key, const FeatureFrame& frame) noexcept {
  follow(key);
  scorer_->push(key, frame);
  if (full_.stream != nullptr) is_behind_[key] = 1;
}

bool GuardedScorer::work_ahead() noexcept {
  return scorer_->work_ahead() || (full_.stream != nullptr && full_.stream->work_ahead());
}

void GuardedScorer::settle(InstrumentId key) noexcept {
  scorer_->settle(key);
  follow(key);
}

void GuardedScorer::reset(InstrumentId key) noexcept {
  scorer_->reset(key);
  if (full_.stream == nullptr) return;
  full_.stream->reset(key);
  is_behind_[key] = 0;
}

// Takes the key's newest frame into the FP32 stream, if it is not there.
void GuardedScorer::follow(InstrumentId key) noexcept {
  if (full_.stream == nullptr || is_behind_[key] == 0) return;
  is_behind_[key] = 0;
  const std::span<const float> rows = scorer_->normalised(key);
  const std::size_t width = model().feature_count();
  if (rows.size() == width) full_.stream->reset(key);  // the first frame, or the first after a gap
  full_.stream->push(key, rows.last(width));
}

bool GuardedScorer::run_whole(std::span<const float> window) noexcept {
  // A view serves inputs and outputs alike; a session only reads its inputs.
  const TensorView input{DataType::kFloat32, input_shape_, const_cast<float*>(window.data()),
                         window.size_bytes()};
  const TensorView output{DataType::kFloat32, output_shape_, outputs_.data(),
                          outputs_.size() * sizeof(float)};
  engine_failed_ = !full_.session->run(std::span(&input, 1), std::span(&output, 1));
  return !engine_failed_;
}

bool GuardedScorer::score_full(InstrumentId key, float& score) noexcept {
  follow(key);
  const float& found = outputs_[model().package.output_index];
  const bool ahead =
      full_.stream != nullptr && full_.stream->score(key, outputs_) && std::isfinite(found);
  if (!ahead && !run_whole(scorer_->normalised(key))) return false;
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
  if (score_full(key, score)) {
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
      "in float32: " + (engine_failed_ ? full_.session->error().message()
                                       : fmt::format("output {} is {}", column, outputs_[column]));
  return capsule;
}

ScorerCounters GuardedScorer::counters() const noexcept {
  ScorerCounters counters = scorer_->counters();
  counters.rescored = rescored_;
  if (full_.stream != nullptr) counters.caught_up += full_.stream->caught_up_count();
  counters.windows_scored += recovered_ - lost_;
  counters.failures -= recovered_ - lost_;
  return counters;
}

std::unique_ptr<Scorer> make_scorer(LoadedModel model, const DecisionThresholds& thresholds,
                                    const WindowScorerOptions& options) {
  FullPrecision full{std::move(model.full_session), std::move(model.full_stream)};
  std::unique_ptr<Scorer> scorer;
  if (model.stream != nullptr)
    scorer = std::make_unique<AheadScorer>(std::move(model), options);
  else
    scorer = std::make_unique<WindowScorer>(std::move(model), options);
  if (full.session == nullptr) return scorer;
  return std::make_unique<GuardedScorer>(std::move(scorer), std::move(full), thresholds);
}

}  // namespace tocsin
