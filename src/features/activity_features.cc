// Trades, their volume against what is usual, and how fast orders come and go.
#include <cmath>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

// How many deviations the volume of the short window lies above what as many updates of the long
// window have on average: (S - k m) / (s sqrt(k)) with mean m = V / n and variance
// s^2 = (n Q - V^2) / n^2, all multiplied by n so that only integers come in.
double volume_anomaly(const FeatureInputs& inputs) noexcept {
  const auto n = static_cast<WideInteger>(inputs.update_count(Window::k500Updates));
  const auto k = static_cast<WideInteger>(inputs.update_count(Window::k20Updates));
  const WideInteger total = inputs.sum<Window::k500Updates, Summand::kCappedVolume>();
  const WideInteger recent = inputs.sum<Window::k20Updates, Summand::kCappedVolume>();
  const WideInteger squares = inputs.sum<Window::k500Updates, Summand::kSquaredVolume>();
  const WideInteger excess = n * recent - k * total;
  const WideInteger variance = n * squares - total * total;
  return ratio(to_double(excess), std::sqrt(to_double(k * variance)));
}

}  // namespace

void form_activity_features(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  values.set(Feature::kTradeSign, inputs.trade_sign);
  const auto bought =
      static_cast<double>(inputs.sum<Window::k100Updates, Summand::kBoughtVolume>());
  const auto sold = static_cast<double>(inputs.sum<Window::k100Updates, Summand::kSoldVolume>());
  values.set(Feature::kTradeImbalance100, ratio(bought - sold, bought + sold));
  const std::int64_t signed_volume = inputs.sum<Window::k1Second, Summand::kBoughtVolume>() -
                                     inputs.sum<Window::k1Second, Summand::kSoldVolume>();
  const auto updates_1s = static_cast<double>(inputs.update_count(Window::k1Second));
  const auto depth_1s = static_cast<double>(inputs.sum<Window::k1Second, Summand::kBestDepth>());
  values.set(Feature::kSignedVolume1s,
             ratio(static_cast<double>(signed_volume) * updates_1s, depth_1s));
  values.set(Feature::kVolumeAnomaly, volume_anomaly(inputs));

  const auto trades_1s = inputs.sum<Window::k1Second, Summand::kTrades>();
  const auto arrivals_1s = inputs.sum<Window::k1Second, Summand::kArrivals>();
  const auto cancels_1s = inputs.sum<Window::k1Second, Summand::kCancels>();
  values.set(Feature::kTradeRate1s, static_cast<double>(trades_1s));
  values.set(Feature::kArrivalRate1s, static_cast<double>(arrivals_1s));
  values.set(Feature::kCancelRate1s, static_cast<double>(cancels_1s));
  const auto cancels = static_cast<double>(inputs.sum<Window::k10Seconds, Summand::kCancels>());
  const auto arrivals = static_cast<double>(inputs.sum<Window::k10Seconds, Summand::kArrivals>());
  values.set(Feature::kCancelShare10s, ratio(cancels, cancels + arrivals));
  values.set(Feature::kUpdateRateBurst,
             10.0 * updates_1s / static_cast<double>(inputs.update_count(Window::k10Seconds)));
}

}  // namespace tocsin
