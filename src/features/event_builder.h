// Builds market events by hand, for tests: one line an event.
#pragma once

#include <cstdint>

#include "events/market_event.h"

namespace tocsin::testing {

inline constexpr std::int64_t kUnit = 1'000'000'000;  // nanos of one
inline constexpr std::int64_t kTick = 10'000'000;     // 0.01

struct EventBuilder {
  MarketEvent event;

  explicit EventBuilder(EventKind kind) { event.kind = kind; }
  EventBuilder& bid() { return event.side = Side::kBid, *this; }
  EventBuilder& ask() { return event.side = Side::kAsk, *this; }
  EventBuilder& side(Side side) { return event.side = side, *this; }
  EventBuilder& order(std::uint64_t id) { return event.order_id = id, *this; }
  EventBuilder& ticks(std::int64_t ticks) { return event.price_nanos = ticks * kTick, *this; }
  EventBuilder& units(std::int64_t units) { return event.quantity_nanos = units * kUnit, *this; }
  EventBuilder& sequence(std::uint64_t number) { return event.sequence = number, *this; }
  EventBuilder& record(std::uint64_t number) { return event.record = number, *this; }
  EventBuilder& index(std::uint16_t index) { return event.level_index = index, *this; }
  EventBuilder& flag(QualityFlags flags) { return event.quality |= flags, *this; }
  EventBuilder& status(TradingStatus status) { return event.status = status, *this; }
  EventBuilder& time_ns(std::int64_t time_ns) {
    event.exchange_time_ns = event.receive_time_ns = time_ns;
    return *this;
  }
  EventBuilder& end() { return event.end_of_update = true, *this; }
  operator const MarketEvent&() const { return event; }
};

inline EventBuilder add_order(std::uint64_t id) {
  return EventBuilder(EventKind::kAddOrder).order(id);
}
inline EventBuilder set_level() { return EventBuilder(EventKind::kSetLevel); }
inline EventBuilder trade() { return EventBuilder(EventKind::kTrade); }
inline EventBuilder clear() { return EventBuilder(EventKind::kClear); }

}  // namespace tocsin::testing
