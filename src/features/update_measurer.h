// Measures one update of a book: what its events did, and how its best levels and depth differ from
// those after the update before. All integers.
#pragma once

#include <array>
#include <cstdint>

#include "events/instrument.h"
#include "events/market_event.h"
#include "features/feature_inputs.h"
#include "features/order_book.h"

namespace tocsin {

class UpdateMeasurer {
 public:
  explicit UpdateMeasurer(const Instrument& instrument);

  // A print (kTrade) of the update at hand.
  void on_trade(const MarketEvent& event) noexcept;
  // Fills what follows from the update alone: best levels, depths, trade sign and the record's
  // summands. To be called once an update, after its last event.
  void measure(const OrderBook& book, FeatureInputs& inputs) noexcept;

  // False until both sides of the book have been there at once; the mid stays while one is missing.
  bool has_mid() const noexcept { return has_mid_; }
  std::int64_t mid_half_ticks() const noexcept { return mid_half_ticks_; }

 private:
  // One side's best level against the one before, in steps.
  struct BestChange {
    std::int64_t order_flow = 0;  // this side's part of e_n, positive if it grew
    std::int64_t refill = 0;
    std::int64_t depletion = 0;
  };

  std::int64_t steps(std::int64_t quantity_nanos) const noexcept;
  void measure_mid(const BestLevels& best, UpdateRecord& record) noexcept;
  void measure_depth(const OrderBook& book, FeatureInputs& inputs) const noexcept;
  void measure_best(const OrderBook& book, FeatureInputs& inputs) noexcept;
  void measure_trades(const BookChanges& changes, FeatureInputs& inputs) noexcept;
  BestChange change_of(Side side, const BestLevel& before, const BestLevel& now) const noexcept;
  static void take_depletion(const BestChange& change, std::int64_t& waiting_traded,
                             UpdateRecord& record) noexcept;

  struct Prints {
    std::int64_t bought_nanos = 0;  // sums saturate
    std::int64_t sold_nanos = 0;
    std::int64_t unsided_nanos = 0;
    std::int64_t bought_count = 0;
    std::int64_t sold_count = 0;
    std::int64_t count = 0;
    std::int64_t price_nanos = 0;  // of the last
  };

  std::int64_t price_tick_nanos_;
  std::int64_t quantity_step_nanos_;
  Prints prints_;  // of the update at hand
  BestLevels best_;
  // Traded against a side (bid, ask) since the last update that changed the book: feeds that print
  // trades apart show what these took off the book only later.
  std::array<std::int64_t, 2> waiting_traded_steps_{};
  std::int64_t mid_x2_nanos_ = 0;
  std::int64_t mid_half_ticks_ = 0;
  int trade_sign_ = 0;
  bool has_mid_ = false;
};

}  // namespace tocsin
