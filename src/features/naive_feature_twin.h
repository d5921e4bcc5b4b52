// The naive twin of FeatureEngine for tests: keeps the whole history of a stream and recomputes
// each window from it. Shares with the engine only the formation of values from integers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "events/instrument.h"
#include "features/feature_inputs.h"
#include "features/feature_values.h"
#include "features/order_book.h"

namespace tocsin::testing {

class NaiveFeatureTwin {
 public:
  NaiveFeatureTwin(const Instrument& instrument, std::size_t window_updates_max)
      : instrument_(instrument), window_updates_max_(window_updates_max) {}

  void on_event(const MarketEvent& event) {
    if (event.quality.has(Quality::kDuplicate) || event.quality.has(Quality::kOutOfOrder)) return;
    pending_.time_ns = event.exchange_time_ns;
    if (event.kind == EventKind::kTrade && event.quantity_nanos > 0)
      pending_.prints.push_back(event);
  }

  void complete_update(const OrderBook& book) {
    const auto bids = book.top(Side::kBid);
    const auto asks = book.top(Side::kAsk);
    pending_.bids.assign(bids.begin(), bids.end());
    pending_.asks.assign(asks.begin(), asks.end());
    pending_.changes = book.changes();
    history_.push_back(pending_);
    pending_.prints.clear();
    digest_newest();
  }

  std::uint64_t update_count() const { return history_.size(); }
  const std::vector<UpdateRecord>& records() const { return records_; }

  // Of the newest update, from the whole history. Both sides of its book must be there.
  FeatureValues values() {
    FeatureInputs inputs;
    const std::size_t newest = history_.size() - 1;
    const Update& update = history_[newest];
    inputs.price_tick_nanos = instrument_.price_tick_nanos;
    inputs.best = {best_of(update.bids), best_of(update.asks)};
    if (newest > 0) {
      inputs.previous_best = {best_of(history_[newest - 1].bids),
                              best_of(history_[newest - 1].asks)};
      inputs.since_update_ns = since(clock_[newest - 1].now_ns, update.time_ns);
    }
    inputs.bid_depth = depth_of(update.bids);
    inputs.ask_depth = depth_of(update.asks);
    inputs.update = records_[newest];
    inputs.mid_range_half_ticks = mid_range();
    const std::int64_t now_ns = clock_[newest].now_ns;
    for (std::size_t i = newest + 1; i-- > 0;) {
      if (records_[i][Summand::kTrades] == 0) continue;
      inputs.since_trade_ns = since(clock_[i].now_ns, now_ns);
      const std::int64_t bought = records_[i][Summand::kBoughtVolume];
      const std::int64_t sold = records_[i][Summand::kSoldVolume];
      inputs.trade_sign = static_cast<int>(bought > sold) - static_cast<int>(bought < sold);
      break;
    }
    constexpr std::int64_t kDay = 86'400'000'000'000;
    inputs.time_of_day_ns = (now_ns % kDay + kDay) % kDay;
    const AllWindows all = windows();
    inputs.windows = &all;
    FeatureValues values;
    form_features(inputs, values);
    return values;
  }

  // Every window of the newest update, summed anew.
  AllWindows windows() const {
    AllWindows all;
    const std::size_t newest = history_.size() - 1;
    const Clock& now = clock_[newest];
    for (std::size_t w = 0; w < kWindowCount; ++w) {
      WindowSums& window = all[w];
      window.first_update = newest + 1;
      for (std::size_t i = newest + 1; i-- > 0;) {
        const bool inside = w < kWindowUpdates.size()
                                ? newest - i < kWindowUpdates[w]
                                : i >= now.restarted_at && newest - i < window_updates_max_ &&
                                      since(clock_[i].now_ns, now.now_ns) <
                                          kWindowDurationNs[w - kWindowUpdates.size()];
        if (!inside) break;
        for (std::size_t s = 0; s < kSummandCount; ++s) {
          if (keeps(static_cast<Window>(w), static_cast<Summand>(s))) {
            window.sums[s] += records_[i].summands[s];
          }
        }
        window.first_update = i;
        ++window.update_count;
      }
    }
    return all;
  }

 private:
  struct Update {
    std::int64_t time_ns = 0;
    std::vector<BookLevel> bids;
    std::vector<BookLevel> asks;
    BookChanges changes;
    std::vector<MarketEvent> prints;
  };
  struct Clock {
    std::int64_t now_ns = 0;
    std::size_t restarted_at = 0;  // number of the first update after the last restart
  };
  struct Traded {
    std::int64_t bought = 0;  // steps
    std::int64_t sold = 0;
    std::int64_t unsided = 0;
    std::int64_t count = 0;
  };
  static constexpr std::int64_t kNoMid = INT64_MIN;

  static std::uint64_t since(std::int64_t then_ns, std::int64_t now_ns) {
    return then_ns >= now_ns
               ? 0
               : static_cast<std::uint64_t>(static_cast<WideInteger>(now_ns) - then_ns);
  }
  static BestLevel best_of(const std::vector<BookLevel>& levels) {
    if (levels.empty()) return {};
    return {levels.front().price_nanos, levels.front().quantity_nanos};
  }
  static SideDepth depth_of(const std::vector<BookLevel>& levels) {
    SideDepth depth;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (i < 5) depth.best_5_nanos += levels[i].quantity_nanos;
      depth.best_10_nanos += levels[i].quantity_nanos;
      depth.deepest_price_nanos = levels[i].price_nanos;
    }
    return depth;
  }
  std::int64_t steps(WideInteger nanos, std::int64_t limit = kQuantityStepsMax) const {
    return static_cast<std::int64_t>(
        std::min<WideInteger>(nanos / instrument_.quantity_step_nanos, limit));
  }

  Traded traded(const Update& update) const {
    WideInteger bought = update.changes.ask.executed_nanos;
    WideInteger sold = update.changes.bid.executed_nanos;
    WideInteger unsided = 0;
    for (const MarketEvent& print : update.prints) {
      (print.side == Side::kBid   ? bought
       : print.side == Side::kAsk ? sold
                                  : unsided) += print.quantity_nanos;
    }
    const auto count = static_cast<std::int64_t>(update.prints.size()) +
                       update.changes.bid.executions + update.changes.ask.executions;
    const auto saturated = [](WideInteger sum) { return std::min<WideInteger>(sum, INT64_MAX); };
    return {steps(saturated(bought)), steps(saturated(sold)), steps(saturated(unsided)), count};
  }

  bool changed_book(std::size_t i) const {
    const BookChanges& changes = history_[i].changes;
    for (const SideChanges& side : {changes.bid, changes.ask}) {
      if (side.additions + side.cancels + side.executions > 0) return true;
    }
    const std::vector<BookLevel> none;
    return !(best_of(history_[i].bids) == best_of(i > 0 ? history_[i - 1].bids : none)) ||
           !(best_of(history_[i].asks) == best_of(i > 0 ? history_[i - 1].asks : none));
  }

  // Traded against `side` since the last update before `i` that changed the book.
  std::int64_t waiting(std::size_t i, Side side) const {
    std::int64_t sum = 0;
    for (std::size_t j = i + 1; j-- > 0;) {
      if (j < i && changed_book(j)) break;
      const Traded volumes = traded(history_[j]);
      sum = std::min(sum + (side == Side::kBid ? volumes.sold : volumes.bought), kQuantityStepsMax);
    }
    return sum;
  }

  // Cont, Kukanov and Stoikov's e_n for one side, with indicator functions as in the paper.
  std::int64_t side_flow(Side side, const BestLevel& before, const BestLevel& now) const {
    const bool had = before.quantity_nanos > 0;
    const bool has = now.quantity_nanos > 0;
    const std::int64_t sign = side == Side::kBid ? 1 : -1;
    const std::int64_t price_before = sign * before.price_nanos;
    const std::int64_t price_now = sign * now.price_nanos;
    const bool not_worse = has && (!had || price_now >= price_before);
    const bool not_better = had && (!has || price_now <= price_before);
    return (not_worse ? steps(now.quantity_nanos) : 0) -
           (not_better ? steps(before.quantity_nanos) : 0);
  }

  void add_queue(std::size_t i, Side side, UpdateRecord& record) const {
    const std::vector<BookLevel> none;
    const auto& before_levels = i == 0               ? none
                                : side == Side::kBid ? history_[i - 1].bids
                                                     : history_[i - 1].asks;
    const BestLevel before = best_of(before_levels);
    const BestLevel now = best_of(side == Side::kBid ? history_[i].bids : history_[i].asks);
    const std::int64_t flow = side_flow(side, before, now);
    record[Summand::kOrderFlow] += side == Side::kBid ? flow : -flow;
    record[Summand::kBestDepth] += steps(now.quantity_nanos);
    record[Summand::kRefill] += std::max<std::int64_t>(flow, 0);
    const std::int64_t depletion = std::max<std::int64_t>(-flow, 0);
    const std::int64_t by_trades = std::min(depletion, waiting(i, side));
    record[Summand::kTradeDepletion] += by_trades;
    record[Summand::kCancelDepletion] += depletion - by_trades;
  }

  // The record of the newest update; the history's older ones do not change anymore.
  void digest_newest() {
    const std::size_t i = history_.size() - 1;
    const Update& update = history_[i];
    Clock clock = i == 0 ? Clock{update.time_ns, 0} : clock_.back();
    if (update.time_ns >= clock.now_ns) {
      clock.now_ns = update.time_ns;
    } else if (since(update.time_ns, clock.now_ns) > kWindowDurationNs.back()) {
      clock = {update.time_ns, i};
    }
    clock_.push_back(clock);

    UpdateRecord record{};
    record.time_ns = clock.now_ns;
    std::int64_t mid = i == 0 ? kNoMid : mids_.back();
    if (!update.bids.empty() && !update.asks.empty()) {
      const std::int64_t sum = update.bids[0].price_nanos + update.asks[0].price_nanos;
      const std::int64_t tick = instrument_.price_tick_nanos;
      const std::int64_t remainder = (sum % tick + tick) % tick;
      const std::int64_t before = mid;
      mid = (sum - remainder) / tick;
      if (before != kNoMid) {
        const auto move = static_cast<std::int64_t>(
            std::clamp<WideInteger>(WideInteger{mid} - before, -kMoveMax, kMoveMax));
        record[Summand::kMove] = move;
        record[Summand::kSquaredMove] = move * move;
      }
    }
    mids_.push_back(mid);
    add_queue(i, Side::kBid, record);
    add_queue(i, Side::kAsk, record);
    record[Summand::kTopDepth] =
        steps(depth_of(update.bids).best_10_nanos + depth_of(update.asks).best_10_nanos,
              2 * kQuantityStepsMax);
    const Traded volumes = traded(update);
    const std::int64_t capped =
        std::min(volumes.bought + volumes.sold + volumes.unsided, kCappedVolumeMax);
    record[Summand::kBoughtVolume] = volumes.bought;
    record[Summand::kSoldVolume] = volumes.sold;
    record[Summand::kCappedVolume] = capped;
    record[Summand::kSquaredVolume] = capped * capped;
    record[Summand::kTrades] = volumes.count;
    record[Summand::kArrivals] =
        std::int64_t{update.changes.bid.additions} + update.changes.ask.additions;
    record[Summand::kCancels] =
        std::int64_t{update.changes.bid.cancels} + update.changes.ask.cancels;
    records_.push_back(record);
  }

  std::uint64_t mid_range() const {
    std::int64_t greatest = INT64_MIN;
    std::int64_t least = INT64_MAX;
    for (std::size_t n = 0; n < kMidRangeUpdates && n < mids_.size(); ++n) {
      const std::int64_t mid = mids_[mids_.size() - 1 - n];
      if (mid == kNoMid) break;
      greatest = std::max(greatest, mid);
      least = std::min(least, mid);
    }
    return greatest < least ? 0 : static_cast<std::uint64_t>(WideInteger{greatest} - least);
  }

  Instrument instrument_;
  std::size_t window_updates_max_;
  Update pending_;
  std::vector<Update> history_;
  std::vector<Clock> clock_;
  std::vector<std::int64_t> mids_;  // half ticks; kNoMid before the first
  std::vector<UpdateRecord> records_;
};

}  // namespace tocsin::testing
