// What bars of a second tell: price impact, variation and jumps, and who moves first.
#include <algorithm>
#include <cmath>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

constexpr double kHalfPi = 1.5707963267948966;
constexpr double kJumpVariance = 0.6089937538621326;  // pi^2 / 4 + pi - 5

// The squared correlation's numerator and denominator come from integers; 0 where a series stands
// still.
double correlation(const CrossSums& sums, std::int64_t n) noexcept {
  const std::int64_t product = n * sums.product - sums.own * sums.other;
  const std::int64_t own = n * sums.own_square - sums.own * sums.own;
  const std::int64_t other = n * sums.other_square - sums.other * sums.other;
  return ratio(static_cast<double>(product),
               std::sqrt(static_cast<double>(own) * static_cast<double>(other)));
}

}  // namespace

void form_bar_features(const BarSums& sums, FeatureValues& values) noexcept {
  const WideInteger n = sums.bar_count;
  const WideInteger covariance = n * sums.move_signed - WideInteger{sums.move} * sums.signed_volume;
  const WideInteger variance =
      n * sums.signed_square - WideInteger{sums.signed_volume} * sums.signed_volume;
  values.set(Feature::kKyleLambda60s, ratio(to_double(covariance), 2.0 * to_double(variance)));
  values.set(Feature::kAmihud60s, ratio(sums.illiquidity, static_cast<double>(sums.traded_bars)));

  // In half ticks; a quarter of each is in ticks.
  const double realised = to_double(sums.move_square);
  const double bipower = kHalfPi * to_double(sums.bipower);
  const double count = static_cast<double>(sums.bar_count);
  const double quadpower = count * (kHalfPi * kHalfPi) * to_double(sums.quadpower);
  values.set(Feature::kRealisedVariance60s, realised / 4.0);
  values.set(Feature::kBipowerVariation60s, bipower / 4.0);
  const double scale = std::max(1.0, ratio(quadpower, bipower * bipower));
  const double jump = realised == 0.0 ? 0.0 : 1.0 - bipower / realised;
  values.set(Feature::kJumpStatistic60s,
             count == 0.0 ? 0.0 : jump / std::sqrt(kJumpVariance / count * scale));
}

void form_leader_features(const LeaderSums& sums, FeatureValues& values) noexcept {
  double leading = 0.0;
  double lagging = 0.0;
  for (std::size_t i = 0; i < kLeadLags; ++i) {
    const double ahead = correlation(sums.leading[i], sums.bar_count);
    const double behind = correlation(sums.lagging[i], sums.bar_count);
    leading += ahead * ahead;
    lagging += behind * behind;
  }
  values.set(Feature::kLeaderMove, static_cast<double>(sums.recent_move) / 2.0);
  values.set(Feature::kLeaderCorrelation60s, correlation(sums.leading[0], sums.bar_count));
  values.set(Feature::kLeadLagBalance60s, ratio(leading - lagging, leading + lagging));
}

}  // namespace tocsin
