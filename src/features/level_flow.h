// Order flow of the best five levels, each by the rule of the best one; rolling sums in steps.
#pragma once

#include <array>
#include <cstdint>

#include "features/last_values.h"
#include "features/order_book.h"
#include "features/statistic_inputs.h"

namespace tocsin {

class LevelFlow {
 public:
  explicit LevelFlow(std::int64_t quantity_step_nanos) noexcept
      : quantity_step_nanos_(quantity_step_nanos) {}

  // Once an update, after its last event.
  void on_update(const OrderBook& book) noexcept;
  const LevelFlowSums& sums() const noexcept { return sums_; }

 private:
  struct Level {
    std::int64_t price_nanos = 0;
    std::int64_t quantity_nanos = 0;  // 0: no such level
    std::int64_t steps = 0;
  };
  using Levels = std::array<Level, kFlowLevels>;
  using Window = LastValues<2 * kFlowLevels, kFlowUpdates>;

  void take_side(Side side, std::span<const BookLevel> top, Window::Row& row) noexcept;

  std::int64_t quantity_step_nanos_;
  std::array<Levels, 2> levels_{};  // bids, asks
  Window window_;                   // flows, then depths
  LevelFlowSums sums_;
};

}  // namespace tocsin
