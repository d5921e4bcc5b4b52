// Order flow at the best levels, over several windows, and what becomes of their queues.
#include <algorithm>

#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

// `flow` in units of the window's mean depth of both best levels together.
template <Window kWindow>
double per_mean_depth(std::int64_t flow, const FeatureInputs& inputs) noexcept {
  return ratio(static_cast<double>(flow) * static_cast<double>(inputs.update_count(kWindow)),
               static_cast<double>(inputs.sum<kWindow, Summand::kBestDepth>()));
}

template <Window kWindow>
double order_flow(const FeatureInputs& inputs) noexcept {
  return per_mean_depth<kWindow>(inputs.sum<kWindow, Summand::kOrderFlow>(), inputs);
}

// What the best level of a side gained or lost, relative to the larger of before and now.
double queue_change(const BestLevel& before, const BestLevel& now, bool improved) noexcept {
  if (before.quantity_nanos == 0) return 0.0;
  if (before.price_nanos != now.price_nanos) return improved ? 1.0 : -1.0;
  return difference(now.quantity_nanos, before.quantity_nanos) /
         static_cast<double>(std::max(now.quantity_nanos, before.quantity_nanos));
}

}  // namespace

void form_flow_features(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  values.set(Feature::kOrderFlow1,
             per_mean_depth<Window::k100Updates>(inputs.update[Summand::kOrderFlow], inputs));
  values.set(Feature::kOrderFlow20, order_flow<Window::k20Updates>(inputs));
  values.set(Feature::kOrderFlow100, order_flow<Window::k100Updates>(inputs));
  values.set(Feature::kOrderFlow1s, order_flow<Window::k1Second>(inputs));

  const BestLevels& before = inputs.previous_best;
  const BestLevels& now = inputs.best;
  values.set(Feature::kBidQueueChange,
             queue_change(before.bid, now.bid, now.bid.price_nanos > before.bid.price_nanos));
  values.set(Feature::kAskQueueChange,
             queue_change(before.ask, now.ask, now.ask.price_nanos < before.ask.price_nanos));
  const auto refill = static_cast<double>(inputs.sum<Window::k100Updates, Summand::kRefill>());
  const auto by_cancels =
      static_cast<double>(inputs.sum<Window::k100Updates, Summand::kCancelDepletion>());
  const auto by_trades =
      static_cast<double>(inputs.sum<Window::k100Updates, Summand::kTradeDepletion>());
  const double depletion = by_cancels + by_trades;
  values.set(Feature::kQueueRefill100, ratio(refill - depletion, refill + depletion));
  values.set(Feature::kQueueTradeShare100, ratio(by_trades, depletion));
}

}  // namespace tocsin
