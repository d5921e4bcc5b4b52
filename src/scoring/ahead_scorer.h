// Scores from windows worked ahead: a frame needs only a window's last step. Where a key's window
// was not kept ahead it is run whole, with the same bits, and counted.
#pragma once

#include <memory>
#include <vector>

#include "scoring/window_scorer.h"

namespace tocsin {

class AheadScorer final : public Scorer {
 public:
  // `model` has a stream.
  explicit AheadScorer(LoadedModel model, const WindowScorerOptions& options = {});

  const LoadedModel& model() const noexcept override { return windows_.model(); }
  Status add_key(InstrumentId key) override;
  void push(InstrumentId key, const FeatureFrame& frame) noexcept override;
  ScoreStatus score(InstrumentId key, float& score) noexcept override;
  bool work_ahead() noexcept override { return stream_->work_ahead(); }
  void settle(InstrumentId key) noexcept override { windows_.settle(key); }
  void reset(InstrumentId key) noexcept override;
  InputPosition first_position(InstrumentId key) const noexcept override {
    return windows_.first_position(key);
  }
  std::uint64_t raw_hash(InstrumentId key) noexcept override { return windows_.raw_hash(key); }
  std::span<const float> normalised(InstrumentId key) const noexcept override {
    return windows_.normalised(key);
  }
  FailureCapsule capture_failure(InstrumentId key) const override {
    return windows_.capture_failure(key);
  }
  ScorerCounters counters() const noexcept override;

 private:
  std::unique_ptr<WindowStream> stream_;
  WindowScorer windows_;
  std::vector<float> outputs_;  // one row of the model's output
};

}  // namespace tocsin
