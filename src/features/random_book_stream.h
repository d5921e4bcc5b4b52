// A seeded random stream of book events for tests: mostly sensible, with every kind of nonsense
// mixed in (duplicates, unknown orders, wrong quantities, gaps, clears, crossed prices).
#pragma once

#include <cstdint>
#include <random>

#include "features/event_builder.h"
#include "features/order_book.h"

namespace tocsin::testing {

struct RandomBookStreamOptions {
  std::uint64_t seed = 1;
  std::uint64_t order_ids = 4'000;    // ids are drawn from so many: adds meet resting orders
  std::int64_t tick_range = 60;       // prices lie so far from the middle, at most
  unsigned one_deep_in = 10;          // one price in so many lies anywhere in ten times the range
  unsigned one_disaster_in = 20'000;  // one event in so many clears, trims or tears a gap
  // One event in so many begins a loss and what follows it: a gap, a halt with orders that cross,
  // a snapshot, trading again. 0: none.
  unsigned one_recovery_in = 0;
};

class RandomBookStream {
 public:
  explicit RandomBookStream(const RandomBookStreamOptions& options)
      : options_(options), random_(options.seed) {}

  MarketEvent next() {
    ++record_;
    if (recovery_left_ > 0) return recovery();
    if (options_.one_recovery_in != 0 && one_in(options_.one_recovery_in)) {
      recovery_left_ = recovery_length_ = kRecoveryRest + below(60);
    }
    if (record_ % 64 == 0) middle_ticks_ += below(7) - 3;
    MarketEvent event = one_in(options_.one_disaster_in) ? disaster() : ordinary();
    event.record = record_ / 2;  // two events a record, as in a replacement
    event.sequence = record_;
    event.end_of_update = record_ % 2 == 1;
    if (one_in(500)) event.quality |= one_in(2) ? Quality::kDuplicate : Quality::kOutOfOrder;
    if (one_in(400)) event.quality |= Quality::kSnapshot;
    if (one_in(300)) event.quantity_nanos = below(3) - 2;
    if (one_in(3'000)) event.quantity_nanos = INT64_MAX - below(5);
    if (one_in(3'000)) event.price_nanos = one_in(2) ? INT64_MAX : INT64_MIN;
    if (one_in(3'000)) {
      event.price_nanos = one_in(2) ? OrderBook::kPriceNanosMax : -OrderBook::kPriceNanosMax;
    }
    return event;
  }

 private:
  static constexpr std::int64_t kRecoveryRest = 24;

  // Events of a recovery, counted down: a gap, the halt, 20 orders that may cross, the clear, the
  // snapshot, trading.
  MarketEvent recovery() {
    const std::int64_t step = recovery_length_ - recovery_left_--;
    MarketEvent event;
    if (step == 0) {
      event = ordinary();
      event.quality |= Quality::kGap;
    } else if (step == 1) {
      event = EventBuilder(EventKind::kStatus).status(TradingStatus::kHalted);
    } else if (step < 22) {
      event = add_order(
                  static_cast<std::uint64_t>(below(static_cast<std::int64_t>(options_.order_ids))))
                  .side(one_in(2) ? Side::kBid : Side::kAsk)
                  .ticks(middle_ticks_ + below(7) - 3)
                  .units(1 + below(9));
    } else if (step == 22) {
      event = clear();
    } else if (recovery_left_ == 0) {
      event = EventBuilder(EventKind::kStatus).status(TradingStatus::kTrading);
    } else {
      const Side side = one_in(2) ? Side::kBid : Side::kAsk;
      const std::int64_t distance = 1 + below(options_.tick_range);
      event = one_in(3) ? set_level() : add_order(static_cast<std::uint64_t>(step));
      event.side = side;
      event.price_nanos =
          (side == Side::kBid ? middle_ticks_ - distance : middle_ticks_ + distance) * kTick;
      event.quantity_nanos = (1 + below(40)) * kUnit;
      event.quality |= Quality::kSnapshot;
    }
    event.record = record_ / 2;
    event.sequence = record_;
    event.end_of_update = step == 0 || step == 1 || step == 21 || recovery_left_ <= 1;
    return event;
  }

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }
  bool one_in(unsigned n) { return random_() % n == 0; }

  MarketEvent ordinary() {
    static constexpr EventKind kKinds[] = {
        EventKind::kAddOrder,    EventKind::kAddOrder,     EventKind::kAddOrder,
        EventKind::kAddOrder,    EventKind::kModifyOrder,  EventKind::kModifyOrder,
        EventKind::kReduceOrder, EventKind::kDeleteOrder,  EventKind::kDeleteOrder,
        EventKind::kDeleteOrder, EventKind::kExecuteOrder, EventKind::kSetLevel,
        EventKind::kSetLevel,    EventKind::kTrade};
    EventBuilder event(kKinds[below(std::size(kKinds))]);
    event.order(static_cast<std::uint64_t>(below(static_cast<std::int64_t>(options_.order_ids))));
    event.side(one_in(20) ? Side::kNone : one_in(2) ? Side::kBid : Side::kAsk);
    std::int64_t distance = 1 + below(options_.tick_range);
    if (one_in(options_.one_deep_in)) distance = 1 + below(10 * options_.tick_range);
    if (one_in(200)) distance = -distance;  // crosses
    event.ticks(event.event.side == Side::kBid ? middle_ticks_ - distance
                                               : middle_ticks_ + distance);
    event.units(1 + below(40));
    const bool own_price = event.event.kind == EventKind::kExecuteOrder && one_in(2);
    if (own_price) event.event.price_nanos = 0;
    if (event.event.kind == EventKind::kSetLevel && one_in(3)) event.units(0);
    return event.event;
  }

  MarketEvent disaster() {
    switch (below(5)) {
      case 0:
        return clear();
      case 1:
        return clear().side(one_in(2) ? Side::kBid : Side::kAsk);
      case 2:
        return EventBuilder(EventKind::kTrimDepth).index(static_cast<std::uint16_t>(below(30)));
      case 3: {
        MarketEvent event = ordinary();
        event.quality |= Quality::kGap;
        return event;
      }
      default:
        return EventBuilder(EventKind::kStatus).status(static_cast<TradingStatus>(below(5)));
    }
  }

  RandomBookStreamOptions options_;
  std::mt19937_64 random_;
  std::uint64_t record_ = 0;
  std::int64_t recovery_left_ = 0;  // events of the recovery under way
  std::int64_t recovery_length_ = 0;
  std::int64_t middle_ticks_ = 1'000;
};

}  // namespace tocsin::testing
