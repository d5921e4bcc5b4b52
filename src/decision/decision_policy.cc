// The state machine of one rule, a few words of state a key.
#include "decision/decision_policy.h"

#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "base/assert.h"

namespace tocsin {

bool is_untrusted(QualityFlags quality) noexcept {
  return quality.has(Quality::kBookUntrusted) || quality.has(Quality::kVenueSuspect) ||
         quality.has(Quality::kNotTrading) || quality.has(Quality::kStaleFeed);
}

Result<DecisionPolicy> DecisionPolicy::create(const DecisionPolicyOptions& options) {
  // Written so that a NaN fails.
  if (!(options.threshold > 0.0F && options.threshold <= 1.0F))
    return Error(ErrorCode::kInvalidArgument, "threshold " + std::to_string(options.threshold) +
                                                  ": expected above 0 and at most 1");
  if (!(options.release_threshold > 0.0F && options.release_threshold <= options.threshold))
    return Error(ErrorCode::kInvalidArgument, "release_threshold " +
                                                  std::to_string(options.release_threshold) +
                                                  ": expected above 0 and at most the threshold, " +
                                                  std::to_string(options.threshold));
  if (options.cooldown_duration_ns < 0)
    return Error(
        ErrorCode::kInvalidArgument,
        "cooldown of " + std::to_string(options.cooldown_duration_ns) + " ns: expected 0 or more");
  return DecisionPolicy(options);
}

DecisionOutcome DecisionPolicy::decide(const DecisionInput& input) noexcept {
  KeyState& key = key_state(input.instrument);
  ++counters_.decisions;
  if (!std::isfinite(input.score)) {
    ++counters_.not_finite;
    return {Verdict::kQuiet, key.held_back_count};
  }
  const bool passes = input.score >= options_.threshold;
  const Verdict verdict = judge(key, input, passes);
  count(verdict);
  if (verdict == Verdict::kAlert) {
    key.raised = true;
    key.has_alerted = true;
    key.last_alert_time_ns = input.exchange_time_ns;
    return {verdict, std::exchange(key.held_back_count, 0)};
  }
  if (passes) {
    ++key.held_back_count;
    ++counters_.held_back;
  }
  return {verdict, key.held_back_count};
}

Verdict DecisionPolicy::judge(KeyState& key, const DecisionInput& input, bool passes) noexcept {
  const bool suppressed =
      options_.untrusted == UntrustedPolicy::kSuppress && is_untrusted(input.quality);
  if (key.raised) {
    if (input.score >= options_.release_threshold) return Verdict::kHeld;
    if (!suppressed) key.raised = false;
    return Verdict::kQuiet;
  }
  if (!passes) return Verdict::kQuiet;
  if (suppressed) return Verdict::kSuppressedUntrusted;
  if (within_cooldown(key, input.exchange_time_ns)) return Verdict::kSuppressedCooldown;
  return Verdict::kAlert;
}

bool DecisionPolicy::within_cooldown(const KeyState& key,
                                     std::int64_t exchange_time_ns) const noexcept {
  if (!key.has_alerted) return false;
  // Unsigned, so that the distance of any two times is exact.
  const auto last = static_cast<std::uint64_t>(key.last_alert_time_ns);
  const auto now = static_cast<std::uint64_t>(exchange_time_ns);
  const std::uint64_t distance_ns =
      exchange_time_ns >= key.last_alert_time_ns ? now - last : last - now;
  return distance_ns < static_cast<std::uint64_t>(options_.cooldown_duration_ns);
}

void DecisionPolicy::count(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kQuiet:
      break;
    case Verdict::kAlert:
      ++counters_.alerts;
      break;
    case Verdict::kHeld:
      ++counters_.held;
      break;
    case Verdict::kSuppressedCooldown:
      ++counters_.suppressed_cooldown;
      break;
    case Verdict::kSuppressedUntrusted:
      ++counters_.suppressed_untrusted;
      break;
  }
}

DecisionPolicy::KeyState& DecisionPolicy::key_state(InstrumentId instrument) noexcept {
  if (instrument >= keys_.size()) [[unlikely]] {
    TOCSIN_ASSERT(instrument < kInstrumentsMax);
    keys_.resize(std::bit_ceil(std::size_t{instrument} + 1));
  }
  return keys_[instrument];
}

std::uint64_t DecisionPolicy::remainder(InstrumentId instrument) const noexcept {
  return instrument < keys_.size() ? keys_[instrument].held_back_count : 0;
}

std::uint64_t DecisionPolicy::remainder() const noexcept {
  std::uint64_t sum = 0;
  for (const KeyState& key : keys_) sum += key.held_back_count;
  return sum;
}

}  // namespace tocsin
