// Intensity of trades with an exponential kernel, exact: cells of time hold integer weights, so
// that nothing depends on how often it was asked.
#pragma once

#include <array>
#include <cstdint>

#include "features/feature_inputs.h"

namespace tocsin {

inline constexpr std::int64_t kIntensityCellNs = 250'000'000;
inline constexpr std::size_t kIntensityCells = 64;  // what is older (e^-16) counts as nothing
inline constexpr std::int64_t kIntensityTradesMax = std::int64_t{1} << 20;  // of a side, an update
inline constexpr std::int64_t kIntensityCellMax = std::int64_t{1} << 62;

// e^(seconds into its cell), and e^-(cells), in units of 2^-32.
std::int64_t growth_within_cell(std::int64_t within_cell_ns) noexcept;
std::int64_t decay_over_cells(std::size_t cell_count) noexcept;

class TradeIntensity {
 public:
  TradeIntensity() noexcept;

  // Once an update; time never falls but by a restart.
  void on_update(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept;
  const IntensitySums& sums() const noexcept { return sums_; }

 private:
  struct Cell {
    std::int64_t bought = 0;
    std::int64_t sold = 0;
  };

  void begin_cell(std::int64_t number) noexcept;

  std::array<std::int64_t, kIntensityCells> decay_{};
  std::array<Cell, kIntensityCells> cells_{};  // a ring, by cell number
  std::int64_t cell_number_ = 0;
  bool started_ = false;
  IntensitySums sums_;
};

}  // namespace tocsin
