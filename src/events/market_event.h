// One normalised market-data event: what every decoder yields and every stage reads.
// Prices and quantities are integers in units of 1e-9, so that sums over days are exact.
#pragma once

#include <cstdint>
#include <type_traits>

#include "events/quality.h"

namespace tocsin {

using InstrumentId = std::uint32_t;  // dense, from 0, given by the source in order of appearance

enum class Side : std::uint8_t { kNone = 0, kBid = 1, kAsk = 2 };

constexpr Side opposite(Side side) noexcept {
  return side == Side::kBid ? Side::kAsk : side == Side::kAsk ? Side::kBid : Side::kNone;
}

enum class EventKind : std::uint8_t {
  // Order by order (level 3). `order_id` names the order; `side` and `price_nanos` are its own.
  kAddOrder = 0,      // quantity_nanos joins the back of the queue at price_nanos; side kNone: that
                      // of the order just deleted by the same record (ITCH's replace names none)
  kModifyOrder = 1,   // price and quantity replaced; whether priority is lost is the instrument's
                      // rule: Instrument::modify_priority
  kReduceOrder = 2,   // quantity_nanos taken off by a cancel; priority kept; at zero it is gone
  kDeleteOrder = 3,   // the order is gone
  kExecuteOrder = 4,  // quantity_nanos taken off by a trade; price_nanos is the trade's price, 0:
                      // the order's own, which the book knows
  // Price by price (level 2).
  kSetLevel = 5,  // quantity_nanos now rests at price_nanos; 0 removes the level
  // Both.
  kClear = 6,      // side kNone: the whole book; kBid or kAsk: that side
  kTrimDepth = 7,  // forget all levels past the best `level_index` ones a side (not known anymore)
  kTrade = 8,      // a print that changes no book: side is the aggressor's, kNone if unknown
  kStatus = 9,     // trading status: `status`
  // What the feed itself says about the book: an oracle, never an update.
  kExpectLevel = 10,  // level `level_index` (0 is best) of `side` holds price and quantity;
                      // quantity 0: the side has no such level
  kExpectTop = 11,    // best of `side` at the book's update id `sequence`
  // A picture that the venue took of its book at some moment near exchange_time_ns: the next
  // `level_index` events are its kExpectLevel, best first on each side, a quantity of 0 where a
  // side ends; `order_id` 1: of a moment before the instrument's next trade; 0: it does not say.
  // In these levels `order_id` counts the orders (0: not said). See features/snapshot_oracle.h.
  kExpectSnapshot = 14,
  // Nothing but the end of an update, whose last record changed no book (DBN: a fill). It carries
  // what all events carry, and end_of_update.
  kEndOfUpdate = 12,
  // An oracle too: the checksum of the book's best levels as the venue defines it, in `order_id`.
  kExpectChecksum = 13,
};

enum class TradingStatus : std::uint8_t {
  kUnknown = 0,
  kTrading = 1,
  kHalted = 2,
  kAuction = 3,
  kClosed = 4
};

struct MarketEvent {
  std::int64_t exchange_time_ns =
      0;  // since 1970-01-01 UTC (since midnight where a feed has no date)
  std::int64_t receive_time_ns = 0;  // same line; equals exchange_time_ns where the feed has none
  std::uint64_t sequence = 0;        // the venue's own; 0 where it has none
  std::uint64_t record = 0;          // position: 1-based number of the record in its source
  std::uint64_t order_id = 0;        // 0: none
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;
  InstrumentId instrument = 0;
  QualityFlags quality;  // what was noticed at or before this event
  EventKind kind = EventKind::kTrade;
  Side side = Side::kNone;
  bool end_of_update = false;  // the book is whole again after this event: a frame is due
  TradingStatus status = TradingStatus::kUnknown;
  std::uint16_t level_index = 0;
  std::uint16_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<MarketEvent>);
static_assert(sizeof(MarketEvent) == 72 && alignof(MarketEvent) == 8);

}  // namespace tocsin
