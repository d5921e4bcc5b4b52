// Anonymous quantity goes first: it rests ahead of the queue that then forms behind it.
#include "runtime/book_events.h"

namespace tocsin {
namespace {

void append_side(const OrderBook& book, Side side, MarketEvent event,
                 std::vector<MarketEvent>& events) {
  std::vector<OrderBook::QueuedOrder> queue;
  event.side = side;
  const std::size_t level_count = book.level_count(side);
  for (std::size_t rank = 0; rank < level_count; ++rank) {
    const BookLevel level = book.level(side, rank);
    queue.clear();
    book.append_queue(side, rank, queue);
    std::int64_t anonymous_nanos = level.quantity_nanos;
    for (const OrderBook::QueuedOrder& order : queue) anonymous_nanos -= order.quantity_nanos;
    event.price_nanos = level.price_nanos;
    if (anonymous_nanos > 0) {
      event.kind = EventKind::kSetLevel;
      event.order_id = 0;
      event.quantity_nanos = anonymous_nanos;
      events.push_back(event);
    }
    event.kind = EventKind::kAddOrder;
    for (const OrderBook::QueuedOrder& order : queue) {
      event.order_id = order.id;
      event.quantity_nanos = order.quantity_nanos;
      events.push_back(event);
    }
  }
}

}  // namespace

void append_book_events(const OrderBook& book, const MarketEvent& shared,
                        std::vector<MarketEvent>& events) {
  MarketEvent event;
  event.exchange_time_ns = shared.exchange_time_ns;
  event.receive_time_ns = shared.receive_time_ns;
  event.record = shared.record;
  event.instrument = shared.instrument;
  event.quality = Quality::kSnapshot;
  event.kind = EventKind::kStatus;
  event.status = book.status();
  events.push_back(event);
  event.status = TradingStatus::kUnknown;
  event.kind = EventKind::kClear;
  events.push_back(event);
  append_side(book, Side::kBid, event, events);
  append_side(book, Side::kAsk, event, events);
  event.kind = EventKind::kEndOfUpdate;
  event.sequence = book.update_id();
  event.end_of_update = true;
  // The clear made it trusted; a gap says that it was not.
  if (!book.trusted()) event.quality |= Quality::kGap;
  events.push_back(event);
}

}  // namespace tocsin
