// Bars of one second of exchange time: moves of the mid and volume; sums over the last minute, and
// against another instrument's bars.
#pragma once

#include <array>
#include <cstdint>

#include "features/feature_inputs.h"

namespace tocsin {

// What a bar's absolute return is a unit of turnover, as Amihud's measure has it: relative move a
// million of the quote currency at the bar's last mid; 0 where nothing traded or no mid is
// positive.
struct BarScale {
  std::int64_t price_tick_nanos = 1;
  std::int64_t quantity_step_nanos = 1;
};
double bar_illiquidity(const SecondBar& bar, const BarScale& scale) noexcept;

class SecondBars {
 public:
  explicit SecondBars(const BarScale& scale) noexcept : scale_(scale) {}

  // Once an update, measured. A jump of time leaves bars behind in which nothing happened; `leader`
  // may be null.
  void on_update(const StatisticsUpdate& update, const FeatureInputs& inputs,
                 const SecondBars* leader) noexcept;

  const BarSums& sums() const noexcept { return sums_; }
  const LeaderSums& leader_sums() const noexcept { return leader_sums_; }
  // The move of the mid in a bar, half ticks: so far, if it is not over; 0 of what is not kept.
  std::int64_t move_of(std::int64_t bar_number) const noexcept;

 private:
  static constexpr std::int64_t kKept = 128;
  static_assert(kKept > static_cast<std::int64_t>(kBarWindow + kLeadLags) + 1);
  struct Running {
    std::int64_t move = 0;
    std::int64_t bought = 0;
    std::int64_t sold = 0;
    std::int64_t unsided = 0;
    std::int64_t mid_half_ticks = 0;
  };

  SecondBar& bar(std::int64_t number) noexcept {
    return bars_[static_cast<std::size_t>(number & (kKept - 1))];
  }
  const SecondBar& bar(std::int64_t number) const noexcept {
    return bars_[static_cast<std::size_t>(number & (kKept - 1))];
  }
  void start(std::int64_t number) noexcept;
  void advance(std::int64_t number) noexcept;
  void sum_bars() noexcept;
  void sum_leader(const SecondBars& leader) noexcept;

  BarScale scale_;
  std::array<SecondBar, kKept> bars_{};  // a ring, by bar number
  Running running_;
  std::int64_t first_ = 0;   // number of the first bar since the start of time
  std::int64_t number_ = 0;  // of the bar at hand
  bool started_ = false;
  BarSums sums_;
  LeaderSums leader_sums_;
};

}  // namespace tocsin
