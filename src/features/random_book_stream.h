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
};

class RandomBookStream {
 public:
  explicit RandomBookStream(const RandomBookStreamOptions& options)
      : options_(options), random_(options.seed) {}

  MarketEvent next() {
    ++record_;
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
  std::int64_t middle_ticks_ = 1'000;
};

}  // namespace tocsin::testing
