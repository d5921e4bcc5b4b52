// A book as the events that build it again: levels, queues in their order of priority, status.
#pragma once

#include <vector>

#include "events/market_event.h"
#include "features/order_book.h"

namespace tocsin {

// Appends the events after which another book holds what `book` holds: every level, every known
// order in its place in its queue, what rests there anonymously, trading status, update id, and
// whether it is to be trusted. All carry what `shared` does (instrument, record, times) and
// kSnapshot; the last one ends the update.
void append_book_events(const OrderBook& book, const MarketEvent& shared,
                        std::vector<MarketEvent>& events);

}  // namespace tocsin
