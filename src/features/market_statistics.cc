// Hands each update to the statistics that are there.
#include "features/market_statistics.h"

#include <algorithm>

namespace tocsin {

MarketStatistics::MarketStatistics(FeatureNeeds needs, const Instrument& instrument)
    : slope_(needs.has(FeatureFamily::kSlope)),
      leader_features_(needs.has(FeatureFamily::kLeader)),
      bar_features_(needs.has(FeatureFamily::kBars)) {
  const BarScale scale{
      .price_tick_nanos = std::max<std::int64_t>(instrument.price_tick_nanos, 1),
      .quantity_step_nanos = std::max<std::int64_t>(instrument.quantity_step_nanos, 1)};
  if (needs.has(FeatureFamily::kLevelFlow))
    level_flow_ = std::make_unique<LevelFlow>(scale.quantity_step_nanos);
  if (needs.has(FeatureFamily::kTrades)) trades_ = std::make_unique<TradeSeries>();
  if (needs.has(FeatureFamily::kBuckets)) buckets_ = std::make_unique<VolumeBuckets>();
  if (needs.has(FeatureFamily::kIntensity)) intensity_ = std::make_unique<TradeIntensity>();
  if (bar_features_ || leader_features_) bars_ = std::make_unique<SecondBars>(scale);
}

void MarketStatistics::on_update(const StatisticsUpdate& update, const OrderBook& book,
                                 FeatureInputs& inputs) noexcept {
  StatisticInputs& statistics = inputs.statistics;
  statistics = {};
  if (slope_) {
    statistics.bids = book.top(Side::kBid);
    statistics.asks = book.top(Side::kAsk);
  }
  if (level_flow_) {
    level_flow_->on_update(book);
    statistics.level_flow = &level_flow_->sums();
  }
  if (trades_) {
    trades_->on_update(update, inputs);
    statistics.trades = &trades_->sums();
  }
  if (buckets_) {
    if (inputs.update[Summand::kTrades] > 0) buckets_->on_trades(inputs.trades);
    statistics.buckets = &buckets_->sums();
  }
  if (intensity_) {
    intensity_->on_update(update, inputs);
    statistics.intensity = &intensity_->sums();
  }
  if (bars_) {
    bars_->on_update(update, inputs, leader_features_ ? leader_ : nullptr);
    if (bar_features_) statistics.bars = &bars_->sums();
    if (leader_features_) statistics.leader = &bars_->leader_sums();
  }
}

std::size_t MarketStatistics::memory_bytes() const noexcept {
  return sizeof(*this) + (level_flow_ ? sizeof(LevelFlow) : 0) +
         (trades_ ? sizeof(TradeSeries) : 0) + (buckets_ ? sizeof(VolumeBuckets) : 0) +
         (intensity_ ? sizeof(TradeIntensity) : 0) + (bars_ ? sizeof(SecondBars) : 0);
}

}  // namespace tocsin
