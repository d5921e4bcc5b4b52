// A window's way through the session and back.
#include "scoring/window_scorer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/assert.h"

namespace tocsin {

WindowScorer::WindowScorer(LoadedModel model, const WindowScorerOptions& options)
    : model_(std::move(model)),
      options_(options),
      input_shape_{1, model_.options.steps, static_cast<std::int64_t>(model_.feature_count())},
      output_shape_{1, static_cast<std::int64_t>(model_.output_columns())},
      outputs_(model_.output_columns()) {
  TOCSIN_ASSERT(model_.session != nullptr);
}

Status WindowScorer::add_key(InstrumentId key) {
  if (key >= options_.key_count_max) {
    return Error(ErrorCode::kResourceExhausted,
                 fmt::format("key {}: a scorer has room for {} keys (key_count_max)", key,
                             options_.key_count_max));
  }
  if (key >= windows_.size()) windows_.resize(key + 1);
  if (windows_[key] == nullptr) {
    windows_[key] = std::make_unique<FrameWindow>(
        FrameWindowShape{.steps = model_.steps(), .feature_count = model_.feature_count()});
  }
  return {};
}

FrameWindow& WindowScorer::window(InstrumentId key) noexcept {
  TOCSIN_ASSERT(key < windows_.size() && windows_[key] != nullptr);
  return *windows_[key];
}

const FrameWindow& WindowScorer::window(InstrumentId key) const noexcept {
  TOCSIN_ASSERT(key < windows_.size() && windows_[key] != nullptr);
  return *windows_[key];
}

void WindowScorer::push(InstrumentId key, const FeatureFrame& frame) noexcept {
  FrameWindow& frames = window(key);
  if (frame.quality.has(Quality::kGap) && frames.frame_count() > 0) ++counters_.gaps;
  counters_.values_replaced += frames.push(frame, model_.normaliser);
  ++counters_.frames;
}

ScoreStatus WindowScorer::score(InstrumentId key, float& score) noexcept {
  const FrameWindow& frames = window(key);
  if (!frames.full()) return ScoreStatus::kWindowNotFull;
  if (!score_window(frames.normalised(), score)) {
    ++counters_.failures;
    return ScoreStatus::kFailed;
  }
  ++counters_.windows_scored;
  return ScoreStatus::kScored;
}

ScoreStatus WindowScorer::fail(float output) noexcept {
  outputs_[model_.package.output_index] = output;
  engine_failed_ = false;
  ++counters_.failures;
  return ScoreStatus::kFailed;
}

bool WindowScorer::score_window(std::span<const float> normalised, float& score) noexcept {
  TOCSIN_ASSERT(normalised.size() == model_.steps() * model_.feature_count());
  // A view serves inputs and outputs alike; a session only reads its inputs.
  const TensorView input{DataType::kFloat32, input_shape_, const_cast<float*>(normalised.data()),
                         normalised.size_bytes()};
  const TensorView output{DataType::kFloat32, output_shape_, outputs_.data(),
                          outputs_.size() * sizeof(float)};
  engine_failed_ = !model_.session->run(std::span(&input, 1), std::span(&output, 1));
  if (engine_failed_) return false;
  const float found = outputs_[model_.package.output_index];
  if (!std::isfinite(found)) return false;
  score = found;
  return true;
}

std::string WindowScorer::failure_reason() const {
  if (engine_failed_) return model_.session->error().message();
  return fmt::format("output {} is {}", model_.package.output_index,
                     outputs_[model_.package.output_index]);
}

FailureCapsule WindowScorer::capture_failure(InstrumentId key) const {
  const FrameWindow& frames = window(key);
  FailureCapsule capsule;
  capsule.model_name = model_.package.name;
  capsule.model_version = model_.package.version;
  capsule.package_seal = model_.package.seal;
  capsule.schema_hash = model_.package.schema_hash;
  capsule.engine = model_.engine.name;
  capsule.engine_version = model_.engine.version;
  capsule.instrument = key;
  capsule.first_position = frames.first_position();
  capsule.last_position = frames.last_position();
  capsule.steps = frames.frame_count();
  capsule.feature_count = frames.feature_count();
  capsule.raw_window.resize(capsule.steps * capsule.feature_count);
  frames.copy_raw(capsule.raw_window);
  capsule.error = failure_reason();
  return capsule;
}

Result<FailureReplay> WindowScorer::replay(const FailureCapsule& capsule) {
  if (capsule.package_seal != model_.package.seal) {
    return Error(
        ErrorCode::kFailedPrecondition,
        fmt::format("the capsule is of model {}/{} with seal {}, loaded is {} with seal {}",
                    capsule.model_name, capsule.model_version, to_hex(capsule.package_seal),
                    model_.title(), to_hex(model_.package.seal)));
  }
  if (model_.package.carried)
    return Error(ErrorCode::kFailedPrecondition,
                 "the model carries its states from frame to frame: a window alone cannot be tried "
                 "again");
  if (capsule.steps != model_.steps() || capsule.feature_count != model_.feature_count()) {
    return Error(
        ErrorCode::kFailedPrecondition,
        fmt::format("the capsule holds a window of {} x {} values, the model was loaded "
                    "for {} x {}",
                    capsule.steps, capsule.feature_count, model_.steps(), model_.feature_count()));
  }
  std::vector<float> normalised(capsule.raw_window.size());
  const std::size_t width = capsule.feature_count;
  for (std::size_t first = 0; first < normalised.size(); first += width) {
    model_.normaliser.apply(std::span(capsule.raw_window).subspan(first, width),
                            std::span(normalised).subspan(first, width));
  }
  FailureReplay replay;
  replay.fails = !score_window(normalised, replay.score);
  if (replay.fails) replay.error = failure_reason();
  return replay;
}

}  // namespace tocsin
