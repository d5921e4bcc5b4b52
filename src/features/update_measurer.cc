// One update in integers. Divisions by tick and step are made where a value changed, not each time.
#include "features/update_measurer.h"

#include <algorithm>

#include "features/portable_math.h"

namespace tocsin {
namespace {

void add_saturating(std::int64_t& sum, std::int64_t value) noexcept {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

BestLevel best_of(const OrderBook& book, Side side) noexcept {
  const auto top = book.top(side);
  return top.empty() ? BestLevel{} : BestLevel{top[0].price_nanos, top[0].quantity_nanos};
}

SideDepth depth_of(std::span<const BookLevel> top) noexcept {
  SideDepth depth;
  for (std::size_t i = 0; i < top.size(); ++i) {
    if (i == 5) depth.best_5_nanos = depth.best_10_nanos;
    depth.best_10_nanos += top[i].quantity_nanos;
  }
  if (top.size() <= 5) depth.best_5_nanos = depth.best_10_nanos;
  if (!top.empty()) depth.deepest_price_nanos = top.back().price_nanos;
  return depth;
}

bool is_changed(const BookChanges& changes) noexcept {
  const auto any = [](const SideChanges& side) {
    return (side.additions | side.cancels | side.executions) != 0;
  };
  return any(changes.bid) || any(changes.ask);
}

}  // namespace

UpdateMeasurer::UpdateMeasurer(const Instrument& instrument)
    : price_tick_nanos_(std::max<std::int64_t>(instrument.price_tick_nanos, 1)),
      quantity_step_nanos_(std::max<std::int64_t>(instrument.quantity_step_nanos, 1)) {}

void UpdateMeasurer::on_trade(const MarketEvent& event) noexcept {
  if (event.quantity_nanos <= 0) return;
  ++prints_.count;
  prints_.price_nanos = event.price_nanos;
  if (event.side == Side::kBid) {
    ++prints_.bought_count;
    add_saturating(prints_.bought_nanos, event.quantity_nanos);
  } else if (event.side == Side::kAsk) {
    ++prints_.sold_count;
    add_saturating(prints_.sold_nanos, event.quantity_nanos);
  } else {
    add_saturating(prints_.unsided_nanos, event.quantity_nanos);
  }
}

std::int64_t UpdateMeasurer::steps(std::int64_t quantity_nanos) const noexcept {
  if (quantity_nanos == 0) return 0;
  return std::min(quantity_nanos / quantity_step_nanos_, kQuantityStepsMax);
}

void UpdateMeasurer::measure_mid(const BestLevels& best, UpdateRecord& record) noexcept {
  if (best.bid.quantity_nanos == 0 || best.ask.quantity_nanos == 0) return;
  const std::int64_t mid_x2_nanos = best.bid.price_nanos + best.ask.price_nanos;
  if (has_mid_ && mid_x2_nanos == mid_x2_nanos_) return;
  const std::int64_t half_ticks = floor_quotient(mid_x2_nanos, price_tick_nanos_);
  if (has_mid_) {
    const std::int64_t move = capped_move(half_ticks, mid_half_ticks_);
    record[Summand::kMove] = move;
    record[Summand::kSquaredMove] = move * move;
  }
  has_mid_ = true;
  mid_x2_nanos_ = mid_x2_nanos;
  mid_half_ticks_ = half_ticks;
}

void UpdateMeasurer::measure_depth(const OrderBook& book, FeatureInputs& inputs) const noexcept {
  inputs.bid_depth = depth_of(book.top(Side::kBid));
  inputs.ask_depth = depth_of(book.top(Side::kAsk));
  const WideInteger total = inputs.bid_depth.best_10_nanos + inputs.ask_depth.best_10_nanos;
  // A division of 128 bits is slow and hardly ever needed.
  const auto low = static_cast<std::int64_t>(total);
  const WideInteger total_steps =
      total == low ? WideInteger{low / quantity_step_nanos_} : total / quantity_step_nanos_;
  inputs.update[Summand::kTopDepth] =
      static_cast<std::int64_t>(std::min<WideInteger>(total_steps, 2 * kQuantityStepsMax));
}

UpdateMeasurer::BestChange UpdateMeasurer::change_of(Side side, const BestLevel& before,
                                                     const BestLevel& now) const noexcept {
  if (before == now) return {};
  const std::int64_t steps_before = steps(before.quantity_nanos);
  const std::int64_t steps_now = steps(now.quantity_nanos);
  // A side that is empty counts as worse than any price.
  const bool was_empty = before.quantity_nanos == 0;
  const bool is_empty = now.quantity_nanos == 0;
  const bool higher = now.price_nanos > before.price_nanos;
  const bool lower = now.price_nanos < before.price_nanos;
  if (was_empty || (!is_empty && (side == Side::kBid ? higher : lower))) {
    return {.order_flow = steps_now, .refill = steps_now, .depletion = 0};
  }
  if (is_empty || higher || lower) {
    return {.order_flow = -steps_before, .refill = 0, .depletion = steps_before};
  }
  const std::int64_t grown = steps_now - steps_before;
  return {.order_flow = grown,
          .refill = std::max<std::int64_t>(grown, 0),
          .depletion = std::max<std::int64_t>(-grown, 0)};
}

void UpdateMeasurer::take_depletion(const BestChange& change, std::int64_t& waiting_traded,
                                    UpdateRecord& record) noexcept {
  const std::int64_t by_trades = std::min(change.depletion, waiting_traded);
  record[Summand::kRefill] += change.refill;
  record[Summand::kTradeDepletion] += by_trades;
  record[Summand::kCancelDepletion] += change.depletion - by_trades;
}

void UpdateMeasurer::measure_best(const OrderBook& book, FeatureInputs& inputs) noexcept {
  inputs.previous_best = best_;
  best_ = {best_of(book, Side::kBid), best_of(book, Side::kAsk)};
  inputs.best = best_;
  UpdateRecord& record = inputs.update;
  const BestChange bid = change_of(Side::kBid, inputs.previous_best.bid, best_.bid);
  const BestChange ask = change_of(Side::kAsk, inputs.previous_best.ask, best_.ask);
  record[Summand::kOrderFlow] = bid.order_flow - ask.order_flow;
  record[Summand::kBestDepth] = steps(best_.bid.quantity_nanos) + steps(best_.ask.quantity_nanos);
  take_depletion(bid, waiting_traded_steps_[0], record);
  take_depletion(ask, waiting_traded_steps_[1], record);
  if (is_changed(book.changes()) || inputs.previous_best != best_) waiting_traded_steps_ = {};
}

void UpdateMeasurer::measure_trades(const BookChanges& changes, FeatureInputs& inputs) noexcept {
  UpdateRecord& record = inputs.update;
  record[Summand::kArrivals] =
      std::int64_t{changes.bid.additions} + std::int64_t{changes.ask.additions};
  record[Summand::kCancels] = std::int64_t{changes.bid.cancels} + std::int64_t{changes.ask.cancels};
  const std::int64_t trades =
      prints_.count + std::int64_t{changes.bid.executions} + std::int64_t{changes.ask.executions};
  if (trades > 0) {
    add_saturating(prints_.bought_nanos, changes.ask.executed_nanos);
    add_saturating(prints_.sold_nanos, changes.bid.executed_nanos);
    const std::int64_t bought = steps(prints_.bought_nanos);
    const std::int64_t sold = steps(prints_.sold_nanos);
    const std::int64_t unsided = steps(prints_.unsided_nanos);
    const std::int64_t capped = std::min(bought + sold + unsided, kCappedVolumeMax);
    inputs.trades = {.bought_steps = bought,
                     .sold_steps = sold,
                     .unsided_steps = unsided,
                     .bought_count = prints_.bought_count + std::int64_t{changes.ask.executions},
                     .sold_count = prints_.sold_count + std::int64_t{changes.bid.executions},
                     .price_nanos = changes.executed_price_nanos != 0 ? changes.executed_price_nanos
                                                                      : prints_.price_nanos};
    record[Summand::kTrades] = trades;
    record[Summand::kBoughtVolume] = bought;
    record[Summand::kSoldVolume] = sold;
    record[Summand::kCappedVolume] = capped;
    record[Summand::kSquaredVolume] = capped * capped;
    trade_sign_ = bought > sold ? 1 : bought < sold ? -1 : 0;
    for (const auto& [waiting, volume] : {std::pair(&waiting_traded_steps_[0], sold),
                                          std::pair(&waiting_traded_steps_[1], bought)}) {
      *waiting = std::min(*waiting + volume, kQuantityStepsMax);
    }
    prints_ = {};
  }
  inputs.trade_sign = trade_sign_;
}

void UpdateMeasurer::measure(const OrderBook& book, FeatureInputs& inputs) noexcept {
  inputs.price_tick_nanos = price_tick_nanos_;
  inputs.quantity_step_nanos = quantity_step_nanos_;
  inputs.update = {};
  measure_trades(book.changes(), inputs);
  measure_best(book, inputs);
  measure_depth(book, inputs);
  measure_mid(inputs.best, inputs.update);
}

}  // namespace tocsin
