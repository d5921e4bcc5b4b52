// FeatureEngine against a recomputation from the whole history, bit for bit: random streams with
// jumps of time, equal times, late events, wrong quantities and empty sides.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

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
  compare({.stream = {.seed = 11, .one_disaster_in = 5'000},
           .updates = 220'000,
           .compare_one_in = 1'000},
          counters);
  EXPECT_EQ(counters.windows_truncated, 0U);
}

TEST(FeatureEngine, EqualsARecomputationWhereABookIsThinAndOftenOneSided) {
  FeatureCounters counters;
  compare({.stream = {.seed = 12, .order_ids = 30, .tick_range = 5, .one_disaster_in = 60},
           .pace_ns = 200'000'000,
           .updates = 60'000,
           .compare_one_in = 101},
          counters);
  EXPECT_LT(counters.frames, counters.updates);
}

TEST(FeatureEngine, EqualsARecomputationWhereQuantitiesAndPricesPassTheirCaps) {
  FeatureCounters counters;
  compare({.stream = {.seed = 13, .tick_range = 20'000'000, .one_deep_in = 2},
           .instrument = {"FINE", 1, 1},
           .updates = 40'000,
           .compare_one_in = 103},
          counters);
}

TEST(FeatureEngine, EqualsARecomputationWhereWindowsOfTimeAreFull) {
  FeatureCounters counters;
  compare({.stream = {.seed = 14},
           .window_updates_max = 700,
           .pace_ns = 200'000,
           .updates = 40'000,
           .compare_one_in = 107},
          counters);
  EXPECT_GT(counters.windows_truncated, 1'000U);
}

// Two instruments in one stream, the second a follower of the first, which often repeats its moves.
TEST(FeatureEngine, EqualsARecomputationWhereAnInstrumentFollowsAnother) {
  const FeatureSchema schema = FeatureSchema::whole_catalogue();
  const Instrument instrument{"TEST", kTick, kUnit};
  RandomBookStream streams[] = {RandomBookStream({.seed = 15, .order_ids = 400, .tick_range = 8}),
                                RandomBookStream({.seed = 16, .order_ids = 200, .tick_range = 4})};
  OrderBook books[2];
  FeatureEngine engines[] = {FeatureEngine(schema, instrument), FeatureEngine(schema, instrument)};
  NaiveFeatureTwin twins[] = {NaiveFeatureTwin(instrument, kWindowUpdatesMax),
                              NaiveFeatureTwin(instrument, kWindowUpdatesMax)};
  engines[1].follow(engines[0]);
  twins[1].follow(twins[0]);
  FeatureEngine leader = std::move(engines[0]);  // the engine that is followed may move
  std::mt19937_64 random(17);
  std::int64_t time_ns = 1'700'000'000'000'000'000;
  std::uint64_t compared = 0;
  std::uint64_t led = 0;
  FeatureFrame frame;
  for (int i = 0; i < 120'000; ++i) {
    const std::size_t at = random() % 2;
    MarketEvent event = streams[at].next();
    time_ns = next_time(time_ns, 20'000'000, random);
    event.exchange_time_ns = time_ns;
    FeatureEngine& engine = at == 0 ? leader : engines[1];
    engine.on_event(event, books[at].apply(event));
    twins[at].on_event(event);
    if (!event.end_of_update) continue;
    const bool framed = engine.complete_update(books[at], frame);
    twins[at].complete_update(books[at]);
    if (!framed || at == 0 || twins[1].update_count() % 211 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(frame, twins[1].values(), twins[1].update_count()));
    ++compared;
    if (frame.values[static_cast<std::size_t>(Feature::kLeadLagBalance60s)] != 0.0F) ++led;
  }
  EXPECT_GT(compared, 100U);
  EXPECT_GT(led, compared / 4);
}

// What a schema leaves out is not kept up; what it names must not miss it.
TEST(FeatureEngine, EachFeatureAloneHasTheBitsItHasAmongAll) {
  const Instrument instrument{"TEST", kTick, kUnit};
  std::vector<FeatureEngine> alone;
  for (const FeatureDescription& feature : feature_catalogue()) {
    const std::vector<std::string> name = {std::string(feature.name)};
    alone.emplace_back(FeatureSchema::from_names(name).value(), instrument);
  }
  FeatureEngine all(FeatureSchema::whole_catalogue(), instrument);
  FeatureEngine standard(FeatureSchema::standard(), instrument);
  RandomBookStream stream({.seed = 18, .order_ids = 600, .tick_range = 20});
  std::mt19937_64 random(19);
  OrderBook book;
  std::int64_t time_ns = 0;
  FeatureFrame whole;
  FeatureFrame one;
  for (int i = 0; i < 20'000; ++i) {
    MarketEvent event = stream.next();
    time_ns = next_time(time_ns, 30'000'000, random);
    event.exchange_time_ns = time_ns;
    const QualityFlags noticed = book.apply(event);
    all.on_event(event, noticed);
    standard.on_event(event, noticed);
    for (FeatureEngine& engine : alone) engine.on_event(event, noticed);
    if (!event.end_of_update) continue;
    const bool framed = all.complete_update(book, whole);
    ASSERT_EQ(standard.complete_update(book, one), framed);
    for (std::size_t f = 0; framed && f < kStandardFeatureCount; ++f)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(one.values[f]),
                std::bit_cast<std::uint32_t>(whole.values[f]));
    for (std::size_t f = 0; f < alone.size(); ++f) {
      ASSERT_EQ(alone[f].complete_update(book, one), framed);
      if (!framed) continue;
      ASSERT_EQ(one.feature_count, 1);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(one.values[0]),
                std::bit_cast<std::uint32_t>(whole.values[f]))
          << feature_catalogue()[f].name << " at event " << i;
    }
  }
}

}  // namespace
}  // namespace tocsin
