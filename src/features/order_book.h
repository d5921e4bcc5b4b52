// Order book of one instrument: order by order where the feed has orders, price by price else, and
// both at once where orders from before the feed's start are known by price alone.
// Updates are O(log n) or better and allocate nothing once the book has been as deep before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "events/instrument.h"
#include "events/market_event.h"

namespace tocsin {

struct BookLevel {
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;  // all that rests here
  std::uint32_t order_count = 0;    // orders known by id; 0 in a price-by-price book
  friend bool operator==(const BookLevel&, const BookLevel&) = default;
};

struct OrderBookOptions {
  std::size_t order_capacity = 1024;  // orders held before the first growth
  std::size_t level_capacity = 256;   // levels a side held before the first growth
  // What would go past these is refused and counted, and the book is not trusted anymore.
  std::size_t order_limit = std::size_t{1} << 24;
  std::size_t level_limit = std::size_t{1} << 20;  // a side
  ModifyPriority modify_priority = ModifyPriority::kLostByPriceOrIncrease;
};

// Nothing is left out of the book without being counted here.
struct OrderBookCounters {
  std::uint64_t skipped = 0;           // events flagged kDuplicate or kOutOfOrder: not applied
  std::uint64_t unknown_orders = 0;    // flagged kUnknownOrder
  std::uint64_t bad_quantities = 0;    // flagged kBadQuantity
  std::uint64_t duplicate_orders = 0;  // an order added whose id rests already: flagged kDuplicate
  std::uint64_t refused = 0;           // past order_limit or level_limit
  std::uint64_t gaps = 0;              // events flagged kGap
  std::uint64_t crossed_updates = 0;   // updates flagged kCrossedBook
  friend bool operator==(const OrderBookCounters&, const OrderBookCounters&) = default;
};

// What the events of one update did to one side. Clears, trims and snapshots are not counted, nor
// is what is added after a clear within the update (a feed that restates its levels each time); a
// modify counts as a cancel of what it takes off and an addition of what it puts on. Sums saturate.
struct SideChanges {
  std::int64_t added_nanos = 0;
  std::int64_t cancelled_nanos = 0;  // in a price-by-price book also what was traded
  std::int64_t executed_nanos = 0;   // by kExecuteOrder
  std::uint32_t additions = 0;
  std::uint32_t cancels = 0;
  std::uint32_t executions = 0;
  friend bool operator==(const SideChanges&, const SideChanges&) = default;
};
struct BookChanges {
  SideChanges bid;
  SideChanges ask;
  std::int64_t executed_price_nanos = 0;  // of the last execution, as the event or its order has it
  friend bool operator==(const BookChanges&, const BookChanges&) = default;
};

class OrderBook {
 public:
  static constexpr std::size_t kTopLevels = 10;
  // Prices lie within +-2^62 (4.6 billion), so that sums of two fit; others are refused as
  // kBadQuantity.
  static constexpr std::int64_t kPriceNanosMax = (std::int64_t{1} << 62) - 1;

  explicit OrderBook(const OrderBookOptions& options = {});
  ~OrderBook();
  OrderBook(OrderBook&&) noexcept;
  OrderBook& operator=(OrderBook&&) noexcept;

  // Applies one event (kExpect… and kTrade change nothing) and returns what was noticed:
  // kBadQuantity, kUnknownOrder, kDuplicate (an added order rests already), kCrossedBook (at
  // end_of_update, outside halts and auctions), kBookUntrusted. An event flagged kDuplicate or
  // kOutOfOrder is not applied. One flagged kGap makes the book untrusted.
  // - kAddOrder with side kNone joins the side of the order deleted just before in the same record.
  // - kReduceOrder, kDeleteOrder and kExecuteOrder of an unknown order take their quantity off what
  //   is anonymous at their price, if enough of it rests there. More taken than rests of a known
  //   order takes all of it, flagged kBadQuantity.
  // - kModifyOrder of an unknown order adds it.
  // - kSetLevel says what rests at a price in all: what its known orders do not make up is
  // anonymous,
  //   and if it is less than these, they are forgotten and all of it is anonymous (kBadQuantity).
  QualityFlags apply(const MarketEvent& event) noexcept;

  // The best levels of a side, best first, at most kTopLevels; valid until the next apply().
  std::span<const BookLevel> top(Side side) const noexcept;
  // Any level by rank (0 is best); a zero quantity if there is none. O(rank).
  BookLevel level(Side side, std::size_t rank) const noexcept;
  // What rests at a price; a zero quantity if nothing does.
  BookLevel level_at(Side side, std::int64_t price_nanos) const noexcept;
  // All levels of a side, best first.
  void copy_levels(Side side, std::vector<BookLevel>& levels) const;
  std::size_t level_count(Side side) const noexcept;
  std::size_t order_count() const noexcept;

  // The orders known by id at a level, by its rank, first in its queue first; behind what `orders`
  // holds. What they leave of the level's quantity is anonymous.
  struct QueuedOrder {
    std::uint64_t id = 0;
    std::int64_t quantity_nanos = 0;
  };
  void append_queue(Side side, std::size_t rank, std::vector<QueuedOrder>& orders) const;

  // Quantity ahead of an order in its queue and behind it; false if the order is unknown. O(queue).
  // Anonymous quantity counts as ahead: it rested before the feed's start.
  struct QueuePosition {
    std::int64_t ahead_nanos = 0;
    std::int64_t behind_nanos = 0;
  };
  bool queue_position(std::uint64_t order_id, QueuePosition& position) const noexcept;

  // False before the first snapshot or clear of a feed that starts with one, and from a gap or a
  // refused order until the next snapshot heals it. A snapshot is a kClear (of both sides), or the
  // first event flagged kSnapshot that meets an empty book.
  // A book found crossed at the end of an update is untrusted too: until the next snapshot if the
  // venue says that it trades continuously (kTrading), for then the book is wrong; while it stays
  // crossed if the status is unknown, for then it may be an auction (CME's pre-opening is crossed
  // for an hour and says nothing). Crosses inside an update are normal and not looked at.
  bool trusted() const noexcept;
  // For feeds that begin with an empty book (ITCH from the start of the day): trusted from now on.
  void mark_complete() noexcept;
  // The feed itself contradicts the book: untrusted from now on, until the next snapshot.
  void mark_wrong() noexcept;
  TradingStatus status() const noexcept;
  // `sequence` of the last event at an end_of_update that was applied; trades, statuses and what
  // the feed expects leave it as it is, for venues number these in series of their own.
  std::uint64_t update_id() const noexcept;
  // What the events since the last end_of_update did; stays until the next apply().
  const BookChanges& changes() const noexcept;
  const OrderBookCounters& counters() const noexcept;
  // All that the book holds, itself included: 64 to 128 bytes a resting order, as many as ever
  // rested at once, and 100 to 200 a price level.
  std::size_t memory_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
