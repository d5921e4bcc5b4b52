// Order flow below the best level, and how steeply the book's depth rises.
#include <cmath>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

double per_mean_depth(std::int64_t flow, std::int64_t depth, std::uint64_t count) noexcept {
  return ratio(static_cast<double>(flow) * static_cast<double>(count), static_cast<double>(depth));
}

// Næs and Skjeltorp's elasticity of one side. p_0 is the mid, p_i the price of level i, v_i the
// logarithm of all steps up to it: (v_1 / |p_1 / p_0 - 1| + the sum over i of
// (v_i+1 / v_i - 1) / |p_i+1 / p_i - 1|) / the number of levels.
double side_slope(std::span<const BookLevel> levels, double mid_nanos,
                  std::int64_t step_nanos) noexcept {
  WideInteger depth_nanos = 0;
  double previous_price = mid_nanos;
  double previous_log = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    depth_nanos += levels[i].quantity_nanos;
    const double steps = to_double(depth_nanos / step_nanos);
    const double log = steps < 1.0 ? 0.0 : portable_log(steps);
    const auto price = static_cast<double>(levels[i].price_nanos);
    const double distance = std::abs(ratio(price, previous_price) - 1.0);
    if (i == 0) {
      sum += ratio(log, distance);
    } else if (previous_log > 0.0) {
      sum += ratio(log / previous_log - 1.0, distance);
    }
    previous_price = price;
    previous_log = log;
  }
  return ratio(sum, static_cast<double>(levels.size()));
}

}  // namespace

void form_level_flow_features(const LevelFlowSums& sums, FeatureValues& values) noexcept {
  constexpr Feature kFeatures[] = {Feature::kOrderFlowLevel2, Feature::kOrderFlowLevel3,
                                   Feature::kOrderFlowLevel4, Feature::kOrderFlowLevel5};
  std::int64_t flow = sums.flow[0];
  std::int64_t depth = sums.depth[0];
  for (std::size_t i = 1; i < kFlowLevels; ++i) {
    values.set(kFeatures[i - 1], per_mean_depth(sums.flow[i], sums.depth[i], sums.update_count));
    flow += sums.flow[i];
    depth += sums.depth[i];
  }
  values.set(Feature::kOrderFlowLevels5, per_mean_depth(flow, depth, sums.update_count));
}

void form_slope_feature(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  const double mid_nanos =
      static_cast<double>(inputs.best.bid.price_nanos + inputs.best.ask.price_nanos) / 2.0;
  const double bid_slope =
      side_slope(inputs.statistics.bids, mid_nanos, inputs.quantity_step_nanos);
  const double ask_slope =
      side_slope(inputs.statistics.asks, mid_nanos, inputs.quantity_step_nanos);
  values.set(Feature::kDepthSlope10, (bid_slope + ask_slope) / 2.0);
}

}  // namespace tocsin
