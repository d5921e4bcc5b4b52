// Sums change with a trade or when one has grown a second old, and are copied only then.
#include "features/trade_series.h"

#include <algorithm>

#include "features/portable_math.h"

namespace tocsin {

void TradeSeries::realise(std::int64_t now_ns, std::int64_t mid_half_ticks) noexcept {
  while (first_waiting_ != next_waiting_) {
    const Waiting& trade = waiting_[first_waiting_ % kWaitingTradesMax];
    if (elapsed_ns(trade.time_ns, now_ns) < kRealisedAfterNs) return;
    ++first_waiting_;
    realised_.push(
        {trade.sign * capped_move(trade.price_half_ticks, mid_half_ticks), trade.effective});
    sums_.realised_count = realised_.count();
    sums_.realised = realised_.sum(0);
    sums_.realised_effective = realised_.sum(1);
  }
}

void TradeSeries::take_in(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept {
  const std::int64_t sign = inputs.trade_sign;
  if (++trade_count_ > 1) {
    signs_.push({sign, last_sign_, sign * last_sign_, sign * sign, last_sign_ * last_sign_});
    sums_.sign_pairs = signs_.count();
    sums_.sign = signs_.sum(0);
    sums_.previous_sign = signs_.sum(1);
    sums_.sign_product = signs_.sum(2);
    sums_.sign_square = signs_.sum(3);
    sums_.previous_sign_square = signs_.sum(4);
  }
  last_sign_ = sign;
  if (is_trade_price(inputs.trades.price_nanos)) take_price(update, inputs);
}

void TradeSeries::take_price(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept {
  const std::int64_t price = half_ticks_of(inputs.trades.price_nanos, inputs.price_tick_nanos);
  const std::int64_t move = price_count_ > 0 ? capped_move(price, last_price_half_ticks_) : 0;
  if (++price_count_ > 2) {
    moves_.push({move, last_move_, move * last_move_});
    sums_.move_pairs = moves_.count();
    sums_.move = moves_.sum(0);
    sums_.previous_move = moves_.sum(1);
    sums_.move_product = moves_.sum(2);
  }
  last_move_ = move;
  last_price_half_ticks_ = price;
  const std::int64_t sign = inputs.trade_sign;
  if (sign == 0 || !update.had_mid) return;
  const std::int64_t effective = sign * capped_move(price, update.mid_before_half_ticks);
  spreads_.push({effective});
  sums_.spread_count = spreads_.count();
  sums_.effective = spreads_.sum(0);
  if (next_waiting_ - first_waiting_ == kWaitingTradesMax) return;
  waiting_[next_waiting_ % kWaitingTradesMax] = {update.now_ns, price, sign, effective};
  ++next_waiting_;
}

void TradeSeries::on_update(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept {
  if (update.time_restarted) first_waiting_ = next_waiting_;
  if (first_waiting_ != next_waiting_) realise(update.now_ns, update.mid_before_half_ticks);
  if (inputs.update[Summand::kTrades] > 0) take_in(update, inputs);
}

}  // namespace tocsin
