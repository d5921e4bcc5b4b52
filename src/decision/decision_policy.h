// One rule's path from a score to a verdict: threshold, hysteresis, cooldown, quality of the input.
// It reads exchange time only, so that a replay decides the same as the run did.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "events/decision.h"
#include "events/market_event.h"
#include "events/quality.h"

namespace tocsin {

enum class UntrustedPolicy : std::uint8_t {
  kSuppress,  // no alert from a frame whose input may not be trusted
  kAlert,     // such frames are judged like all others
};

struct DecisionPolicyOptions {
  float threshold = 0.9F;                 // a score passes if it is >= threshold
  float release_threshold = 0.8F;         // a raised key is released by a score < release_threshold
  std::int64_t cooldown_duration_ns = 0;  // of exchange time, from an alert of the same key
  UntrustedPolicy untrusted = UntrustedPolicy::kSuppress;
};

// What one policy has done since its construction. Qualifying: the score passed the threshold.
struct DecisionPolicyCounters {
  std::uint64_t decisions = 0;
  std::uint64_t alerts = 0;
  std::uint64_t held = 0;  // verdict kHeld, qualifying or not
  std::uint64_t suppressed_cooldown = 0;
  std::uint64_t suppressed_untrusted = 0;
  std::uint64_t not_finite = 0;  // scores NaN or infinite: never an alert
  std::uint64_t held_back = 0;   // qualifying, but no alert left
};

struct DecisionInput {
  InstrumentId instrument = 0;
  std::int64_t exchange_time_ns = 0;
  float score = 0.0F;
  QualityFlags quality;
};

struct DecisionOutcome {
  Verdict verdict = Verdict::kQuiet;
  // Qualifying events held back since the last alert of the key. An alert carries those before it;
  // any other verdict includes its own event.
  std::uint64_t held_back_count = 0;
};

// Flags that make a frame's input untrusted: kBookUntrusted, kVenueSuspect (the venue itself marks
// the book as possibly bad), kNotTrading and kStaleFeed.
bool is_untrusted(QualityFlags quality) noexcept;

class DecisionPolicy {
 public:
  static constexpr std::size_t kInstrumentsMax = std::size_t{1} << 20;

  // kInvalidArgument for thresholds outside (0, 1], a release threshold above the threshold or not
  // positive, or a negative cooldown.
  static Result<DecisionPolicy> create(const DecisionPolicyOptions& options);

  // Judges one score; in this order:
  // - a score that is not finite is quiet, counted, and changes nothing;
  // - under UntrustedPolicy::kSuppress an untrusted frame neither raises nor releases the key: the
  //   alerts are those of the stream without its untrusted frames;
  // - a raised key is held until a score < release_threshold, which is quiet;
  // - a passing score within the cooldown is suppressed and does not raise the key, so that a rise
  //   that outlasts the cooldown does alert. Within means nearer in exchange time than
  //   cooldown_duration_ns, before or after: one wrong time stamp can't silence a key for good;
  // - a passing score alerts and raises the key.
  // Memory grows at the first event of an instrument and never afterwards.
  DecisionOutcome decide(const DecisionInput& input) noexcept;

  // Qualifying events of a key that no alert has carried yet; of all keys.
  std::uint64_t remainder(InstrumentId instrument) const noexcept;
  std::uint64_t remainder() const noexcept;

  const DecisionPolicyCounters& counters() const noexcept { return counters_; }
  const DecisionPolicyOptions& options() const noexcept { return options_; }

 private:
  struct KeyState {
    std::int64_t last_alert_time_ns = 0;
    std::uint64_t held_back_count = 0;
    bool has_alerted = false;
    bool raised = false;
  };

  explicit DecisionPolicy(const DecisionPolicyOptions& options) : options_(options) {}
  KeyState& key_state(InstrumentId instrument) noexcept;
  Verdict judge(KeyState& key, const DecisionInput& input, bool passes) noexcept;
  bool within_cooldown(const KeyState& key, std::int64_t exchange_time_ns) const noexcept;
  void count(Verdict verdict) noexcept;

  DecisionPolicyOptions options_;
  DecisionPolicyCounters counters_;
  std::vector<KeyState> keys_;  // by InstrumentId
};

}  // namespace tocsin
