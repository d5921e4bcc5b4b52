// Every feature reads its own window: inputs in which no two windows hold the same.
#include "features/feature_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "features/feature_engine.h"

namespace tocsin {
namespace {

struct WindowedInputs {
  AllWindows windows{};
  FeatureInputs inputs;
  FeatureValues values;

  WindowedInputs() {
    for (std::size_t w = 0; w < kWindowCount; ++w) {
      windows[w].update_count = 3 + w * w;
      for (std::size_t s = 0; s < kSummandCount; ++s) {
        windows[w].sums[s] = static_cast<std::int64_t>((w + 2) * (w + 2) * (s + 5) + s * s);
      }
      // A variance must not be negative.
      windows[w].sums[static_cast<std::size_t>(Summand::kSquaredVolume)] = 100'000;
    }
    inputs.best = {{.price_nanos = 100, .quantity_nanos = 1},
                   {.price_nanos = 101, .quantity_nanos = 1}};
    inputs.bid_depth = {.deepest_price_nanos = 100, .best_5_nanos = 1, .best_10_nanos = 1};
    inputs.ask_depth = {.deepest_price_nanos = 101, .best_5_nanos = 1, .best_10_nanos = 1};
    inputs.update[Summand::kOrderFlow] = 7;
    inputs.update[Summand::kTopDepth] = 11;
    inputs.windows = &windows;
    form_features(inputs, FeatureNeeds::all(), values);
  }
  double count(Window window) const {
    return static_cast<double>(windows[static_cast<std::size_t>(window)].update_count);
  }
  double sum(Window window, Summand summand) const {
    EXPECT_TRUE(keeps(window, summand));
    return static_cast<double>(
        windows[static_cast<std::size_t>(window)].sums[static_cast<std::size_t>(summand)]);
  }
  void expect(Feature feature, double expected) const {
    EXPECT_FLOAT_EQ(values.values[static_cast<std::size_t>(feature)], static_cast<float>(expected))
        << feature_catalogue()[static_cast<std::size_t>(feature)].name;
  }
};

constexpr Window k20 = Window::k20Updates;
constexpr Window k100 = Window::k100Updates;
constexpr Window k500 = Window::k500Updates;
constexpr Window k1s = Window::k1Second;
constexpr Window k10s = Window::k10Seconds;

TEST(FeatureValues, FlowReadsItsOwnWindows) {
  const WindowedInputs in;
  const auto flow = [&](Window window) {
    return in.sum(window, Summand::kOrderFlow) * in.count(window) /
           in.sum(window, Summand::kBestDepth);
  };
  in.expect(Feature::kTopDepthRatio500, 11 * in.count(k500) / in.sum(k500, Summand::kTopDepth));
  in.expect(Feature::kOrderFlow1, 7 * in.count(k100) / in.sum(k100, Summand::kBestDepth));
  in.expect(Feature::kOrderFlow20, flow(k20));
  in.expect(Feature::kOrderFlow100, flow(k100));
  in.expect(Feature::kOrderFlow1s, flow(k1s));
  const double refill = in.sum(k100, Summand::kRefill);
  const double by_cancels = in.sum(k100, Summand::kCancelDepletion);
  const double by_trades = in.sum(k100, Summand::kTradeDepletion);
  in.expect(Feature::kQueueRefill100,
            (refill - by_cancels - by_trades) / (refill + by_cancels + by_trades));
  in.expect(Feature::kQueueTradeShare100, by_trades / (by_cancels + by_trades));
}

TEST(FeatureValues, VolatilityReadsItsOwnWindows) {
  const WindowedInputs in;
  const auto squares = [&](Window window) { return in.sum(window, Summand::kSquaredMove); };
  in.expect(Feature::kMidMove20, in.sum(k20, Summand::kMove) / 2);
  in.expect(Feature::kMidMove100, in.sum(k100, Summand::kMove) / 2);
  in.expect(Feature::kMidMove1s, in.sum(k1s, Summand::kMove) / 2);
  in.expect(Feature::kRealisedVolatility20, std::sqrt(squares(k20)) / 2);
  in.expect(Feature::kRealisedVolatility500, std::sqrt(squares(k500)) / 2);
  in.expect(Feature::kRealisedVolatility10s, std::sqrt(squares(k10s)) / 2);
  in.expect(Feature::kVolatilityBurst,
            std::sqrt(squares(k20) / in.count(k20) / (squares(k500) / in.count(k500))));
  in.expect(Feature::kVolatilityBurst1s, std::sqrt(10 * squares(k1s) / squares(k10s)));
}

TEST(FeatureValues, ActivityReadsItsOwnWindows) {
  const WindowedInputs in;
  const double bought = in.sum(k100, Summand::kBoughtVolume);
  const double sold = in.sum(k100, Summand::kSoldVolume);
  in.expect(Feature::kTradeImbalance100, (bought - sold) / (bought + sold));
  in.expect(Feature::kSignedVolume1s,
            (in.sum(k1s, Summand::kBoughtVolume) - in.sum(k1s, Summand::kSoldVolume)) *
                in.count(k1s) / in.sum(k1s, Summand::kBestDepth));
  const double mean = in.sum(k500, Summand::kCappedVolume) / in.count(k500);
  const double variance = in.sum(k500, Summand::kSquaredVolume) / in.count(k500) - mean * mean;
  in.expect(Feature::kVolumeAnomaly, (in.sum(k20, Summand::kCappedVolume) - in.count(k20) * mean) /
                                         std::sqrt(variance * in.count(k20)));
  in.expect(Feature::kTradeRate1s, in.sum(k1s, Summand::kTrades));
  in.expect(Feature::kArrivalRate1s, in.sum(k1s, Summand::kArrivals));
  in.expect(Feature::kCancelRate1s, in.sum(k1s, Summand::kCancels));
  const double cancels = in.sum(k10s, Summand::kCancels);
  in.expect(Feature::kCancelShare10s, cancels / (cancels + in.sum(k10s, Summand::kArrivals)));
  in.expect(Feature::kUpdateRateBurst, 10 * in.count(k1s) / in.count(k10s));
}

}  // namespace
}  // namespace tocsin
