// A trade at t in a cell that begins at c weighs e^(t - c); at the start k of a later cell that is
// times e^-(k - c), and at a time u in it e^-(u - k) comes last. Sums of integers all the way.
#include "features/trade_intensity.h"

#include <algorithm>

#include "features/portable_math.h"

namespace tocsin {
namespace {

constexpr double kUnit = 4294967296.0;  // 2^32

std::int64_t rounded(double value) noexcept { return static_cast<std::int64_t>(value + 0.5); }

}  // namespace

std::int64_t growth_within_cell(std::int64_t within_cell_ns) noexcept {
  return rounded(portable_exp(static_cast<double>(within_cell_ns) * 1e-9) * kUnit);
}

std::int64_t decay_over_cells(std::size_t cell_count) noexcept {
  constexpr double kCellSeconds = static_cast<double>(kIntensityCellNs) * 1e-9;
  return rounded(portable_exp(-kCellSeconds * static_cast<double>(cell_count)) * kUnit);
}

TradeIntensity::TradeIntensity() noexcept {
  for (std::size_t i = 0; i < kIntensityCells; ++i) decay_[i] = decay_over_cells(i);
}

void TradeIntensity::begin_cell(std::int64_t number) noexcept {
  constexpr auto kCells = static_cast<std::int64_t>(kIntensityCells);
  const std::int64_t first_new = std::max(cell_number_ + 1, number - kCells + 1);
  const auto place = [](std::int64_t cell) {
    return static_cast<std::size_t>(cell & (kCells - 1));
  };
  for (std::int64_t cell = first_new; cell <= number; ++cell) cells_[place(cell)] = {};
  cell_number_ = number;
  sums_ = {};
  for (std::int64_t age = 1; age < kCells; ++age) {
    const Cell& cell = cells_[place(number - age)];
    const std::int64_t weight = decay_[static_cast<std::size_t>(age)];
    sums_.bought += WideInteger{cell.bought} * weight;
    sums_.sold += WideInteger{cell.sold} * weight;
  }
}

void TradeIntensity::on_update(const StatisticsUpdate& update,
                               const FeatureInputs& inputs) noexcept {
  const std::int64_t number = floor_quotient(update.now_ns, kIntensityCellNs);
  if (!started_ || update.time_restarted) {
    started_ = true;
    cells_ = {};
    cell_number_ = number;
    sums_ = {};
  } else if (number != cell_number_) {
    begin_cell(number);
  }
  sums_.within_cell_ns = floor_remainder(update.now_ns, kIntensityCellNs);
  if (inputs.update[Summand::kTrades] == 0) return;
  const std::int64_t weight = growth_within_cell(sums_.within_cell_ns);
  Cell& cell = cells_[static_cast<std::size_t>(number) & (kIntensityCells - 1)];
  const auto add = [weight](std::int64_t& sum, std::int64_t count) {
    sum = std::min(sum + weight * std::min(count, kIntensityTradesMax), kIntensityCellMax);
  };
  add(cell.bought, inputs.trades.bought_count);
  add(cell.sold, inputs.trades.sold_count);
  sums_.cell_bought = cell.bought;
  sums_.cell_sold = cell.sold;
}

}  // namespace tocsin
