// Order book of one instrument: order by order where the feed has orders, price by price else, and
// both at once where orders from before the feed's start are known by price alone.
// Updates are O(log n) or better and allocate nothing once the book has been as deep before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
};

class OrderBook {
 public:
  static constexpr std::size_t kTopLevels = 10;

  explicit OrderBook(const OrderBookOptions& options = {});
  ~OrderBook();
  OrderBook(OrderBook&&) noexcept;
  OrderBook& operator=(OrderBook&&) noexcept;

  // Applies one event (kExpect… and kTrade change nothing) and returns what was noticed:
  // kBadQuantity, kUnknownOrder, kCrossedBook (at end_of_update, outside auctions), kBookUntrusted.
  // An event flagged kDuplicate or kOutOfOrder is not applied. One flagged kGap makes the book
  // untrusted.
  QualityFlags apply(const MarketEvent& event) noexcept;

  // The best levels of a side, best first, at most kTopLevels; valid until the next apply().
  std::span<const BookLevel> top(Side side) const noexcept;
  // Any level by rank (0 is best); a zero quantity if there is none. O(rank).
  BookLevel level(Side side, std::size_t rank) const noexcept;
  // What rests at a price; a zero quantity if nothing does.
  BookLevel level_at(Side side, std::int64_t price_nanos) const noexcept;
  std::size_t level_count(Side side) const noexcept;
  std::size_t order_count() const noexcept;

  // Quantity ahead of an order in its queue and behind it; false if the order is unknown. O(queue).
  struct QueuePosition {
    std::int64_t ahead_nanos = 0;
    std::int64_t behind_nanos = 0;
  };
  bool queue_position(std::uint64_t order_id, QueuePosition& position) const noexcept;

  // False before the first snapshot or clear of a feed that starts with one, and from a gap, or
  // from a crossed book, until the next snapshot (kClear) heals it.
  bool trusted() const noexcept;
  // For feeds that begin with an empty book (ITCH from the start of the day): trusted from now on.
  void mark_complete() noexcept;
  TradingStatus status() const noexcept;
  // `sequence` of the last event applied at an end_of_update.
  std::uint64_t update_id() const noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
