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
  // Levels below the best: level_features.cc.
  kOrderFlowLevel2,
  kOrderFlowLevel3,
  kOrderFlowLevel4,
  kOrderFlowLevel5,
  kOrderFlowLevels5,
  kDepthSlope10,
  // The last trades: trade_features.cc.
  kVpin50,
  kRollSpread100,
  kTradeSignAutocorrelation100,
  kEffectiveSpread100,
  kRealisedSpread100,
  kPriceImpact100,
  kBuyIntensity,
  kSellIntensity,
  kIntensityImbalance,
  // Bars of a second: bar_features.cc.
  kKyleLambda60s,
  kAmihud60s,
  kRealisedVariance60s,
  kBipowerVariation60s,
  kJumpStatistic60s,
  // Against the instrument's leader: bar_features.cc.
  kLeaderMove,
  kLeaderCorrelation60s,
  kLeadLagBalance60s,
};
inline constexpr std::size_t kFeatureCount = 63;
static_assert(static_cast<std::size_t>(Feature::kLeadLagBalance60s) + 1 == kFeatureCount);
// Up to the features of time: formed from the update, its windows and the clock alone. The others
// keep a state of their own, which costs memory and time only where a schema names them.
inline constexpr std::size_t kStandardFeatureCount = 40;
static_assert(static_cast<std::size_t>(Feature::kTimeOfDayCosine) + 1 == kStandardFeatureCount);
static_assert(kFeatureCount <= kMaxFrameFeatures);

// What is formed, and kept up, together.
enum class FeatureFamily : std::uint8_t {
  kBook,
  kFlow,
  kVolatility,
  kActivity,
  kTime,
  kLevelFlow,
  kSlope,
  kBuckets,
  kTrades,
  kIntensity,
  kBars,
  kLeader,
};
inline constexpr std::size_t kFamilyCount = 12;

constexpr FeatureFamily family_of(Feature feature) noexcept {
  constexpr Feature kLast[kFamilyCount] = {
      Feature::kTopDepthRatio500,  Feature::kQueueTradeShare100,
      Feature::kVolatilityBurst1s, Feature::kUpdateRateBurst,
      Feature::kTimeOfDayCosine,   Feature::kOrderFlowLevels5,
      Feature::kDepthSlope10,      Feature::kVpin50,
      Feature::kPriceImpact100,    Feature::kIntensityImbalance,
      Feature::kJumpStatistic60s,  Feature::kLeadLagBalance60s};
  std::size_t family = 0;
  while (feature > kLast[family]) ++family;
  return static_cast<FeatureFamily>(family);
}

// A set of families.
class FeatureNeeds {
 public:
  constexpr void add(FeatureFamily family) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | (1U << static_cast<unsigned>(family)));
  }
  constexpr bool has(FeatureFamily family) const noexcept {
    return (bits_ >> static_cast<unsigned>(family) & 1U) != 0;
  }
  // Whether any family keeps a state of its own.
  constexpr bool any_statistic() const noexcept {
    return bits_ >> static_cast<unsigned>(FeatureFamily::kLevelFlow) != 0;
  }
  static constexpr FeatureNeeds all() noexcept {
    FeatureNeeds needs;
    for (std::size_t i = 0; i < kFamilyCount; ++i) needs.add(static_cast<FeatureFamily>(i));
    return needs;
  }

 private:
  std::uint16_t bits_ = 0;
};

struct FeatureValues {
  std::array<float, kFeatureCount> values;

  void set(Feature feature, double value) noexcept {
    values[static_cast<std::size_t>(feature)] = static_cast<float>(value);
  }
};

// Both sides of the book must be there. Sets the values of the families needed; those of families
// whose statistics are null are left as they are.
void form_features(const FeatureInputs& inputs, FeatureNeeds needs, FeatureValues& values) noexcept;

// One family each.
void form_book_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_flow_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_volatility_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_activity_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_time_features(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_level_flow_features(const LevelFlowSums& sums, FeatureValues& values) noexcept;
void form_slope_feature(const FeatureInputs& inputs, FeatureValues& values) noexcept;
void form_bucket_feature(const BucketSums& sums, FeatureValues& values) noexcept;
void form_trade_features(const TradeSums& sums, FeatureValues& values) noexcept;
void form_intensity_features(const IntensitySums& sums, FeatureValues& values) noexcept;
void form_bar_features(const BarSums& sums, FeatureValues& values) noexcept;
void form_leader_features(const LeaderSums& sums, FeatureValues& values) noexcept;

}  // namespace tocsin
