// The seam between the pipeline and whatever scores: frames go in key by key, scores come out.
// push() and score() are apart, so that a scorer may work ahead between two frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "events/feature_frame.h"
#include "events/market_event.h"
#include "scoring/failure_capsule.h"
#include "scoring/loaded_model.h"

namespace tocsin {

enum class ScoreStatus : std::uint8_t {
  kScored,
  kWindowNotFull,  // fewer than T frames since the start, a reset or a gap
  kFailed,         // see Scorer::capture_failure()
};

struct ScorerCounters {
  std::uint64_t frames = 0;
  std::uint64_t windows_scored = 0;
  std::uint64_t whole_windows = 0;  // of them, those that were to be ahead and were not
  std::uint64_t caught_up = 0;      // steps ahead that a frame had to wait for
  std::uint64_t failures = 0;
  std::uint64_t values_replaced = 0;  // raw values that were NaN or infinite, scored as the mean
  std::uint64_t gaps = 0;             // windows emptied because events were missing
  std::uint64_t rescored = 0;         // scores near a threshold, computed again in full precision
};

// One model for many keys; bound to one thread.
class Scorer {
 public:
  virtual ~Scorer() = default;

  virtual const LoadedModel& model() const noexcept = 0;
  // Takes the memory for a key, if it has none yet. Every key is added before its first frame.
  virtual Status add_key(InstrumentId key) = 0;
  // Takes in the newest frame of a key, of the model's schema.
  virtual void push(InstrumentId key, const FeatureFrame& frame) noexcept = 0;
  // P(event) for the window that ends with the key's newest frame; written only if kScored.
  virtual ScoreStatus score(InstrumentId key, float& score) noexcept = 0;
  // Does a bounded piece of what later scores will need; false: nothing waits. Called while no
  // frame is due.
  virtual bool work_ahead() noexcept { return false; }
  // Does for a key's newest frame what records of later windows will need; called once it is
  // decided, so that nobody waits for it.
  virtual void settle(InstrumentId key) noexcept = 0;
  // Forgets the frames of a key.
  virtual void reset(InstrumentId key) noexcept = 0;

  // What a record says of the key's window, which is not empty: where its oldest frame stood, and
  // window_hash() of its raw values.
  virtual InputPosition first_position(InstrumentId key) const noexcept = 0;
  virtual std::uint64_t raw_hash(InstrumentId key) noexcept = 0;
  // [frames, features] of a key as the model sees them, oldest first; valid until its next push().
  virtual std::span<const float> normalised(InstrumentId key) const noexcept = 0;
  // Everything about a failed score(), to be called before the next push() or score(); takes
  // memory.
  virtual FailureCapsule capture_failure(InstrumentId key) const = 0;
  virtual ScorerCounters counters() const noexcept = 0;
};

}  // namespace tocsin
