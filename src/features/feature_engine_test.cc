// Features of small streams worked out by hand, the frame around them, and no allocation. Whether
// rolling sums are right over long streams: feature_twin_test.cc.
#include "features/feature_engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/allocation_counter.h"
#include "features/event_builder.h"
#include "features/feature_values.h"
#include "features/random_book_stream.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::EventBuilder;
using testing::kTick;
using testing::kUnit;
using testing::set_level;
using testing::trade;

constexpr std::int64_t kSecond = 1'000'000'000;

// One instrument from events to frames.
struct Stream {
  OrderBook book;
  FeatureEngine engine{FeatureSchema::whole_catalogue(), Instrument{"TEST", kTick, kUnit}};
  FeatureFrame frame;
  bool framed = false;

  explicit Stream(const OrderBookOptions& options = {}) : book(options) { book.mark_complete(); }
  void operator()(const MarketEvent& event) {
    engine.on_event(event, book.apply(event));
    if (event.end_of_update) framed = engine.complete_update(book, frame);
  }
  float operator[](std::string_view name) const {
    for (std::size_t i = 0; i < feature_catalogue().size(); ++i) {
      if (feature_catalogue()[i].name == name) return frame.values[i];
    }
    ADD_FAILURE() << "no feature " << name;
    return NAN;
  }
  // Both best levels, 100 and 103, one update.
  void quote(std::int64_t bid_units, std::int64_t ask_units, std::int64_t time_ns = 0) {
    (*this)(set_level().bid().ticks(100).units(bid_units).time_ns(time_ns));
    (*this)(set_level().ask().ticks(103).units(ask_units).time_ns(time_ns).end());
  }
};

TEST(FeatureEngine, BookFeaturesAreThoseOfTheBook) {
  Stream stream;
  for (int i = 0; i < 12; ++i) {
    stream(set_level().bid().ticks(100 - 2 * i).units(3 + i));
    stream(set_level().ask().ticks(103 + i).units(1));
  }
  stream(trade().end());
  ASSERT_TRUE(stream.framed);
  EXPECT_EQ(stream["mid"], 101.5F);
  EXPECT_EQ(stream["spread"], 3.0F);
  EXPECT_EQ(stream["micro_price_offset"], 0.75F);  // (103 * 3 + 100 * 1) / 4 - 101.5
  EXPECT_EQ(stream["depth_imbalance_1"], 0.5F);
  EXPECT_EQ(stream["depth_imbalance_5"], static_cast<float>(20.0 / 30.0));
  EXPECT_EQ(stream["depth_imbalance_10"], static_cast<float>(65.0 / 85.0));
  EXPECT_EQ(stream["depth_distance_10"], 13.5F);  // 18 below, 9 above
  EXPECT_EQ(stream["best_size_share_10"], static_cast<float>(4.0 / 85.0));
  EXPECT_EQ(stream["top_depth_ratio_500"], 1.0F);
  stream(set_level().bid().ticks(100).units(88).end());  // 85 more than the 85 before
  EXPECT_EQ(stream["top_depth_ratio_500"], static_cast<float>(170.0 * 2 / 255));
}

TEST(FeatureEngine, OrderFlowIsThatOfThePaper) {
  Stream stream;
  stream.quote(4, 6);  // e = 4 - 6
  EXPECT_EQ(stream["order_flow_1"], -0.2F);
  stream.quote(7, 5);  // e = 3 + 1; D = (10 + 12) / 2
  EXPECT_EQ(stream["order_flow_1"], static_cast<float>(4.0 * 2 / 22));
  EXPECT_EQ(stream["order_flow_20"], static_cast<float>(2.0 * 2 / 22));
  EXPECT_EQ(stream["bid_queue_change"], static_cast<float>(3.0 / 7));
  EXPECT_EQ(stream["ask_queue_change"], static_cast<float>(-1.0 / 6));
  stream(
      set_level().bid().ticks(101).units(2).end());  // a better bid: e = 2; D = (10 + 12 + 7) / 3
  EXPECT_EQ(stream["order_flow_1"], static_cast<float>(2.0 * 3 / 29));
  EXPECT_EQ(stream["bid_queue_change"], 1.0F);
  EXPECT_EQ(stream["ask_queue_change"], 0.0F);
  stream(set_level().bid().ticks(101).units(0).end());  // and gone: e = -2; the bid's 7 show again
  EXPECT_EQ(stream["order_flow_1"], static_cast<float>(-2.0 * 4 / 41));
  EXPECT_EQ(stream["bid_queue_change"], -1.0F);
  EXPECT_EQ(stream["order_flow_100"], static_cast<float>(2.0 * 4 / 41));
  EXPECT_EQ(stream["order_flow_1s"], static_cast<float>(2.0 * 4 / 41));
}

TEST(FeatureEngine, DepletionIsByTradesAsFarAsThereWereTrades) {
  Stream stream;
  stream.quote(10, 10);
  stream(trade().bid().units(3).end());  // bought: taken off the ask, which shows it later
  stream.quote(10, 6);                   // 3 traded, 1 cancelled
  stream.quote(10, 5);                   // 1 cancelled
  // Refills: both first levels, 20; depletions: 3 by trades, 2 by cancels.
  EXPECT_EQ(stream["queue_trade_share_100"], 0.6F);
  EXPECT_EQ(stream["queue_refill_100"], 0.6F);
}

TEST(FeatureEngine, AnExecutionIsATradeOfTheOtherSide) {
  Stream stream;
  stream(add_order(1).bid().ticks(100).units(10));
  stream(add_order(2).ask().ticks(103).units(10).end());
  stream(EventBuilder(EventKind::kExecuteOrder).order(2).units(4).end());
  EXPECT_EQ(stream["trade_sign"], 1.0F);
  EXPECT_EQ(stream["trade_imbalance_100"], 1.0F);
  EXPECT_EQ(stream["queue_trade_share_100"], 1.0F);
  stream(EventBuilder(EventKind::kExecuteOrder).order(1).units(1).end());
  EXPECT_EQ(stream["trade_sign"], -1.0F);
  EXPECT_EQ(stream["trade_imbalance_100"], 0.6F);
  EXPECT_EQ(stream["trade_rate_1s"], 2.0F);
  // Bought 4, sold 1; depth 20, 16, 15.
  EXPECT_EQ(stream["signed_volume_1s"], static_cast<float>(3.0 * 3 / 51));
  stream(trade().units(1).end());
  EXPECT_EQ(stream["trade_sign"], 0.0F);
}

TEST(FeatureEngine, MovesRangeAndVolatilityCountTheMidInTicks) {
  Stream stream;
  const auto move_to = [&](std::int64_t ticks, std::int64_t time_ns) {
    stream(EventBuilder(EventKind::kClear).time_ns(time_ns));
    stream(set_level().bid().ticks(ticks).units(1).time_ns(time_ns));
    stream(set_level().ask().ticks(ticks + 1).units(1).time_ns(time_ns).end());
  };
  move_to(100, 0);
  move_to(103, kSecond);
  EXPECT_EQ(stream["mid_move_1"], 3.0F);
  move_to(99, kSecond + 1);
  EXPECT_EQ(stream["mid_move_1"], -4.0F);
  EXPECT_EQ(stream["mid_move_20"], -1.0F);
  EXPECT_EQ(stream["mid_range_100"], 4.0F);
  EXPECT_EQ(stream["realised_volatility_20"], 5.0F);
  EXPECT_EQ(stream["realised_volatility_10s"], 5.0F);
  EXPECT_EQ(stream["volatility_burst"], 1.0F);
  EXPECT_EQ(stream["volatility_burst_1s"], static_cast<float>(std::sqrt(10.0)));
  for (int i = 0; i < 30; ++i) move_to(99, 3 * kSecond);
  EXPECT_EQ(stream["mid_move_20"], 0.0F);
  EXPECT_EQ(stream["mid_move_100"], -1.0F);
  EXPECT_EQ(stream["mid_move_1s"], 0.0F);
  EXPECT_EQ(stream["volatility_burst"], 0.0F);
  EXPECT_EQ(stream["realised_volatility_20"], 0.0F);
  EXPECT_EQ(stream["realised_volatility_500"], 5.0F);
  EXPECT_EQ(stream["realised_volatility_10s"], 5.0F);
  move_to(98, 13 * kSecond);
  EXPECT_EQ(stream["realised_volatility_10s"], 1.0F);
  EXPECT_EQ(stream["mid_move_1s"], -1.0F);
  // 1 in 20 updates against 26 in 34.
  EXPECT_EQ(stream["volatility_burst"], static_cast<float>(std::sqrt(34.0 / (26 * 20))));
}

TEST(FeatureEngine, PricesMayBeNegativeAndOffTheGrid) {
  OrderBook book;
  FeatureEngine engine(FeatureSchema::whole_catalogue(), Instrument{"SPREAD", 3 * kTick, kUnit});
  FeatureFrame frame;
  const auto move = [&](std::int64_t bid_ticks) {
    for (const MarketEvent& event :
         {MarketEvent(EventBuilder(EventKind::kClear)),
          MarketEvent(set_level().bid().ticks(bid_ticks).units(1)),
          MarketEvent(set_level().ask().ticks(bid_ticks + 1).units(1).end())}) {
      engine.on_event(event, book.apply(event));
    }
    EXPECT_TRUE(engine.complete_update(book, frame));
    return frame.values[static_cast<std::size_t>(Feature::kMidMove1)];
  };
  // The mid in half ticks is rounded down: -3 / 3, -5 / 3, -1 / 3, 1 / 3.
  EXPECT_EQ(move(-2), 0.0F);
  EXPECT_EQ(move(-3), -0.5F);
  EXPECT_EQ(move(-1), 0.5F);
  EXPECT_EQ(move(0), 0.5F);
}

TEST(FeatureEngine, VolumeAnomalyCountsDeviationsOfTheUsualVolume) {
  Stream stream;
  stream.quote(1, 1);
  for (int i = 0; i < 99; ++i) stream(trade().bid().units(i % 2 == 0 ? 1 : 3).end());
  // 100 updates: one of 0, 50 of 1, 49 of 3: m = 1.97, s^2 = (50 + 441) / 100 - m^2; the last
  // 20: 40.
  const double mean = 1.97;
  const double deviation = std::sqrt(4.91 - mean * mean);
  EXPECT_NEAR(stream["volume_anomaly"], (40 - 20 * mean) / (deviation * std::sqrt(20.0)), 1e-6);
  for (int i = 0; i < 20; ++i) stream(trade().units(30).end());
  EXPECT_GT(stream["volume_anomaly"], 9.0F);
}

TEST(FeatureEngine, RatesCountTheLastSecond) {
  Stream stream;
  stream.quote(1, 1, 0);  // two arrivals
  stream.quote(3, 0,
               kSecond);  // one arrival, one cancel; the first second is over; a side is empty
  EXPECT_FALSE(stream.framed);
  stream.quote(3, 1, kSecond + 1);
  EXPECT_EQ(stream["arrival_rate_1s"], 2.0F);
  EXPECT_EQ(stream["cancel_rate_1s"], 1.0F);
  EXPECT_EQ(stream["cancel_share_10s"], 0.2F);
  EXPECT_EQ(stream["update_rate_burst"], static_cast<float>(20.0 / 3.0));
}

TEST(FeatureEngine, TimesAreSinceTheLastUpdateAndTrade) {
  Stream stream;
  stream.quote(1, 1, 12 * 3'600 * kSecond);
  EXPECT_EQ(stream["time_since_update"], 0.0F);
  EXPECT_EQ(stream["time_since_trade"], 0.0F);
  EXPECT_EQ(stream["time_of_day_sin"], 0.0F);
  EXPECT_EQ(stream["time_of_day_cos"], -1.0F);
  stream(trade().units(1).time_ns(12 * 3'600 * kSecond + 7'000).end());
  EXPECT_EQ(stream["time_since_update"], 3.0F);
  stream.quote(1, 2, 12 * 3'600 * kSecond + 22'000);
  EXPECT_EQ(stream["time_since_update"], 4.0F);
  EXPECT_EQ(stream["time_since_trade"], 4.0F);
  stream.quote(1, 3, 18 * 3'600 * kSecond);
  EXPECT_EQ(stream["time_of_day_sin"], -1.0F);
}

TEST(FeatureEngine, TimeThatRunsBackwardsStandsStillOrStartsAnew) {
  Stream stream;
  stream.quote(1, 1, 100 * kSecond);
  stream.quote(1, 2, 95 * kSecond);
  EXPECT_EQ(stream["time_since_update"], 0.0F);
  EXPECT_EQ(stream["update_rate_burst"], 10.0F);
  EXPECT_EQ(stream["arrival_rate_1s"], 3.0F);
  stream.quote(1, 3, 10 * kSecond);
  EXPECT_EQ(stream["arrival_rate_1s"], 1.0F);
  EXPECT_EQ(stream.engine.counters().time_restarts, 1U);
}

TEST(FeatureEngine, FrameCarriesPlaceTimesFlagsAndMid) {
  Stream stream;
  stream(set_level().bid().ticks(100).units(1).record(7).flag(Quality::kTimeBackwards));
  stream(EventBuilder(EventKind::kDeleteOrder).order(9).record(7));
  MarketEvent last = set_level().ask().ticks(103).units(1).record(8).time_ns(55).end();
  last.receive_time_ns = 66;
  last.instrument = 3;
  stream(last);
  ASSERT_TRUE(stream.framed);
  EXPECT_EQ(stream.frame.exchange_time_ns, 55);
  EXPECT_EQ(stream.frame.receive_time_ns, 66);
  EXPECT_EQ(stream.frame.position, InputPosition{.record = 8});
  EXPECT_EQ(stream.frame.frame_number, 1U);
  EXPECT_EQ(stream.frame.mid_price_nanos_x2, 203 * kTick);
  EXPECT_EQ(stream.frame.instrument, 3U);
  EXPECT_EQ(stream.frame.feature_count, kFeatureCount);
  EXPECT_EQ(stream.frame.values[kFeatureCount], 0.0F);
  EXPECT_EQ(stream.frame.quality, Quality::kTimeBackwards | Quality::kUnknownOrder);
  stream(trade().end());
  EXPECT_EQ(stream.frame.quality, QualityFlags());
  EXPECT_EQ(stream.frame.frame_number, 2U);
}

TEST(FeatureEngine, FrameSaysWhetherTheBookIsTrustedAndTrading) {
  Stream stream;
  stream.quote(1, 1);
  EXPECT_EQ(stream.frame.quality, QualityFlags());
  stream(EventBuilder(EventKind::kStatus).status(TradingStatus::kHalted));
  stream(trade().flag(Quality::kGap).end());
  EXPECT_EQ(stream.frame.quality, Quality::kGap | Quality::kBookUntrusted | Quality::kNotTrading);
}

TEST(FeatureEngine, LateEventsMoveNeitherTimeNorVolume) {
  Stream stream;
  stream.quote(1, 1, 5 * kSecond);
  stream(trade().bid().units(1).time_ns(9 * kSecond).flag(Quality::kDuplicate).end());
  EXPECT_EQ(stream.frame.exchange_time_ns, 5 * kSecond);
  EXPECT_EQ(stream["trade_rate_1s"], 0.0F);
  EXPECT_EQ(stream.frame.quality, QualityFlags(Quality::kDuplicate));
}

TEST(FeatureEngine, FillsAChosenSchemaInItsOrder) {
  const std::vector<std::string> names = {"spread", "mid"};
  OrderBook book;
  book.mark_complete();
  FeatureEngine engine(*FeatureSchema::from_names(names), Instrument{"TEST", kTick, kUnit});
  FeatureFrame frame;
  frame.values.fill(77.0F);
  for (const MarketEvent& event : {MarketEvent(set_level().bid().ticks(100).units(1)),
                                   MarketEvent(set_level().ask().ticks(103).units(1).end())}) {
    engine.on_event(event, book.apply(event));
  }
  ASSERT_TRUE(engine.complete_update(book, frame));
  EXPECT_EQ(frame.feature_count, 2U);
  EXPECT_EQ(frame.values[0], 3.0F);
  EXPECT_EQ(frame.values[1], 101.5F);
  EXPECT_EQ(frame.values[2], 0.0F);
}

TEST(FeatureEngine, AllocatesNothingAnEventAfterWarmUp) {
  testing::RandomBookStream events({.seed = 3, .one_disaster_in = 10'000});
  Stream stream({.order_capacity = 8'192, .level_capacity = 4'096});
  std::int64_t time_ns = 0;
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      MarketEvent event = events.next();
      event.exchange_time_ns = time_ns += 500'000;
      stream(event);
    }
  };
  run(200'000);
  const std::uint64_t before = allocation_count();
  run(300'000);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
