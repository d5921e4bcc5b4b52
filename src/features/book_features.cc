// Features of the book as it stands: prices, sizes, imbalance, depth.
#include "features/feature_values.h"
#include "features/portable_math.h"

namespace tocsin {
namespace {

double imbalance(WideInteger bid_nanos, WideInteger ask_nanos) noexcept {
  return to_double(bid_nanos - ask_nanos) / to_double(bid_nanos + ask_nanos);
}

}  // namespace

void form_book_features(const FeatureInputs& inputs, FeatureValues& values) noexcept {
  const auto tick = static_cast<double>(inputs.price_tick_nanos);
  const BestLevel& bid = inputs.best.bid;
  const BestLevel& ask = inputs.best.ask;
  const double spread = difference(ask.price_nanos, bid.price_nanos) / tick;
  const double best_imbalance = imbalance(bid.quantity_nanos, ask.quantity_nanos);
  values.set(Feature::kMid, static_cast<double>(bid.price_nanos + ask.price_nanos) / (2.0 * tick));
  values.set(Feature::kSpread, spread);
  // (ask * bid quantity + bid * ask quantity) / sum of both, less the mid.
  values.set(Feature::kMicroPriceOffset, spread * best_imbalance / 2.0);
  values.set(Feature::kDepthImbalance1, best_imbalance);
  values.set(Feature::kDepthImbalance5,
             imbalance(inputs.bid_depth.best_5_nanos, inputs.ask_depth.best_5_nanos));
  values.set(Feature::kDepthImbalance10,
             imbalance(inputs.bid_depth.best_10_nanos, inputs.ask_depth.best_10_nanos));

  const double bid_distance = difference(bid.price_nanos, inputs.bid_depth.deepest_price_nanos);
  const double ask_distance = difference(inputs.ask_depth.deepest_price_nanos, ask.price_nanos);
  values.set(Feature::kDepthDistance10, (bid_distance + ask_distance) / (2.0 * tick));
  const WideInteger best_nanos = WideInteger{bid.quantity_nanos} + ask.quantity_nanos;
  const WideInteger top_nanos = inputs.bid_depth.best_10_nanos + inputs.ask_depth.best_10_nanos;
  values.set(Feature::kBestSizeShare10, to_double(best_nanos) / to_double(top_nanos));
  const auto top_depth_sum = inputs.sum<Window::k500Updates, Summand::kTopDepth>();
  values.set(Feature::kTopDepthRatio500,
             ratio(static_cast<double>(inputs.update[Summand::kTopDepth]) *
                       static_cast<double>(inputs.update_count(Window::k500Updates)),
                   static_cast<double>(top_depth_sum)));
}

}  // namespace tocsin
