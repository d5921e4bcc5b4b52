// The integers that features are formed from. Whoever has the same integers gets the same bits: the
// rolling state and a recomputation from the whole history meet in this struct.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "features/statistic_inputs.h"

namespace tocsin {

// What is summed over windows, one value an update. In such an order that what each window sums
// lies side by side: see kWindowColumns.
enum class Summand : std::uint8_t {
  kTopDepth,         // steps, the best ten levels of both sides
  kSquaredVolume,    // kCappedVolume squared
  kCappedVolume,     // steps, whatever the aggressor did, at most kCappedVolumeMax
  kSquaredMove,      // half ticks squared
  kArrivals,         // count of orders or level increases
  kCancels,          // count of cancels or level decreases
  kTrades,           // count
  kMove,             // of the mid, half ticks
  kOrderFlow,        // steps; Cont, Kukanov and Stoikov's e_n
  kBestDepth,        // steps, both best levels
  kBoughtVolume,     // steps; the aggressor bought
  kSoldVolume,       // steps; the aggressor sold
  kRefill,           // steps that joined the best levels
  kCancelDepletion,  // steps that left the best levels untraded
  kTradeDepletion,   // steps that left the best levels by trades
};
inline constexpr std::size_t kSummandCount = 15;
using SummandValues = std::array<std::int64_t, kSummandCount>;

// Bounds that make every sum exact for as long as the stream runs: each summand lies within +-2^47
// and a window holds at most 2^16 updates, so that its sums lie within +-2^63. A window's sum is
// changed only by adding what enters and taking off what leaves; nothing accumulates over days.
inline constexpr std::int64_t kMoveMax = std::int64_t{1} << 23;           // half ticks
inline constexpr std::int64_t kQuantityStepsMax = std::int64_t{1} << 45;  // of one quantity
inline constexpr std::int64_t kCappedVolumeMax = std::int64_t{1} << 23;
inline constexpr std::size_t kWindowUpdatesMax = std::size_t{1} << 16;

// No initializers: a ring of records is not touched before it is used, and so costs no memory.
struct UpdateRecord {
  std::int64_t time_ns;  // never falls from one record to the next, but where time restarts
  SummandValues summands;

  std::int64_t& operator[](Summand summand) noexcept {
    return summands[static_cast<std::size_t>(summand)];
  }
  std::int64_t operator[](Summand summand) const noexcept {
    return summands[static_cast<std::size_t>(summand)];
  }
  friend bool operator==(const UpdateRecord&, const UpdateRecord&) = default;
};
static_assert(std::is_trivial_v<UpdateRecord> && sizeof(UpdateRecord) == 128);

// The newest update is in every window. A window of time holds what is younger than its length.
enum class Window : std::uint8_t { k20Updates, k100Updates, k500Updates, k1Second, k10Seconds };
inline constexpr std::size_t kWindowCount = 5;
inline constexpr std::array<std::uint64_t, 3> kWindowUpdates = {20, 100, 500};
inline constexpr std::array<std::uint64_t, 2> kWindowDurationNs = {1'000'000'000, 10'000'000'000};

// The summands a window keeps, from `first` on: no feature needs the others, and each costs time.
struct Columns {
  std::size_t first;
  std::size_t count;
};
constexpr Columns columns_between(Summand first, Summand last) noexcept {
  const auto from = static_cast<std::size_t>(first);
  return {from, static_cast<std::size_t>(last) - from + 1};
}
inline constexpr std::array<Columns, kWindowCount> kWindowColumns = {
    columns_between(Summand::kCappedVolume, Summand::kBestDepth),
    columns_between(Summand::kMove, Summand::kTradeDepletion),
    columns_between(Summand::kTopDepth, Summand::kSquaredMove),
    columns_between(Summand::kCappedVolume, Summand::kSoldVolume),
    columns_between(Summand::kCappedVolume, Summand::kCancels),
};
constexpr bool keeps(Window window, Summand summand) noexcept {
  const Columns columns = kWindowColumns[static_cast<std::size_t>(window)];
  const auto column = static_cast<std::size_t>(summand);
  return column >= columns.first && column < columns.first + columns.count;
}

inline constexpr std::size_t kMidRangeUpdates = 100;

struct WindowSums {
  SummandValues sums{};            // zero outside the window's columns
  std::uint64_t first_update = 0;  // number of the oldest update in the window
  std::uint64_t update_count = 0;
  friend bool operator==(const WindowSums&, const WindowSums&) = default;
};
using AllWindows = std::array<WindowSums, kWindowCount>;

struct BestLevel {
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;  // 0: the side is empty
  friend bool operator==(const BestLevel&, const BestLevel&) = default;
};
struct BestLevels {
  BestLevel bid;
  BestLevel ask;
  friend bool operator==(const BestLevels&, const BestLevels&) = default;
};

// Of the best levels of one side.
struct SideDepth {
  std::int64_t deepest_price_nanos = 0;  // of the tenth level, or the last before it
  WideInteger best_5_nanos = 0;
  WideInteger best_10_nanos = 0;
  friend bool operator==(const SideDepth&, const SideDepth&) = default;
};

// What an update's trades were; to be read only where its record counts trades.
struct UpdateTrades {
  std::int64_t bought_steps = 0;  // the aggressor bought
  std::int64_t sold_steps = 0;
  std::int64_t unsided_steps = 0;
  std::int64_t bought_count = 0;
  std::int64_t sold_count = 0;
  std::int64_t price_nanos = 0;  // of the last trade; 0: not known
  friend bool operator==(const UpdateTrades&, const UpdateTrades&) = default;
};

struct FeatureInputs {
  std::int64_t price_tick_nanos = 1;
  std::int64_t quantity_step_nanos = 1;
  BestLevels best;
  BestLevels previous_best;  // after the update before
  SideDepth bid_depth;
  SideDepth ask_depth;
  UpdateRecord update{};
  std::uint64_t mid_range_half_ticks = 0;  // greatest less least mid of the last kMidRangeUpdates
  std::uint64_t since_trade_ns = 0;        // 0 before the first
  std::uint64_t since_update_ns = 0;       // 0 at the first
  std::int64_t time_of_day_ns = 0;         // UTC, or as the feed's day goes where it has no date
  int trade_sign = 0;                      // of the last update with trades
  UpdateTrades trades;
  StatisticInputs statistics;
  const AllWindows* windows = nullptr;  // not owned

  std::uint64_t update_count(Window window) const noexcept {
    return (*windows)[static_cast<std::size_t>(window)].update_count;
  }
  // Only what the window keeps can be asked for.
  template <Window kWindow, Summand kSummand>
  std::int64_t sum() const noexcept {
    static_assert(keeps(kWindow, kSummand));
    return (*windows)[static_cast<std::size_t>(kWindow)].sums[static_cast<std::size_t>(kSummand)];
  }
};

}  // namespace tocsin
