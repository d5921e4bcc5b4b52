// The naive twin of FeatureEngine for tests: keeps the whole history of a stream and recomputes
// each window from it. Shares with the engine only the formation of values from integers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "events/instrument.h"
#include "features/feature_inputs.h"
#include "features/feature_values.h"
#include "features/naive_statistics_twin.h"
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

  // Compares with another instrument from now on; it must outlive this twin.
  void follow(const NaiveFeatureTwin& leader) { leader_ = &leader; }

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
    inputs.quantity_step_nanos = instrument_.quantity_step_nanos;
    const NaiveStatistics statistics(instrument_, updates_);
    const LevelFlowSums level_flow = statistics.level_flow();
    const TradeSums trades = statistics.trades();
    const BucketSums buckets = statistics.buckets();
    const IntensitySums intensity = statistics.intensity();
    const BarSums bars = statistics.bars();
    const LeaderSums leader = leader_sums_of_newest();
    inputs.statistics = {update.bids, update.asks, &level_flow, &trades,
                         &buckets,    &intensity,  &bars,       &leader};
    FeatureValues values;
    form_features(inputs, FeatureNeeds::all(), values);
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
    std::int64_t bought_count = 0;
    std::int64_t sold_count = 0;
    std::int64_t price_nanos = 0;
  };
  static constexpr std::int64_t kNoMid = INT64_MIN;
  struct LeaderNote {
    bool compared = false;             // since time started
    std::size_t own_newest = 0;        // the update that ended the last bar
    std::size_t leader_count = 0;      // the leader's updates at that time
    std::size_t leader_count_now = 0;  // and now
  };

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
    Traded all{steps(saturated(bought)), steps(saturated(sold)), steps(saturated(unsided)), count};
    all.bought_count = update.changes.ask.executions;
    all.sold_count = update.changes.bid.executions;
    for (const MarketEvent& print : update.prints) {
      all.price_nanos = print.price_nanos;
      all.bought_count += print.side == Side::kBid ? 1 : 0;
      all.sold_count += print.side == Side::kAsk ? 1 : 0;
    }
    if (update.changes.executed_price_nanos != 0)
      all.price_nanos = update.changes.executed_price_nanos;
    return all;
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
    const std::int64_t sign = volumes.bought > volumes.sold   ? 1
                              : volumes.bought < volumes.sold ? -1
                                                              : 0;
    updates_.push_back({.now_ns = clock.now_ns,
                        .start = clock.restarted_at,
                        .has_mid = mid != kNoMid,
                        .mid = mid,
                        .move = record[Summand::kMove],
                        .trades = volumes.count,
                        .sign = sign,
                        .traded = {volumes.bought, volumes.sold, volumes.unsided,
                                   volumes.bought_count, volumes.sold_count, volumes.price_nanos},
                        .bids = update.bids,
                        .asks = update.asks});
    note_leader();
  }

  // Where a bar has just ended: how far the leader had come by then.
  void note_leader() {
    LeaderNote note = leader_notes_.empty() ? LeaderNote{} : leader_notes_.back();
    const NaiveUpdate& now = updates_.back();
    const std::int64_t bar = floor_quotient(now.now_ns, kBarNs);
    const bool starts = now.start == updates_.size() - 1;
    if (starts) note = {};
    if (leader_ != nullptr) {
      const bool ends_bar =
          !starts && floor_quotient(updates_[updates_.size() - 2].now_ns, kBarNs) != bar;
      if (ends_bar) note.compared = true;
      if (ends_bar) note.own_newest = updates_.size() - 1;
      if (ends_bar) note.leader_count = leader_->updates_.size();
      note.leader_count_now = leader_->updates_.size();
    }
    leader_notes_.push_back(note);
  }

  std::int64_t leader_move(std::int64_t bar, std::size_t update_count) const {
    if (update_count == 0) return 0;
    return NaiveStatistics(leader_->instrument_, leader_->updates_).bar(bar, update_count - 1).move;
  }

  LeaderSums leader_sums_of_newest() const {
    LeaderSums sums;
    const LeaderNote& note = leader_notes_.back();
    if (leader_ == nullptr) return sums;
    const NaiveStatistics own(instrument_, updates_);
    const std::int64_t bar = own.bar_of(updates_.size() - 1);
    sums.recent_move =
        leader_move(bar, note.leader_count_now) + leader_move(bar - 1, note.leader_count_now);
    if (!note.compared) return sums;
    const std::int64_t ended = own.bar_of(note.own_newest);
    const std::int64_t first = own.bar_of(updates_[note.own_newest].start);
    const auto add = [](CrossSums& cross, std::int64_t mine, std::int64_t theirs) {
      cross.own += mine;
      cross.other += theirs;
      cross.own_square += mine * mine;
      cross.other_square += theirs * theirs;
      cross.product += mine * theirs;
    };
    for (std::int64_t n = std::max(first, ended - static_cast<std::int64_t>(kBarWindow)); n < ended;
         ++n) {
      ++sums.bar_count;
      for (std::size_t i = 0; i < kLeadLags; ++i) {
        const std::int64_t shifted = n - static_cast<std::int64_t>(i) - 1;
        const std::size_t last = note.own_newest - 1;
        add(sums.leading[i], own.bar(n, last).move, leader_move(shifted, note.leader_count));
        add(sums.lagging[i], own.bar(shifted, last).move, leader_move(n, note.leader_count));
      }
    }
    return sums;
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
  std::vector<NaiveUpdate> updates_;
  std::vector<LeaderNote> leader_notes_;
  const NaiveFeatureTwin* leader_ = nullptr;
};

}  // namespace tocsin::testing
