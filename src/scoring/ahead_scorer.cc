// The stream first, the whole window where it has none.
#include "scoring/ahead_scorer.h"

#include <cmath>
#include <utility>

#include "base/assert.h"

namespace tocsin {

AheadScorer::AheadScorer(LoadedModel model, const WindowScorerOptions& options)
    : stream_(std::move(model.stream)), windows_(std::move(model), options) {
  TOCSIN_ASSERT(stream_ != nullptr);
  outputs_.resize(windows_.model().output_columns());
}

Status AheadScorer::add_key(InstrumentId key) {
  TOCSIN_RETURN_IF_ERROR(windows_.add_key(key));
  return stream_->add_key(key);
}

void AheadScorer::push(InstrumentId key, const FeatureFrame& frame) noexcept {
  windows_.push(key, frame);
  const std::span<const float> rows = windows_.normalised(key);
  const std::size_t width = model().feature_count();
  if (rows.size() == width) stream_->reset(key);  // the first frame, or the first after a gap
  stream_->push(key, rows.last(width));
}

ScoreStatus AheadScorer::score(InstrumentId key, float& score) noexcept {
  if (!windows_.full(key)) return ScoreStatus::kWindowNotFull;
  float& found = outputs_[model().package.output_index];
  const bool ahead = stream_->score(key, outputs_);
  if (ahead && std::isfinite(found)) {
    score = found;
    windows_.count_scored();
    return ScoreStatus::kScored;
  }
  // States that were carried cannot be found again from the window.
  if (model().package.carried) return windows_.fail(found);
  windows_.count_whole();
  return windows_.score(key, score);
}

ScorerCounters AheadScorer::counters() const noexcept {
  ScorerCounters counters = windows_.counters();
  counters.caught_up = stream_->caught_up_count();
  return counters;
}

void AheadScorer::reset(InstrumentId key) noexcept {
  windows_.reset(key);
  stream_->reset(key);
}

}  // namespace tocsin
