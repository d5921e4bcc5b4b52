#include "runtime/outcome_tracker.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace tocsin {
namespace {

constexpr std::int64_t kTick = 10;

TEST(OutcomeTracker, TellsHitsFromFalseAlertsAndMisses) {
  OutcomeTracker tracker({.move_nanos = kTick, .horizon_frames = 2});
  // Mids: a move of 2 ticks between frames 4 and 5; alerts at frames 0 (nothing follows) and 4.
  const std::vector<std::int64_t> mids = {100, 100, 100, 100, 100, 120, 120, 120, 120};
  for (std::size_t i = 0; i < mids.size(); ++i) tracker.on_frame(2 * mids[i], i == 0 || i == 4, 0);
  tracker.finish();
  const OutcomeCounters& counters = tracker.counters(0);
  EXPECT_EQ(counters.frames, 7U);
  EXPECT_EQ(counters.burst_frames, 2U);  // frames 3 and 4
  EXPECT_EQ(counters.hits, 1U);
  EXPECT_EQ(counters.false_alerts, 1U);
  EXPECT_EQ(counters.misses, 0U);
  EXPECT_EQ(counters.undecided, 0U);
}

TEST(OutcomeTracker, AMoveOfExactlyTheLimitIsNoBurst) {
  OutcomeTracker tracker({.move_nanos = kTick, .horizon_frames = 1});
  tracker.on_frame(200, true, 0);
  tracker.on_frame(220, false, 0);
  EXPECT_EQ(tracker.counters(0).false_alerts, 1U);
}

TEST(OutcomeTracker, AlertsNearTheEndAreUndecided) {
  OutcomeTracker tracker({.move_nanos = kTick, .horizon_frames = 5});
  tracker.on_frame(200, true, 2);
  tracker.finish();
  EXPECT_EQ(tracker.counters(2).undecided, 1U);
  EXPECT_EQ(tracker.counters(2).frames, 0U);
}

TEST(OutcomeTracker, EqualsANaiveRecount) {
  constexpr std::uint64_t kSeed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  constexpr std::int64_t kHorizon = 17;
  OutcomeTracker tracker({.move_nanos = kTick, .horizon_frames = kHorizon});
  std::vector<std::int64_t> mids;
  std::vector<bool> alerts;
  std::int64_t mid = 100'000;
  for (int i = 0; i < 5000; ++i) {
    mid += static_cast<std::int64_t>(random() % 9) - 4;
    mids.push_back(mid);
    alerts.push_back(random() % 50 == 0);
    tracker.on_frame(mid, alerts.back(), 0);
  }
  tracker.finish();
  OutcomeCounters naive;
  bool in_stretch = false;
  bool alerted = false;
  for (std::size_t i = 0; i + kHorizon < mids.size(); ++i) {
    bool burst = false;
    for (std::size_t j = i + 1; j <= i + kHorizon; ++j)
      burst = burst || std::abs(mids[j] - mids[i]) > 2 * kTick;
    ++naive.frames;
    naive.burst_frames += burst ? 1 : 0;
    naive.hits += burst && alerts[i] ? 1 : 0;
    naive.false_alerts += !burst && alerts[i] ? 1 : 0;
    if (burst) alerted = (in_stretch && alerted) || alerts[i];
    if (!burst && in_stretch && !alerted) ++naive.misses;
    in_stretch = burst;
  }
  if (in_stretch && !alerted) ++naive.misses;
  EXPECT_GT(naive.burst_frames, 0U);
  EXPECT_EQ(tracker.counters(0).frames, naive.frames);
  EXPECT_EQ(tracker.counters(0).burst_frames, naive.burst_frames);
  EXPECT_EQ(tracker.counters(0).hits, naive.hits);
  EXPECT_EQ(tracker.counters(0).false_alerts, naive.false_alerts);
  EXPECT_EQ(tracker.counters(0).misses, naive.misses);
}

}  // namespace
}  // namespace tocsin
