// Time since things happened, compressed, and the time of day as an angle.
#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

double compressed(std::uint64_t duration_ns) noexcept {
  return piecewise_log2(1 + duration_ns / 1'000);
}

}  // namespace

void form_time_features(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  values.set(Feature::kTimeSinceTrade, compressed(inputs.since_trade_ns));
  values.set(Feature::kTimeSinceUpdate, compressed(inputs.since_update_ns));
  const SineCosine angle = day_angle(inputs.time_of_day_ns);
  values.set(Feature::kTimeOfDaySine, angle.sine);
  values.set(Feature::kTimeOfDayCosine, angle.cosine);
}

}  // namespace tocsin
