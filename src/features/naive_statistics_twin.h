// Naive recomputation of MarketStatistics' sums for tests: from the whole history of a stream, each
// time anew, by the words of docs/features.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "events/instrument.h"
#include "features/feature_inputs.h"
#include "features/portable_math.h"
#include "features/second_bars.h"
#include "features/trade_intensity.h"

namespace tocsin::testing {

// What one update left behind. `start` is the first update since time last started anew.
struct NaiveUpdate {
  std::int64_t now_ns = 0;
  std::size_t start = 0;
  bool has_mid = false;  // after the update
  std::int64_t mid = 0;  // half ticks
  std::int64_t move = 0;
  std::int64_t trades = 0;  // count
  std::int64_t sign = 0;
  UpdateTrades traded;
  std::vector<BookLevel> bids;
  std::vector<BookLevel> asks;
};

class NaiveStatistics {
 public:
  NaiveStatistics(const Instrument& instrument, const std::vector<NaiveUpdate>& history)
      : instrument_(instrument), history_(history), newest_(history.size() - 1) {}

  LevelFlowSums level_flow() const {
    LevelFlowSums sums;
    for (std::size_t n = 0; n < kFlowUpdates && n <= newest_; ++n) {
      const std::size_t i = newest_ - n;
      ++sums.update_count;
      for (std::size_t level = 0; level < kFlowLevels; ++level) {
        sums.flow[level] += flow(i, level, Side::kBid) - flow(i, level, Side::kAsk);
        sums.depth[level] += steps(level_of(i, level, Side::kBid).quantity_nanos) +
                             steps(level_of(i, level, Side::kAsk).quantity_nanos);
      }
    }
    return sums;
  }

  TradeSums trades() const {
    TradeSums sums;
    std::vector<std::size_t> all;     // newest last
    std::vector<std::size_t> priced;  // of them
    for (std::size_t i = 0; i <= newest_; ++i) {
      if (history_[i].trades == 0) continue;
      all.push_back(i);
      if (is_trade_price(history_[i].traded.price_nanos)) priced.push_back(i);
    }
    for (std::size_t k = all.size(); k-- > 1 && sums.sign_pairs < kTradeWindow;) {
      const std::int64_t sign = history_[all[k]].sign;
      const std::int64_t before = history_[all[k - 1]].sign;
      ++sums.sign_pairs;
      sums.sign += sign;
      sums.previous_sign += before;
      sums.sign_product += sign * before;
      sums.sign_square += sign * sign;
      sums.previous_sign_square += before * before;
    }
    for (std::size_t k = priced.size(); k-- > 2 && sums.move_pairs < kTradeWindow;) {
      const std::int64_t move = capped_move(price(priced[k]), price(priced[k - 1]));
      const std::int64_t before = capped_move(price(priced[k - 1]), price(priced[k - 2]));
      ++sums.move_pairs;
      sums.move += move;
      sums.previous_move += before;
      sums.move_product += move * before;
    }
    for (std::size_t k = priced.size(); k-- > 0 && sums.spread_count < kTradeWindow;) {
      if (!has_spread(priced[k])) continue;
      ++sums.spread_count;
      sums.effective += effective(priced[k]);
    }
    add_realised(sums);
    return sums;
  }

  BucketSums buckets() const {
    std::vector<std::int64_t> volumes;
    std::vector<std::pair<std::int64_t, std::int64_t>> full;  // imbalance, size
    std::int64_t size = 0;
    std::int64_t filled = 0;
    std::int64_t imbalance = 0;
    for (std::size_t i = 0; i <= newest_; ++i) {
      const UpdateTrades& traded = history_[i].traded;
      if (history_[i].trades == 0) continue;
      volumes.push_back(traded.bought_steps + traded.sold_steps + traded.unsided_steps);
      const std::pair<std::int64_t, std::int64_t> parts[] = {
          {traded.bought_steps, 1}, {traded.sold_steps, -1}, {traded.unsided_steps, 0}};
      for (auto [volume, sign] : parts) {
        while (volume > 0) {
          if (size == 0) size = bucket_size(volumes);
          const std::int64_t taken = std::min(volume, size - filled);
          volume -= taken;
          filled += taken;
          imbalance += sign * taken;
          if (filled < size) continue;
          full.emplace_back(std::abs(imbalance), size);
          size = filled = imbalance = 0;
        }
      }
    }
    BucketSums sums;
    for (std::size_t n = 0; n < kBucketWindow && n < full.size(); ++n) {
      sums.imbalance += full[full.size() - 1 - n].first;
      sums.volume += full[full.size() - 1 - n].second;
    }
    return sums;
  }

  IntensitySums intensity() const {
    const NaiveUpdate& now = history_[newest_];
    const std::int64_t cell = floor_quotient(now.now_ns, kIntensityCellNs);
    IntensitySums sums;
    sums.within_cell_ns = now.now_ns - cell * kIntensityCellNs;
    for (std::size_t i = now.start; i <= newest_; ++i) {
      const NaiveUpdate& update = history_[i];
      if (update.trades == 0) continue;
      const std::int64_t number = floor_quotient(update.now_ns, kIntensityCellNs);
      const std::int64_t growth = growth_within_cell(update.now_ns - number * kIntensityCellNs);
      const std::int64_t bought =
          growth * std::min(update.traded.bought_count, kIntensityTradesMax);
      const std::int64_t sold = growth * std::min(update.traded.sold_count, kIntensityTradesMax);
      if (number == cell) {
        sums.cell_bought += bought;
        sums.cell_sold += sold;
      } else if (cell - number < static_cast<std::int64_t>(kIntensityCells)) {
        const std::int64_t decay = decay_over_cells(static_cast<std::size_t>(cell - number));
        sums.bought += WideInteger{bought} * decay;
        sums.sold += WideInteger{sold} * decay;
      }
    }
    return sums;
  }

  BarSums bars() const {
    BarSums sums;
    const std::int64_t running = bar_of(newest_);
    const std::int64_t first = bar_of(history_[newest_].start);
    std::vector<SecondBar> window;
    for (std::int64_t n = std::max(first, running - static_cast<std::int64_t>(kBarWindow));
         n < running; ++n) {
      window.push_back(bar(n, newest_));
    }
    sums.bar_count = static_cast<std::int64_t>(window.size());
    const BarScale scale{instrument_.price_tick_nanos, instrument_.quantity_step_nanos};
    for (std::size_t i = 0; i < window.size(); ++i) {
      const auto size = [&](std::size_t back) -> WideInteger {
        return back > i ? 0 : std::abs(window[i - back].move);
      };
      const SecondBar& one = window[i];
      sums.move += one.move;
      sums.signed_volume += one.signed_volume;
      sums.move_square += WideInteger{one.move} * one.move;
      sums.signed_square += WideInteger{one.signed_volume} * one.signed_volume;
      sums.move_signed += WideInteger{one.move} * one.signed_volume;
      sums.bipower += size(0) * size(1);
      sums.quadpower += size(0) * size(1) * size(2) * size(3);
      if (one.volume == 0) continue;
      ++sums.traded_bars;
      sums.illiquidity += bar_illiquidity(one, scale);
    }
    return sums;
  }

  std::int64_t bar_of(std::size_t update) const {
    return floor_quotient(history_[update].now_ns, kBarNs);
  }

  // Of the updates up to `last`, as far back as bars are kept and time has not started anew.
  SecondBar bar(std::int64_t number, std::size_t last) const {
    WideInteger move = 0;
    WideInteger bought = 0;
    WideInteger sold = 0;
    WideInteger unsided = 0;
    SecondBar bar;
    bool is_last = true;
    for (std::size_t i = last + 1; i-- > history_[last].start;) {
      if (bar_of(i) < number) break;
      if (bar_of(i) > number) continue;
      const NaiveUpdate& update = history_[i];
      if (is_last && update.has_mid) bar.mid_half_ticks = update.mid;
      is_last = false;
      move += update.move;
      if (update.trades == 0) continue;
      bought += update.traded.bought_steps;
      sold += update.traded.sold_steps;
      unsided += update.traded.unsided_steps;
    }
    const auto capped = [](WideInteger value, std::int64_t limit) {
      return static_cast<std::int64_t>(std::clamp<WideInteger>(value, -limit, limit));
    };
    bar.move = capped(move, kMoveMax);
    bar.signed_volume = capped(bought - sold, kBarVolumeMax);
    bar.volume = capped(bought + sold + unsided, kBarVolumeMax);
    return bar;
  }

 private:
  static BookLevel level_of(const NaiveUpdate& update, std::size_t level, Side side) {
    const std::vector<BookLevel>& levels = side == Side::kBid ? update.bids : update.asks;
    return level < levels.size() ? levels[level] : BookLevel{};
  }
  BookLevel level_of(std::size_t update, std::size_t level, Side side) const {
    return level_of(history_[update], level, side);
  }
  std::int64_t steps(std::int64_t nanos) const {
    return std::min(nanos / instrument_.quantity_step_nanos, kQuantityStepsMax);
  }

  std::int64_t flow(std::size_t i, std::size_t level, Side side) const {
    const BookLevel now = level_of(i, level, side);
    const BookLevel before = i == 0 ? BookLevel{} : level_of(i - 1, level, side);
    const bool had = before.quantity_nanos > 0;
    const bool has = now.quantity_nanos > 0;
    const bool better =
        has && (!had || (side == Side::kBid ? now.price_nanos > before.price_nanos
                                            : now.price_nanos < before.price_nanos));
    const bool equal = had && has && now.price_nanos == before.price_nanos;
    if (better) return steps(now.quantity_nanos);
    if (equal) return steps(now.quantity_nanos) - steps(before.quantity_nanos);
    return -steps(before.quantity_nanos);
  }

  std::int64_t price(std::size_t i) const {
    return half_ticks_of(history_[i].traded.price_nanos, instrument_.price_tick_nanos);
  }
  bool has_spread(std::size_t i) const {
    return history_[i].sign != 0 && i > 0 && history_[i - 1].has_mid;
  }
  std::int64_t effective(std::size_t i) const {
    return history_[i].sign * capped_move(price(i), history_[i - 1].mid);
  }

  // Plays the queue of waiting trades: which of them found room depends on all before.
  void add_realised(TradeSums& sums) const {
    std::vector<std::size_t> waiting;
    std::vector<std::pair<std::int64_t, std::int64_t>> done;  // realised, effective
    for (std::size_t i = 0; i <= newest_; ++i) {
      if (i > 0 && history_[i].start == i) waiting.clear();
      std::size_t ripe = 0;
      while (ripe < waiting.size() &&
             WideInteger{history_[i].now_ns} - history_[waiting[ripe]].now_ns >=
                 static_cast<WideInteger>(kRealisedAfterNs)) {
        const std::size_t trade = waiting[ripe++];
        done.emplace_back(history_[trade].sign * capped_move(price(trade), history_[i - 1].mid),
                          effective(trade));
      }
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(ripe));
      const bool priced = history_[i].trades > 0 && is_trade_price(history_[i].traded.price_nanos);
      if (priced && has_spread(i) && waiting.size() < kWaitingTradesMax) waiting.push_back(i);
    }
    for (std::size_t k = done.size(); k-- > 0 && sums.realised_count < kTradeWindow;) {
      ++sums.realised_count;
      sums.realised += done[k].first;
      sums.realised_effective += done[k].second;
    }
  }

  static std::int64_t bucket_size(const std::vector<std::int64_t>& volumes) {
    const std::size_t count = std::min(volumes.size(), kBucketSizeTrades);
    WideInteger sum = 0;
    for (std::size_t n = 0; n < count; ++n) sum += volumes[volumes.size() - 1 - n];
    const WideInteger size = sum * kBucketTrades / static_cast<std::int64_t>(count);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(size));
  }

  Instrument instrument_;
  const std::vector<NaiveUpdate>& history_;
  std::size_t newest_;
};

}  // namespace tocsin::testing
