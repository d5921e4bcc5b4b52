// The features with a state of their own, of small streams worked out by hand. Whether they are
// right over long streams: feature_twin_test.cc.
#include "features/market_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/allocation_counter.h"
#include "features/event_builder.h"
#include "features/feature_engine.h"

namespace tocsin {
namespace {

using testing::kTick;
using testing::kUnit;
using testing::set_level;
using testing::trade;

constexpr std::int64_t kSecond = 1'000'000'000;

struct Stream {
  OrderBook book;
  FeatureEngine engine{FeatureSchema::whole_catalogue(), Instrument{"TEST", kTick, kUnit}};
  FeatureFrame frame;

  void operator()(const MarketEvent& event) {
    engine.on_event(event, book.apply(event));
    if (event.end_of_update) engine.complete_update(book, frame);
  }
  float operator[](std::string_view name) const {
    for (std::size_t i = 0; i < feature_catalogue().size(); ++i) {
      if (feature_catalogue()[i].name == name) return frame.values[i];
    }
    ADD_FAILURE() << "no feature " << name;
    return NAN;
  }
  // One level a side, `bid` and `bid` + 2: the mid is at `bid` + 1.
  void quote(std::int64_t bid, std::int64_t time_ns, std::int64_t units = 10) {
    (*this)(testing::clear().time_ns(time_ns));
    (*this)(set_level().bid().ticks(bid).units(units).time_ns(time_ns));
    (*this)(set_level().ask().ticks(bid + 2).units(units).time_ns(time_ns).end());
  }
  void buy(std::int64_t ticks, std::int64_t units, std::int64_t time_ns) {
    (*this)(trade().bid().ticks(ticks).units(units).time_ns(time_ns).end());
  }
  void sell(std::int64_t ticks, std::int64_t units, std::int64_t time_ns) {
    (*this)(trade().ask().ticks(ticks).units(units).time_ns(time_ns).end());
  }
};

TEST(MarketStatistics, OrderFlowIsCountedLevelByLevel) {
  Stream stream;
  for (int i = 0; i < 3; ++i) {
    stream(set_level().bid().ticks(100 - i).units(10 + i));
    stream(set_level().ask().ticks(102 + i).units(20 + i));
  }
  stream(trade().end());  // e2 = 11 - 21, e3 = 12 - 22
  EXPECT_EQ(stream["order_flow_level_2_100"], static_cast<float>(-10.0 / 32.0));
  EXPECT_EQ(stream["order_flow_level_4_100"], 0.0F);
  stream(set_level().bid().ticks(99).units(15).end());  // e2 = 4
  EXPECT_EQ(stream["order_flow_level_2_100"], static_cast<float>(-6.0 * 2 / (32.0 + 36.0)));
  EXPECT_EQ(stream["order_flow_level_3_100"], static_cast<float>(-10.0 * 2 / 68.0));
  // A new best bid pushes all levels down: each rank gets a better price, so each e is a quantity.
  stream(set_level().bid().ticks(101).units(1).end());  // e = 1, 10, 15, 12
  EXPECT_EQ(stream["order_flow_level_2_100"], static_cast<float>(4.0 * 3 / (32.0 + 36.0 + 31.0)));
  EXPECT_EQ(stream["order_flow_level_4_100"], static_cast<float>(12.0 * 3 / 12.0));
  const double flow = (10 - 20) + 1 + 4.0 + (-10.0 + 15) + 12;
  const double depth = (30 + 32 + 34) + (30 + 36 + 34) + (21 + 31 + 37 + 12);
  EXPECT_EQ(stream["order_flow_levels_5_100"], static_cast<float>(flow * 3 / depth));
}

TEST(MarketStatistics, DepthSlopeIsNaesAndSkjeltorps) {
  Stream stream;
  stream(set_level().bid().ticks(100).units(10));
  stream(set_level().bid().ticks(98).units(40));
  stream(set_level().ask().ticks(102).units(20).end());
  const double bid_1 = std::log(10.0) / (1.0 - 100.0 / 101.0);
  const double bid_2 = (std::log(50.0) / std::log(10.0) - 1.0) / (1.0 - 98.0 / 100.0);
  const double ask = std::log(20.0) / (102.0 / 101.0 - 1.0);
  EXPECT_FLOAT_EQ(stream["depth_slope_10"],
                  static_cast<float>(((bid_1 + bid_2) / 2.0 + ask) / 2.0));
}

TEST(MarketStatistics, VpinIsTheShareOfOneSidedVolume) {
  Stream stream;
  stream.quote(100, 0);
  EXPECT_EQ(stream["vpin_50"], 0.0F);
  // Trades of 2: a bucket holds 100. The first 50 fill one, all bought; the next 50 one by halves.
  for (int i = 0; i < 50; ++i) stream.buy(102, 2, i);
  EXPECT_EQ(stream["vpin_50"], 1.0F);
  for (int i = 0; i < 25; ++i) stream.buy(102, 2, 100 + i);
  for (int i = 0; i < 25; ++i) stream.sell(100, 2, 200 + i);
  EXPECT_EQ(stream["vpin_50"], 0.5F);
  // One of 202 of no side: mean (200 + 202) / 101, times 50 is 199: it fills one, 3 are left over.
  stream(trade().ticks(101).units(202).time_ns(300).end());
  EXPECT_EQ(stream["vpin_50"], static_cast<float>(100.0 / (100 + 100 + 199)));
}

TEST(MarketStatistics, RollsSpreadIsThatOfPricesThatBounce) {
  Stream stream;
  stream.quote(100, 0);
  for (int i = 0; i < 120; ++i) {
    if (i % 2 == 0) stream.buy(102, 1, i);
    if (i % 2 == 1) stream.sell(100, 1, i);
  }
  // The moves are -2, 2, -2, ...: half of them each, product -4.
  EXPECT_EQ(stream["roll_spread_100"], 4.0F);
  EXPECT_EQ(stream["trade_sign_autocorrelation_100"], -1.0F);
  for (int i = 0; i < 120; ++i) stream.buy(102 + i, 1, 200 + i);  // a trend implies no spread
  EXPECT_EQ(stream["roll_spread_100"], 0.0F);
  EXPECT_EQ(stream["trade_sign_autocorrelation_100"], 0.0F);  // signs do not vary
}

TEST(MarketStatistics, SpreadsAreMeasuredAgainstTheMidBeforeAndASecondAfter) {
  Stream stream;
  stream.buy(102, 1, 0);  // no mid yet
  stream.quote(100, 1);   // mid 101
  stream.buy(102, 1, 2);
  EXPECT_EQ(stream["effective_spread_100"], 2.0F);
  stream.sell(98, 1, 3);  // through the book
  EXPECT_EQ(stream["effective_spread_100"], 4.0F);
  stream.quote(103, 4);  // mid 104
  EXPECT_EQ(stream["realised_spread_100"], 0.0F);
  stream.quote(200, kSecond + 2);  // the first trade is a second old: the mid was 104 up to now
  EXPECT_EQ(stream["realised_spread_100"], -4.0F);
  EXPECT_EQ(stream["price_impact_100"], 6.0F);
  stream.quote(200, kSecond + 4);
  EXPECT_EQ(stream["realised_spread_100"], (-4.0F + 2.0F * (201 - 98)) / 2);
  EXPECT_EQ(stream["effective_spread_100"], 4.0F);
}

TEST(MarketStatistics, IntensityIsTheSumOfDecayedTrades) {
  Stream stream;
  const std::int64_t start = 1'700'000'000 * kSecond + 123'456'789;
  stream.quote(100, start);
  const std::vector<std::int64_t> buys = {0, 40'000'000, 40'000'000, 700'000'000, 3'000'000'000};
  for (const std::int64_t at : buys) stream.buy(102, 5, start + at);
  stream.sell(100, 1, start + 3'100'000'000);
  for (const std::int64_t now : {3'100'000'000, 3'333'333'333, 8'000'000'000}) {
    stream.quote(100, start + now);
    double bought = 0;
    for (const std::int64_t at : buys) bought += std::exp(-static_cast<double>(now - at) * 1e-9);
    const double sold = std::exp(-static_cast<double>(now - 3'100'000'000) * 1e-9);
    EXPECT_NEAR(stream["buy_intensity"], bought, 1e-6 * bought) << now;
    EXPECT_NEAR(stream["sell_intensity"], sold, 1e-6 * sold) << now;
    EXPECT_NEAR(stream["intensity_imbalance"], (bought - sold) / (bought + sold), 1e-6) << now;
  }
  stream.quote(100, start + 40 * kSecond);
  EXPECT_EQ(stream["buy_intensity"], 0.0F);
  EXPECT_EQ(stream["intensity_imbalance"], 0.0F);
}

TEST(MarketStatistics, BarsGiveImpactAndIlliquidity) {
  Stream stream;
  std::int64_t bid = 1'000;
  stream.quote(bid, 0);
  // Each second: buy or sell x, and the mid moves by x / 10 ticks: lambda is a tenth.
  for (int i = 0; i < 20; ++i) {
    const std::int64_t x = i % 2 == 0 ? 20 + 10 * (i % 5) : -30;
    if (x > 0) stream.buy(bid + 2, x, i * kSecond + 10);
    if (x < 0) stream.sell(bid, -x, i * kSecond + 10);
    bid += x / 10;
    stream.quote(bid, i * kSecond + 20);
  }
  EXPECT_EQ(stream["kyle_lambda_60s"], 0.1F);  // the running bar does not count
  Stream one;
  one.quote(999, 0);
  one.buy(1'001, 500, 1);
  one.quote(1'099, 2);  // mid 1100 ticks of 0.01: 11.00, up by 100
  one.quote(1'099, kSecond);
  EXPECT_FLOAT_EQ(one["amihud_60s"], static_cast<float>(100.0 / 1'100.0 / (11.0 * 500.0 / 1e6)));
  one.quote(1'099, 50 * kSecond);  // bars without trades do not count
  EXPECT_FLOAT_EQ(one["amihud_60s"], static_cast<float>(100.0 / 1'100.0 / (11.0 * 500.0 / 1e6)));
  one.quote(1'099, 61 * kSecond);
  EXPECT_EQ(one["amihud_60s"], 0.0F);
}

TEST(MarketStatistics, BipowerVariationLeavesJumpsOut) {
  constexpr double kHalfPi = 1.5707963267948966;
  Stream stream;
  std::int64_t bid = 10'000;
  stream.quote(bid, 0);
  for (int i = 0; i < 60; ++i) stream.quote(bid += i % 2 == 0 ? 4 : -4, i * kSecond + 5);
  stream.quote(bid, 60 * kSecond);
  EXPECT_EQ(stream["realised_variance_60s"], 60 * 16.0F);
  EXPECT_FLOAT_EQ(stream["bipower_variation_60s"], static_cast<float>(kHalfPi * 59 * 16));
  EXPECT_LT(stream["jump_statistic_60s"], 0.0F);  // even moves: less than by chance
  stream.quote(bid += 400, 60 * kSecond + 5);     // a jump, in the sixty-first bar
  stream.quote(bid, 61 * kSecond);
  const double realised = 59 * 16.0 + 160'000.0;
  const double bipower = kHalfPi * (58 * 16.0 + 4.0 * 400.0);
  EXPECT_EQ(stream["realised_variance_60s"], static_cast<float>(realised));
  EXPECT_FLOAT_EQ(stream["bipower_variation_60s"], static_cast<float>(bipower));
  const double quad = 60 * kHalfPi * kHalfPi * (56 * 256.0 + 64.0 * 400.0);
  const double scale = std::max(1.0, quad / (bipower * bipower));
  const double variance = (kHalfPi * kHalfPi + 2 * kHalfPi - 5) / 60.0 * scale;
  EXPECT_NEAR(stream["jump_statistic_60s"], (1 - bipower / realised) / std::sqrt(variance), 1e-3);
  EXPECT_GT(stream["jump_statistic_60s"], 4.0F);
}

TEST(MarketStatistics, AFollowerSeesWhatItsLeaderDid) {
  Stream leader;
  Stream follower;
  follower.engine.follow(leader.engine);
  std::int64_t leads[70] = {};
  std::uint64_t state = 20'240'808;
  std::int64_t leader_bid = 5'000;
  std::int64_t follower_bid = 2'000;
  for (int i = 0; i < 70; ++i) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    leads[i] = static_cast<std::int64_t>(state >> 60) - 8;
    leader.quote(leader_bid += leads[i], i * kSecond + 100);
    if (i > 0) follower_bid += 2 * leads[i - 1];  // one second behind
    follower.quote(follower_bid, i * kSecond + 200);
  }
  EXPECT_EQ(follower["leader_correlation_60s"], 1.0F);
  EXPECT_GT(follower["lead_lag_balance_60s"], 0.5F);
  EXPECT_EQ(follower["leader_move"], static_cast<float>(leads[69] + leads[68]));
  EXPECT_EQ(leader["leader_correlation_60s"], 0.0F);  // it follows nobody
}

TEST(MarketStatistics, AllocatesNothingAfterConstruction) {
  Stream stream;
  stream.quote(100, 0);
  for (int i = 0; i < 10; ++i) stream.buy(102, 3, i * kSecond);
  const std::uint64_t before = allocation_count();
  for (int i = 10; i < 3'000; ++i) {
    stream.buy(102, 1 + i % 7, i * kSecond / 10);
    stream.sell(100, 1 + i % 5, i * kSecond / 10);
  }
  EXPECT_EQ(allocation_count(), before);
}

TEST(MarketStatistics, AreNotHeldWhereNoFeatureNeedsThem) {
  const Instrument instrument{"TEST", kTick, kUnit};
  const FeatureEngine all(FeatureSchema::whole_catalogue(), instrument);
  const FeatureEngine standard(FeatureSchema::standard(), instrument);
  const std::vector<std::string> names = {"kyle_lambda_60s"};
  const FeatureEngine one(FeatureSchema::from_names(names).value(), instrument);
  EXPECT_GT(all.memory_bytes(), standard.memory_bytes() + 32'000);
  EXPECT_LT(one.memory_bytes(), standard.memory_bytes() + 8'000);
}

}  // namespace
}  // namespace tocsin
