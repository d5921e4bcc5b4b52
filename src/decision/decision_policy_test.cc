#include "decision/decision_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

constexpr std::int64_t kCooldownNs = 1000;

DecisionPolicyOptions sample_options() {
  return {.threshold = 0.9F, .release_threshold = 0.6F, .cooldown_duration_ns = kCooldownNs};
}

DecisionPolicy make_policy(const DecisionPolicyOptions& options) {
  auto policy = DecisionPolicy::create(options);
  EXPECT_TRUE(policy.ok());
  return std::move(policy).value();
}

struct Step {
  std::int64_t time_ns;
  float score;
  QualityFlags quality = {};
  InstrumentId instrument = 0;
};

DecisionOutcome decide(DecisionPolicy& policy, const Step& step) {
  return policy.decide({.instrument = step.instrument,
                        .exchange_time_ns = step.time_ns,
                        .score = step.score,
                        .quality = step.quality});
}

TEST(DecisionPolicy, AScoreEqualToTheThresholdAlerts) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {1, std::nextafter(0.9F, 0.0F)}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {2, 0.9F}).verdict, Verdict::kAlert);
  EXPECT_EQ(policy.counters().alerts, 1U);
}

TEST(DecisionPolicy, AScoreEqualToTheReleaseThresholdIsStillHeld) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {0, 0.95F}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {5000, 0.6F}).verdict, Verdict::kHeld);
  // Never released: a passing score long after the cooldown is held too.
  EXPECT_EQ(decide(policy, {6000, 0.99F}).verdict, Verdict::kHeld);
  EXPECT_EQ(decide(policy, {7000, std::nextafter(0.6F, 0.0F)}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {8000, 0.9F}).verdict, Verdict::kAlert);
}

TEST(DecisionPolicy, CountsOnlyQualifyingEventsAsHeldBack) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {0, 0.95F}).held_back_count, 0U);
  EXPECT_EQ(decide(policy, {1, 0.7F}).held_back_count, 0U);   // held, below the threshold
  EXPECT_EQ(decide(policy, {2, 0.91F}).held_back_count, 1U);  // held, qualifying
  EXPECT_EQ(decide(policy, {3, 0.1F}).held_back_count, 1U);   // released
  EXPECT_EQ(decide(policy, {4, 0.92F}).held_back_count, 2U);  // in the cooldown
  const DecisionOutcome next = decide(policy, {2000, 0.93F});
  EXPECT_EQ(next.verdict, Verdict::kAlert);
  EXPECT_EQ(next.held_back_count, 2U);
  EXPECT_EQ(policy.remainder(), 0U);
  EXPECT_EQ(policy.counters().held, 2U);
  EXPECT_EQ(policy.counters().suppressed_cooldown, 1U);
  EXPECT_EQ(policy.counters().held_back, 2U);
}

TEST(DecisionPolicy, TheCooldownEndsExactlyAfterItsDuration) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {100, 0.95F}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {101, 0.1F}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {100 + kCooldownNs - 1, 0.95F}).verdict, Verdict::kSuppressedCooldown);
  EXPECT_EQ(decide(policy, {100 + kCooldownNs, 0.95F}).verdict, Verdict::kAlert);
}

TEST(DecisionPolicy, ARiseThatOutlastsTheCooldownAlerts) {
  DecisionPolicy policy = make_policy(sample_options());
  decide(policy, {0, 0.95F});
  decide(policy, {1, 0.1F});
  for (std::int64_t time_ns = 2; time_ns < kCooldownNs; ++time_ns)
    ASSERT_EQ(decide(policy, {time_ns, 0.95F}).verdict, Verdict::kSuppressedCooldown);
  const DecisionOutcome outcome = decide(policy, {kCooldownNs, 0.95F});
  EXPECT_EQ(outcome.verdict, Verdict::kAlert);
  EXPECT_EQ(outcome.held_back_count, static_cast<std::uint64_t>(kCooldownNs - 2));
}

TEST(DecisionPolicy, ABurstOfAThousandGivesOneAlertAndTheCount) {
  for (const bool dips : {false, true}) {
    DecisionPolicy policy = make_policy(sample_options());
    int alerts = 0;
    for (int i = 0; i < 1000; ++i) {
      if (dips) decide(policy, {i / 2, 0.1F});  // a new rise each time
      alerts += decide(policy, {i / 2, 0.95F}).verdict == Verdict::kAlert ? 1 : 0;
    }
    EXPECT_EQ(alerts, 1);
    EXPECT_EQ(policy.remainder(), 999U);
    decide(policy, {5000, 0.1F});
    const DecisionOutcome next = decide(policy, {5001, 0.95F});
    EXPECT_EQ(next.verdict, Verdict::kAlert);
    EXPECT_EQ(next.held_back_count, 999U);
    EXPECT_EQ(policy.remainder(0), 0U);
  }
}

TEST(DecisionPolicy, ANotFiniteScoreNeverAlertsAndChangesNothing) {
  DecisionPolicy policy = make_policy(sample_options());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(decide(policy, {0, nan}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {1, infinity}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {2, 0.95F}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {3, nan}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {4, -infinity}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {5, 0.95F}).verdict, Verdict::kHeld);  // still raised
  EXPECT_EQ(policy.counters().not_finite, 4U);
  EXPECT_EQ(policy.counters().held_back, 1U);
}

TEST(DecisionPolicy, NoAlertLeavesAnUntrustedFrame) {
  for (const Quality flag : {Quality::kBookUntrusted, Quality::kVenueSuspect, Quality::kNotTrading,
                             Quality::kStaleFeed}) {
    DecisionPolicy policy = make_policy(sample_options());
    EXPECT_EQ(decide(policy, {0, 0.99F, flag}).verdict, Verdict::kSuppressedUntrusted);
    const DecisionOutcome next = decide(policy, {1, 0.99F});
    EXPECT_EQ(next.verdict, Verdict::kAlert);
    EXPECT_EQ(next.held_back_count, 1U);
    // Nor does an untrusted dip release the key.
    EXPECT_EQ(decide(policy, {5000, 0.1F, flag}).verdict, Verdict::kQuiet);
    EXPECT_EQ(decide(policy, {5001, 0.99F}).verdict, Verdict::kHeld);
    EXPECT_EQ(decide(policy, {5002, 0.99F, flag}).verdict, Verdict::kHeld);
    EXPECT_EQ(policy.counters().suppressed_untrusted, 1U);
  }
}

TEST(DecisionPolicy, OtherFlagsDoNotSuppress) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {0, 0.99F, Quality::kGap | Quality::kTimeBackwards}).verdict,
            Verdict::kAlert);
}

TEST(DecisionPolicy, AlertsFromUntrustedFramesWhereTheConfigurationAllows) {
  DecisionPolicyOptions options = sample_options();
  options.untrusted = UntrustedPolicy::kAlert;
  DecisionPolicy policy = make_policy(options);
  EXPECT_EQ(decide(policy, {0, 0.99F, Quality::kBookUntrusted}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {5000, 0.1F, Quality::kNotTrading}).verdict, Verdict::kQuiet);
  EXPECT_EQ(decide(policy, {5001, 0.99F, Quality::kVenueSuspect}).verdict, Verdict::kAlert);
}

TEST(DecisionPolicy, TimeGoingBackwardsALittleStaysInTheCooldown) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {10'000, 0.95F}).verdict, Verdict::kAlert);
  decide(policy, {10'001, 0.1F});
  EXPECT_EQ(decide(policy, {10'000 - kCooldownNs + 1, 0.95F}).verdict,
            Verdict::kSuppressedCooldown);
}

TEST(DecisionPolicy, OneTimeStampFarAheadDoesNotSilenceAKey) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {INT64_MAX, 0.95F}).verdict, Verdict::kAlert);
  decide(policy, {1, 0.1F});
  EXPECT_EQ(decide(policy, {2, 0.95F}).verdict, Verdict::kAlert);
  decide(policy, {INT64_MIN, 0.1F});
  EXPECT_EQ(decide(policy, {INT64_MIN, 0.95F}).verdict, Verdict::kAlert);
}

TEST(DecisionPolicy, WithoutCooldownTimeBackwardsDoesNotSuppress) {
  DecisionPolicyOptions options = sample_options();
  options.cooldown_duration_ns = 0;
  DecisionPolicy policy = make_policy(options);
  EXPECT_EQ(decide(policy, {100, 0.95F}).verdict, Verdict::kAlert);
  decide(policy, {100, 0.1F});
  EXPECT_EQ(decide(policy, {100, 0.95F}).verdict, Verdict::kAlert);
  decide(policy, {99, 0.1F});
  EXPECT_EQ(decide(policy, {99, 0.95F}).verdict, Verdict::kAlert);
}

TEST(DecisionPolicy, KeysDoNotTouchEachOther) {
  DecisionPolicy policy = make_policy(sample_options());
  EXPECT_EQ(decide(policy, {0, 0.95F, {}, 0}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {0, 0.95F, {}, 9}).verdict, Verdict::kAlert);
  EXPECT_EQ(decide(policy, {1, 0.95F, {}, 9}).verdict, Verdict::kHeld);
  EXPECT_EQ(policy.remainder(0), 0U);
  EXPECT_EQ(policy.remainder(9), 1U);
  EXPECT_EQ(policy.remainder(1000), 0U);  // never seen
}

TEST(DecisionPolicy, RefusesOptionsThatMakeNoSense) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [](float threshold, float release, std::int64_t cooldown) {
    const auto policy = DecisionPolicy::create(
        {.threshold = threshold, .release_threshold = release, .cooldown_duration_ns = cooldown});
    return !policy.ok() && policy.error().code() == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(nan, 0.5F, 0));
  EXPECT_TRUE(refused(0.0F, 0.0F, 0));
  EXPECT_TRUE(refused(1.01F, 0.5F, 0));
  EXPECT_TRUE(refused(0.9F, 0.91F, 0));
  EXPECT_TRUE(refused(0.9F, nan, 0));
  EXPECT_TRUE(refused(0.9F, 0.0F, 0));
  EXPECT_TRUE(refused(0.9F, 0.9F, -1));
  EXPECT_FALSE(refused(0.9F, 0.9F, 0));
}

// A twin that keeps the whole history of a key and derives everything from it anew each time.
class NaivePolicy {
 public:
  explicit NaivePolicy(const DecisionPolicyOptions& options) : options_(options) {}

  DecisionOutcome decide(const Step& step) {
    std::vector<Entry>& history = histories_.at(step.instrument);
    const Verdict verdict = judge(history, step);
    std::uint64_t held_back = 0;
    for (std::size_t i = history.size(); i > 0 && history[i - 1].verdict != Verdict::kAlert; --i)
      held_back += qualifies(history[i - 1].step) ? 1 : 0;
    if (verdict != Verdict::kAlert && qualifies(step)) ++held_back;
    history.push_back({step, verdict});
    return {verdict, held_back};
  }

 private:
  struct Entry {
    Step step;
    Verdict verdict;
  };

  bool qualifies(const Step& step) const {
    return std::isfinite(step.score) && step.score >= options_.threshold;
  }
  bool counts(const Step& step) const {
    if (!std::isfinite(step.score)) return false;
    const std::uint16_t bad =
        (Quality::kBookUntrusted | Quality::kVenueSuspect | QualityFlags(Quality::kNotTrading))
            .bits();
    return options_.untrusted == UntrustedPolicy::kAlert || (step.quality.bits() & bad) == 0;
  }
  Verdict judge(const std::vector<Entry>& history, const Step& step) const {
    if (!std::isfinite(step.score)) return Verdict::kQuiet;
    std::optional<std::size_t> last_alert;
    for (std::size_t i = 0; i < history.size(); ++i)
      if (history[i].verdict == Verdict::kAlert) last_alert = i;
    bool raised = last_alert.has_value();
    for (std::size_t i = last_alert.value_or(0); i < history.size(); ++i)
      if (counts(history[i].step) && history[i].step.score < options_.release_threshold)
        raised = false;
    if (raised) return step.score >= options_.release_threshold ? Verdict::kHeld : Verdict::kQuiet;
    if (!qualifies(step)) return Verdict::kQuiet;
    if (!counts(step)) return Verdict::kSuppressedUntrusted;
    if (last_alert.has_value() &&
        std::abs(step.time_ns - history[*last_alert].step.time_ns) < options_.cooldown_duration_ns)
      return Verdict::kSuppressedCooldown;
    return Verdict::kAlert;
  }

  DecisionPolicyOptions options_;
  std::vector<std::vector<Entry>> histories_{3};
};

Step random_step(std::mt19937_64& random, std::int64_t& time_ns) {
  static constexpr float kScores[] = {0.1F,  0.59999996F, 0.6F,
                                      0.7F,  0.89999996F, 0.9F,
                                      0.95F, 1.0F,        std::numeric_limits<float>::quiet_NaN()};
  static constexpr std::uint16_t kFlags[] = {0, 0, 0, 0, 0, 1U << 0, 1U << 8, 1U << 10, 1U << 11};
  time_ns += static_cast<std::int64_t>(random() % 400) - 60;
  return {.time_ns = time_ns,
          .score = kScores[random() % std::size(kScores)],
          .quality = QualityFlags::from_bits(kFlags[random() % std::size(kFlags)]),
          .instrument = static_cast<InstrumentId>(random() % 3)};
}

TEST(DecisionPolicy, EqualsANaiveTwinOnRandomStreams) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    DecisionPolicyOptions options = sample_options();
    options.cooldown_duration_ns = static_cast<std::int64_t>(random() % 3) * 700;
    options.untrusted = seed % 2 == 0 ? UntrustedPolicy::kAlert : UntrustedPolicy::kSuppress;
    DecisionPolicy policy = make_policy(options);
    NaivePolicy twin(options);
    std::int64_t time_ns = 0;
    std::uint64_t carried = 0;
    for (int i = 0; i < 600; ++i) {
      const Step step = random_step(random, time_ns);
      const DecisionOutcome expected = twin.decide(step);
      const DecisionOutcome found = decide(policy, step);
      ASSERT_EQ(found.verdict, expected.verdict) << "step " << i;
      ASSERT_EQ(found.held_back_count, expected.held_back_count) << "step " << i;
      if (found.verdict == Verdict::kAlert) carried += found.held_back_count;
    }
    EXPECT_EQ(carried + policy.remainder(), policy.counters().held_back);
    EXPECT_GT(policy.counters().alerts, 0U);
  }
}

TEST(DecisionPolicy, UntrustedFramesDoNotMoveTheAlertsOfTheRest) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    DecisionPolicy with = make_policy(sample_options());
    DecisionPolicy without = make_policy(sample_options());
    std::int64_t time_ns = 0;
    for (int i = 0; i < 2000; ++i) {
      const Step step = random_step(random, time_ns);
      const bool alerted = decide(with, step).verdict == Verdict::kAlert;
      if (is_untrusted(step.quality)) {
        ASSERT_FALSE(alerted);
      } else {
        ASSERT_EQ(alerted, decide(without, step).verdict == Verdict::kAlert) << "step " << i;
      }
    }
  }
}

TEST(DecisionPolicy, AllocatesNothingAfterWarmUp) {
  DecisionPolicy policy = make_policy(sample_options());
  decide(policy, {0, 0.1F, {}, 40});
  const std::uint64_t before = allocation_count();
  for (std::int64_t i = 0; i < 10'000; ++i)
    decide(policy, {i, i % 7 == 0 ? 0.95F : 0.2F, {}, static_cast<InstrumentId>(i % 41)});
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
