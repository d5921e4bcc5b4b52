// The integers behind the features that keep a state of their own: the last trades, buckets of
// volume, bars of a second, levels below the best. As in feature_inputs.h, the same integers give
// the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "features/order_book.h"

namespace tocsin {

// Sums of ten levels do not fit 64 bits.
using WideInteger = __int128;

// One update as the statistics see it, beside what was measured.
struct StatisticsUpdate {
  std::int64_t now_ns = 0;      // never falls but by a restart
  bool time_restarted = false;  // time has fallen by more than the longest window
  bool had_mid = false;         // before the update
  std::int64_t mid_before_half_ticks = 0;
  std::int64_t mid_half_ticks = 0;  // after it; 0: none yet
};

// Order flow and depth of the best levels over the last updates, level by level and together.
inline constexpr std::size_t kFlowLevels = 5;
inline constexpr std::size_t kFlowUpdates = 100;
struct LevelFlowSums {
  std::array<std::int64_t, kFlowLevels> flow{};   // steps; e of each level
  std::array<std::int64_t, kFlowLevels> depth{};  // steps, both sides
  std::uint64_t update_count = 0;
};

// A trade here is an update with trades: the price of its last, the sign of its net volume.
inline constexpr std::size_t kTradeWindow = 100;
inline constexpr std::size_t kWaitingTradesMax = 1024;
inline constexpr std::uint64_t kRealisedAfterNs = 1'000'000'000;
struct TradeSums {
  // Of the moves d from one trade's price to the next: each with the one before, half ticks.
  std::uint64_t move_pairs = 0;
  std::int64_t move = 0;
  std::int64_t previous_move = 0;
  std::int64_t move_product = 0;
  // Of the signs s, each with the one before.
  std::uint64_t sign_pairs = 0;
  std::int64_t sign = 0;
  std::int64_t previous_sign = 0;
  std::int64_t sign_product = 0;
  std::int64_t sign_square = 0;
  std::int64_t previous_sign_square = 0;
  // s (p - m) in half ticks, m the mid before the trade, of trades with a sign.
  std::uint64_t spread_count = 0;
  std::int64_t effective = 0;
  // The same trades kRealisedAfterNs later, with the mid of then in `realised`.
  std::uint64_t realised_count = 0;
  std::int64_t realised = 0;
  std::int64_t realised_effective = 0;
};

inline constexpr std::size_t kBucketWindow = 50;
inline constexpr std::size_t kBucketSizeTrades = 500;  // trades whose mean volume sizes a bucket
inline constexpr std::int64_t kBucketTrades = 50;      // mean trades a bucket
struct BucketSums {
  std::int64_t imbalance = 0;  // steps; |bought - sold| of the last buckets
  std::int64_t volume = 0;     // steps
};

// Trades weighted by e^-(age in seconds), in units of 2^-64.
struct IntensitySums {
  WideInteger bought = 0;  // up to the start of the cell of time at hand
  WideInteger sold = 0;
  std::int64_t cell_bought =
      0;  // since then, in units of 2^-32 and not yet decayed within the cell
  std::int64_t cell_sold = 0;
  std::int64_t within_cell_ns = 0;
};

inline constexpr std::int64_t kBarNs = 1'000'000'000;
inline constexpr std::size_t kBarWindow = 60;
inline constexpr std::int64_t kBarVolumeMax = std::int64_t{1} << 40;  // steps a bar
inline constexpr std::size_t kLeadLags = 5;

// What happened in one second.
struct SecondBar {
  std::int64_t move = 0;            // of the mid, half ticks, within +-kMoveMax once complete
  std::int64_t signed_volume = 0;   // steps, within +-kBarVolumeMax
  std::int64_t volume = 0;          // steps, at most kBarVolumeMax
  std::int64_t mid_half_ticks = 0;  // after its last update; 0: none yet
  friend bool operator==(const SecondBar&, const SecondBar&) = default;
};

// Sums over the last kBarWindow complete bars.
struct BarSums {
  std::int64_t bar_count = 0;
  std::int64_t move = 0;
  std::int64_t signed_volume = 0;
  WideInteger move_square = 0;
  WideInteger signed_square = 0;
  WideInteger move_signed = 0;
  WideInteger bipower = 0;    // |r_i| |r_i-1|
  WideInteger quadpower = 0;  // |r_i| |r_i-1| |r_i-2| |r_i-3|
  double illiquidity = 0.0;   // from the oldest bar to the newest
  std::int64_t traded_bars = 0;
};

// Sums of products of two series of bar moves, one shifted against the other.
struct CrossSums {
  std::int64_t own = 0;
  std::int64_t other = 0;
  std::int64_t own_square = 0;
  std::int64_t other_square = 0;
  std::int64_t product = 0;
};
struct LeaderSums {
  std::int64_t bar_count = 0;
  // [i]: the leader is i + 1 bars ahead of this instrument; the other way round in `lagging`.
  std::array<CrossSums, kLeadLags> leading{};
  std::array<CrossSums, kLeadLags> lagging{};
  std::int64_t recent_move = 0;  // of the leader, this bar and the one before; half ticks
};

// Null where no feature asks for it. Not owned.
struct StatisticInputs {
  std::span<const BookLevel> bids;  // the best ten
  std::span<const BookLevel> asks;
  const LevelFlowSums* level_flow = nullptr;
  const TradeSums* trades = nullptr;
  const BucketSums* buckets = nullptr;
  const IntensitySums* intensity = nullptr;
  const BarSums* bars = nullptr;
  const LeaderSums* leader = nullptr;
};

}  // namespace tocsin
