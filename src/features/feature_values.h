// The catalogue's features by name and place, and the one way from integers to their values.
// A new feature: a line here, one in feature_catalogue.cc, one in the family that forms it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "events/feature_frame.h"
#include "features/feature_inputs.h"

namespace tocsin {

// In the order of feature_catalogue().
enum class Feature : std::uint16_t {
  // The book now: book_features.cc.
  kMid,
  kSpread,
  kMicroPriceOffset,
  kDepthImbalance1,
  kDepthImbalance5,
  kDepthImbalance10,
  kDepthDistance10,
  kBestSizeShare10,
  kTopDepthRatio500,
  // Order flow and queues: flow_features.cc.
  kOrderFlow1,
  kOrderFlow20,
  kOrderFlow100,
  kOrderFlow1s,
  kBidQueueChange,
  kAskQueueChange,
  kQueueRefill100,
  kQueueTradeShare100,
  // Moves of the mid: volatility_features.cc.
  kMidMove1,
  kMidMove20,
  kMidMove100,
  kMidMove1s,
  kMidRange100,
  kRealisedVolatility20,
  kRealisedVolatility500,
  kRealisedVolatility10s,
  kVolatilityBurst,
  kVolatilityBurst1s,
  // Trades and activity: activity_features.cc.
  kTradeSign,
  kTradeImbalance100,
  kSignedVolume1s,
  kVolumeAnomaly,
  kTradeRate1s,
  kArrivalRate1s,
  kCancelRate1s,
  kCancelShare10s,
  kUpdateRateBurst,
  // Time: time_features.cc.
  kTimeSinceTrade,
  kTimeSinceUpdate,
  kTimeOfDaySine,
  kTimeOfDayCosine,
};
inline constexpr std::size_t kFeatureCount = 40;
static_assert(static_cast<std::size_t>(Feature::kTimeOfDayCosine) + 1 == kFeatureCount);
static_assert(kFeatureCount <= kMaxFrameFeatures);

struct FeatureValues {
  std::array<float, kFeatureCount> values;

  void set(Feature feature, double value) noexcept {
    values[static_cast<std::size_t>(feature)] = static_cast<float>(value);
  }
};

// Both sides of the book must be there. Sets every value.
void form_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;

// One family each.
void form_book_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_flow_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_volatility_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_activity_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_time_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;

}  // namespace tocsin
