// The last trades: how their prices and signs follow each other, and what they cost against the mid
// before them and the mid a second after them.
#pragma once

#include <array>
#include <cstdint>

#include "features/feature_inputs.h"
#include "features/last_values.h"

namespace tocsin {

class TradeSeries {
 public:
  // Once an update, also where nothing traded: the trades before it may be a second old now.
  void on_update(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept;
  const TradeSums& sums() const noexcept { return sums_; }

 private:
  struct Waiting {
    std::int64_t time_ns = 0;
    std::int64_t price_half_ticks = 0;
    std::int64_t sign = 0;
    std::int64_t effective = 0;
  };

  void take_in(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept;
  void take_price(const StatisticsUpdate& update, const FeatureInputs& inputs) noexcept;
  void realise(std::int64_t now_ns, std::int64_t mid_half_ticks) noexcept;

  LastValues<3, kTradeWindow> moves_;  // d, the d before, their product
  LastValues<5, kTradeWindow> signs_;  // s, the s before, product, squares of both
  LastValues<1, kTradeWindow> spreads_;
  LastValues<2, kTradeWindow> realised_;
  std::array<Waiting, kWaitingTradesMax> waiting_{};  // a ring
  std::uint64_t first_waiting_ = 0;
  std::uint64_t next_waiting_ = 0;
  std::uint64_t trade_count_ = 0;
  std::uint64_t price_count_ = 0;
  std::int64_t last_price_half_ticks_ = 0;
  std::int64_t last_move_ = 0;
  std::int64_t last_sign_ = 0;
  TradeSums sums_;
};

}  // namespace tocsin
