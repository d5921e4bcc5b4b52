// What the last trades tell: one-sided volume, the spread they imply and pay, how their signs
// follow each other, how fast they come.
#include <algorithm>
#include <cmath>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

double mean(std::int64_t sum, std::uint64_t count) noexcept {
  return ratio(static_cast<double>(sum), static_cast<double>(count));
}

// From trades weighted by e^-age: at the start of the cell, and within it.
double intensity(WideInteger before, std::int64_t in_cell, double decay) noexcept {
  constexpr double kUnit = 4294967296.0;  // 2^32
  const double at_cell_start = to_double(before) / (kUnit * kUnit);
  return (at_cell_start + static_cast<double>(in_cell) / kUnit) * decay;
}

}  // namespace

void form_bucket_feature(const BucketSums& sums, FeatureValues& values) noexcept {
  values.set(Feature::kVpin50,
             ratio(static_cast<double>(sums.imbalance), static_cast<double>(sums.volume)));
}

void form_trade_features(const TradeSums& sums, FeatureValues& values) noexcept {
  const auto moves = static_cast<WideInteger>(sums.move_pairs);
  const WideInteger covariance =
      moves * sums.move_product - WideInteger{sums.move} * sums.previous_move;
  const double per_pair = ratio(to_double(-covariance), to_double(moves * moves));
  values.set(Feature::kRollSpread100, std::sqrt(std::max(per_pair, 0.0)));

  const auto n = static_cast<std::int64_t>(sums.sign_pairs);
  const std::int64_t product = n * sums.sign_product - sums.sign * sums.previous_sign;
  const std::int64_t square = n * sums.sign_square - sums.sign * sums.sign;
  const std::int64_t previous_square =
      n * sums.previous_sign_square - sums.previous_sign * sums.previous_sign;
  values.set(Feature::kTradeSignAutocorrelation100,
             ratio(static_cast<double>(product),
                   std::sqrt(static_cast<double>(square) * static_cast<double>(previous_square))));

  // Twice a distance in half ticks is that distance in ticks.
  values.set(Feature::kEffectiveSpread100, mean(sums.effective, sums.spread_count));
  values.set(Feature::kRealisedSpread100, mean(sums.realised, sums.realised_count));
  values.set(Feature::kPriceImpact100,
             mean(sums.realised_effective - sums.realised, sums.realised_count));
}

void form_intensity_features(const IntensitySums& sums, FeatureValues& values) noexcept {
  const double decay = portable_exp(-static_cast<double>(sums.within_cell_ns) * 1e-9);
  const double bought = intensity(sums.bought, sums.cell_bought, decay);
  const double sold = intensity(sums.sold, sums.cell_sold, decay);
  values.set(Feature::kBuyIntensity, bought);
  values.set(Feature::kSellIntensity, sold);
  values.set(Feature::kIntensityImbalance, ratio(bought - sold, bought + sold));
}

}  // namespace tocsin
