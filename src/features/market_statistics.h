// The statistics of one instrument that features ask for, and no others: what no schema names is
// neither held nor kept up.
#pragma once

#include <cstddef>
#include <memory>

#include "events/instrument.h"
#include "features/feature_inputs.h"
#include "features/feature_values.h"
#include "features/level_flow.h"
#include "features/order_book.h"
#include "features/second_bars.h"
#include "features/trade_intensity.h"
#include "features/trade_series.h"
#include "features/volume_buckets.h"

namespace tocsin {

class MarketStatistics {
 public:
  MarketStatistics(FeatureNeeds needs, const Instrument& instrument);

  // Once an update, after it was measured into `inputs`; leaves there where the sums are found.
  void on_update(const StatisticsUpdate& update, const OrderBook& book,
                 FeatureInputs& inputs) noexcept;
  // `leader` must outlive this.
  void follow(const MarketStatistics& leader) noexcept { leader_ = leader.bars_.get(); }
  std::size_t memory_bytes() const noexcept;

 private:
  bool slope_;
  bool leader_features_;
  bool bar_features_;
  std::unique_ptr<LevelFlow> level_flow_;
  std::unique_ptr<TradeSeries> trades_;
  std::unique_ptr<VolumeBuckets> buckets_;
  std::unique_ptr<TradeIntensity> intensity_;
  std::unique_ptr<SecondBars> bars_;
  const SecondBars* leader_ = nullptr;  // not owned
};

}  // namespace tocsin
