// Silences on a clock that is moved by hand.
#include "ingest/stale_feed_detector.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kExchangeTime = 7'000 * kSecond;

EventBatch update_of(InstrumentId instrument, std::uint64_t sequence = 1) {
  MarketEvent event;
  event.kind = EventKind::kSetLevel;
  event.instrument = instrument;
  event.sequence = sequence;
  event.exchange_time_ns = kExchangeTime;
  event.end_of_update = true;
  return {event};
}

class StaleFeedDetectorTest : public testing::Test {
 protected:
  void update_every(std::int64_t interval_ns, std::size_t count, InstrumentId instrument = 0) {
    for (std::size_t i = 0; i < count; ++i) {
      clock.advance(interval_ns);
      detector.on_batch(update_of(instrument));
    }
  }
  std::size_t poll() {
    batch.clear();
    return detector.append_stale(99, batch);
  }

  ManualClock clock{kSecond};
  StaleFeedDetector detector{clock, {.after_intervals = 10, .silence_min_ns = 200 * kMilli}};
  EventBatch batch;
};

TEST_F(StaleFeedDetectorTest, ReportsASilenceOfManyUsualIntervalsOnce) {
  update_every(100 * kMilli, 40);
  EXPECT_EQ(detector.usual_interval_ns(0), 100 * kMilli);
  clock.advance(999 * kMilli);
  EXPECT_EQ(poll(), 0U);
  clock.advance(kMilli);
  ASSERT_EQ(poll(), 1U);
  EXPECT_TRUE(detector.is_stale(0));
  EXPECT_EQ(batch[0].kind, EventKind::kEndOfUpdate);
  EXPECT_EQ(batch[0].quality, QualityFlags(Quality::kStaleFeed));
  EXPECT_TRUE(batch[0].end_of_update);
  EXPECT_EQ(batch[0].record, 99U);
  EXPECT_EQ(batch[0].sequence, 1U);
  EXPECT_EQ(batch[0].exchange_time_ns, kExchangeTime + kSecond);
  clock.advance(5 * kSecond);
  EXPECT_EQ(poll(), 0U);
  EXPECT_EQ(detector.stale_count(), 1U);
}

TEST_F(StaleFeedDetectorTest, AnUpdateEndsTheSilenceWhichIsNotLearnt) {
  update_every(100 * kMilli, 40);
  clock.advance(30 * kSecond);
  ASSERT_EQ(poll(), 1U);
  detector.on_batch(update_of(0));
  EXPECT_FALSE(detector.is_stale(0));
  EXPECT_EQ(detector.usual_interval_ns(0), 100 * kMilli);
  clock.advance(kSecond);
  EXPECT_EQ(poll(), 1U);
}

TEST_F(StaleFeedDetectorTest, BurstsDoNotHideThePausesBetweenThem) {
  for (int burst = 0; burst < 20; ++burst) {
    update_every(kMilli, 50);
    update_every(4 * kSecond, 1);
  }
  clock.advance(20 * kSecond);
  EXPECT_EQ(poll(), 0U);
  clock.advance(21 * kSecond);
  EXPECT_EQ(poll(), 1U);
}

TEST_F(StaleFeedDetectorTest, ShortSilencesAndFewIntervalsAreNotJudged) {
  update_every(kMilli, 40);
  clock.advance(199 * kMilli);
  EXPECT_EQ(poll(), 0U);  // below the least silence, though 199 intervals long
  update_every(kMilli, StaleFeedDetector::kIntervalsMin, 1);
  detector.on_batch(update_of(0));
  clock.advance(100 * kSecond);
  ASSERT_EQ(poll(), 1U);  // instrument 1 had one interval less than enough
  EXPECT_EQ(batch[0].instrument, 0U);
}

TEST_F(StaleFeedDetectorTest, ALostConnectionIsNoStaleFeed) {
  update_every(100 * kMilli, 40);
  detector.on_disconnect();
  clock.advance(60 * kSecond);
  EXPECT_EQ(poll(), 0U);
  detector.on_batch(update_of(0));
  EXPECT_EQ(detector.usual_interval_ns(0), 100 * kMilli);  // the outage was not learnt
  clock.advance(kSecond);
  EXPECT_EQ(poll(), 1U);
}

TEST_F(StaleFeedDetectorTest, OneOfManyIsFoundInTurnWhileTheOthersGoOn) {
  constexpr InstrumentId kCount = 100;
  for (int round = 0; round < 40; ++round) {
    clock.advance(100 * kMilli);
    for (InstrumentId id = 0; id < kCount; ++id) detector.on_batch(update_of(id));
  }
  const std::uint64_t allocations = allocation_count();
  std::size_t found = 0;
  batch.clear();
  batch.reserve(kCount);
  const EventBatch updates = [] {
    EventBatch all;
    for (InstrumentId id = 0; id < kCount; ++id)
      if (id != 42) all.push_back(update_of(id)[0]);
    return all;
  }();
  const std::uint64_t made = allocation_count() - allocations;
  for (int round = 0; round < 20; ++round) {
    clock.advance(100 * kMilli);
    detector.on_batch(updates);
    found += detector.append_stale(1, batch);
  }
  EXPECT_EQ(allocation_count() - allocations, made);
  ASSERT_EQ(found, 1U);
  EXPECT_EQ(batch[0].instrument, 42U);
}

TEST(StaleFeedDetectorOptions, ZeroIntervalsSwitchItOff) {
  ManualClock clock;
  StaleFeedDetector detector(clock, {.after_intervals = 0, .silence_min_ns = 1});
  for (int i = 0; i < 40; ++i) {
    clock.advance(kMilli);
    detector.on_batch(update_of(0));
  }
  clock.advance(1000 * kSecond);
  EventBatch batch;
  EXPECT_EQ(detector.append_stale(1, batch), 0U);
}

}  // namespace
}  // namespace tocsin
