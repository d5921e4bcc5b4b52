// FeatureEngine against a recomputation from the whole history, bit for bit: random streams with
// jumps of time, equal times, late events, wrong quantities and empty sides.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "features/feature_engine.h"
#include "features/naive_feature_twin.h"
#include "features/random_book_stream.h"

namespace tocsin {
namespace {

using testing::kTick;
using testing::kUnit;
using testing::NaiveFeatureTwin;
using testing::RandomBookStream;
using testing::RandomBookStreamOptions;

struct TwinRun {
  RandomBookStreamOptions stream;
  Instrument instrument{"TEST", kTick, kUnit};
  std::size_t window_updates_max = kWindowUpdatesMax;
  std::int64_t pace_ns = 1'000'000;  // mean time between events
  std::uint64_t updates = 0;
  std::uint64_t compare_one_in = 100;
};

// Mostly forward by a random pace; sometimes not at all, far ahead, a little back or far back.
std::int64_t next_time(std::int64_t time_ns, std::int64_t pace_ns, std::mt19937_64& random) {
  const std::uint64_t dice = random() % 20'000;
  if (dice < 8'000) return time_ns;
  if (dice < 8'004) return time_ns + 4'000'000'000;
  if (dice < 8'006) return time_ns + 90'000'000'000;
  if (dice < 8'060) return time_ns - 3'000'000;
  if (dice < 8'062) return time_ns - 25'000'000'000;
  return time_ns + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(3 * pace_ns));
}

void expect_same_bits(const FeatureFrame& frame, const FeatureValues& expected,
                      std::uint64_t update) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    ASSERT_TRUE(std::isfinite(frame.values[i])) << feature_catalogue()[i].name;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(frame.values[i]),
              std::bit_cast<std::uint32_t>(expected.values[i]))
        << feature_catalogue()[i].name << " is " << frame.values[i] << ", recomputed "
        << expected.values[i] << " at update " << update;
  }
}

void compare(const TwinRun& run, FeatureCounters& counters) {
  SCOPED_TRACE(::testing::Message() << "seed " << run.stream.seed);
  RandomBookStream stream(run.stream);
  std::mt19937_64 random(run.stream.seed + 1);
  OrderBook book;
  book.mark_complete();
  FeatureEngine engine(FeatureSchema::whole_catalogue(), run.instrument,
                       {.window_updates_max = run.window_updates_max});
  NaiveFeatureTwin twin(run.instrument, run.window_updates_max);
  std::int64_t time_ns = 1'700'000'000'000'000'000;
  std::uint64_t compared = 0;
  FeatureFrame frame;
  while (twin.update_count() < run.updates) {
    MarketEvent event = stream.next();
    time_ns = next_time(time_ns, run.pace_ns, random);
    event.exchange_time_ns = time_ns;
    engine.on_event(event, book.apply(event));
    twin.on_event(event);
    if (!event.end_of_update) continue;
    const bool framed = engine.complete_update(book, frame);
    twin.complete_update(book);
    const bool whole = book.level_count(Side::kBid) > 0 && book.level_count(Side::kAsk) > 0;
    ASSERT_EQ(framed, whole);
    const std::uint64_t update = twin.update_count();
    if (!framed || (update > 700 && update % run.compare_one_in != 0)) continue;
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(frame, twin.values(), update));
    ++compared;
  }
  counters = engine.counters();
  EXPECT_EQ(counters.updates, run.updates);
  EXPECT_GT(counters.time_restarts, 0U);
  EXPECT_GT(compared, run.updates / run.compare_one_in / 2);
}

TEST(FeatureEngine, EqualsARecomputationOverALongStream) {
  FeatureCounters counters;
  compare({.stream = {.seed = 11, .one_disaster_in = 5'000}, .updates = 220'000}, counters);
  EXPECT_EQ(counters.windows_truncated, 0U);
}

TEST(FeatureEngine, EqualsARecomputationWhereABookIsThinAndOftenOneSided) {
  FeatureCounters counters;
  compare({.stream = {.seed = 12, .order_ids = 30, .tick_range = 5, .one_disaster_in = 60},
           .pace_ns = 200'000'000,
           .updates = 60'000,
           .compare_one_in = 7},
          counters);
  EXPECT_LT(counters.frames, counters.updates);
}

TEST(FeatureEngine, EqualsARecomputationWhereQuantitiesAndPricesPassTheirCaps) {
  FeatureCounters counters;
  compare({.stream = {.seed = 13, .tick_range = 20'000'000, .one_deep_in = 2},
           .instrument = {"FINE", 1, 1},
           .updates = 40'000,
           .compare_one_in = 13},
          counters);
}

TEST(FeatureEngine, EqualsARecomputationWhereWindowsOfTimeAreFull) {
  FeatureCounters counters;
  compare({.stream = {.seed = 14},
           .window_updates_max = 700,
           .pace_ns = 200'000,
           .updates = 40'000,
           .compare_one_in = 11},
          counters);
  EXPECT_GT(counters.windows_truncated, 1'000U);
}

}  // namespace
}  // namespace tocsin
