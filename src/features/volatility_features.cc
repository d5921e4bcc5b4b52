// Moves of the mid over several horizons, realised volatility and its bursts. Sums count half
// ticks.
#include <cmath>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

double ticks(std::int64_t half_ticks) noexcept { return static_cast<double>(half_ticks) / 2.0; }

template <Window kWindow>
double move_ticks(const FeatureInputs& inputs) noexcept {
  return ticks(inputs.sum<kWindow, Summand::kMove>());
}

template <Window kWindow>
double squared_moves(const FeatureInputs& inputs) noexcept {
  return static_cast<double>(inputs.sum<kWindow, Summand::kSquaredMove>());
}

}  // namespace

void form_volatility_features(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  values.set(Feature::kMidMove1, ticks(inputs.update[Summand::kMove]));
  values.set(Feature::kMidMove20, move_ticks<Window::k20Updates>(inputs));
  values.set(Feature::kMidMove100, move_ticks<Window::k100Updates>(inputs));
  values.set(Feature::kMidMove1s, move_ticks<Window::k1Second>(inputs));
  values.set(Feature::kMidRange100, static_cast<double>(inputs.mid_range_half_ticks) / 2.0);
  const double squares_20 = squared_moves<Window::k20Updates>(inputs);
  const double squares_500 = squared_moves<Window::k500Updates>(inputs);
  const double squares_10s = squared_moves<Window::k10Seconds>(inputs);
  values.set(Feature::kRealisedVolatility20, std::sqrt(squares_20) / 2.0);
  values.set(Feature::kRealisedVolatility500, std::sqrt(squares_500) / 2.0);
  values.set(Feature::kRealisedVolatility10s, std::sqrt(squares_10s) / 2.0);

  // Mean squares: the short window's over the long one's.
  const auto count_20 = static_cast<double>(inputs.update_count(Window::k20Updates));
  const auto count_500 = static_cast<double>(inputs.update_count(Window::k500Updates));
  values.set(Feature::kVolatilityBurst,
             std::sqrt(ratio(squares_20 * count_500, squares_500 * count_20)));
  values.set(Feature::kVolatilityBurst1s,
             std::sqrt(ratio(10.0 * squared_moves<Window::k1Second>(inputs), squares_10s)));
}

}  // namespace tocsin
