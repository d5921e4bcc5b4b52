// The naive twin of OrderBook for tests: std::map of prices, std::list of orders, no caches.
// Written from the rules in order_book.h, not from its code.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "features/order_book.h"

namespace tocsin::testing {

class NaiveOrderBook {
 public:
  struct Order {
    std::uint64_t id;
    std::int64_t quantity_nanos;
  };
  struct Level {
    std::int64_t anonymous_nanos = 0;
    std::list<Order> queue;

    std::int64_t queued_nanos() const {
      std::int64_t sum = 0;
      for (const Order& order : queue) sum += order.quantity_nanos;
      return sum;
    }
    std::int64_t total_nanos() const { return anonymous_nanos + queued_nanos(); }
  };
  // Keyed by price for asks and by minus the price for bids: the first is the best on both sides.
  using Levels = std::map<std::int64_t, Level>;

  explicit NaiveOrderBook(const OrderBookOptions& options) : options_(options) {}

  QualityFlags apply(const MarketEvent& event) {
    if (ended_) {
      changes_ = {};
      bid_restated_ = ask_restated_ = false;
    }
    ended_ = event.end_of_update;
    QualityFlags noticed;
    if (event.quality.has(Quality::kGap)) {
      ++counters_.gaps;
      distrust();
    }
    const bool skip =
        (event.quality.bits() & (Quality::kDuplicate | Quality::kOutOfOrder).bits()) != 0;
    if (skip) {
      ++counters_.skipped;
    } else {
      noticed = dispatch(event);
    }
    if (event.end_of_update) {
      const bool id_counts = event.kind != EventKind::kTrade && event.kind != EventKind::kStatus &&
                             event.kind != EventKind::kExpectLevel &&
                             event.kind != EventKind::kExpectTop;
      if (!skip && id_counts) update_id_ = event.sequence;
      crossed_ = (status_ == TradingStatus::kUnknown || status_ == TradingStatus::kTrading) &&
                 !bids_.empty() && !asks_.empty() && -bids_.begin()->first >= asks_.begin()->first;
      if (crossed_) {
        ++counters_.crossed_updates;
        noticed |= Quality::kCrossedBook;
        if (status_ == TradingStatus::kTrading) distrust();
      }
    }
    if (!trusted()) noticed |= Quality::kBookUntrusted;
    return noticed;
  }

  const Levels& levels(Side side) const { return side == Side::kBid ? bids_ : asks_; }
  std::size_t order_count() const { return where_.size(); }
  bool trusted() const { return complete_ && !crossed_; }
  std::uint64_t update_id() const { return update_id_; }
  const BookChanges& changes() const { return changes_; }
  const OrderBookCounters& counters() const { return counters_; }

  static BookLevel view(Side side, const Levels::value_type& entry) {
    return {side == Side::kBid ? -entry.first : entry.first, entry.second.total_nanos(),
            static_cast<std::uint32_t>(entry.second.queue.size())};
  }

  std::optional<OrderBook::QueuePosition> queue_position(std::uint64_t id) const {
    const auto found = where_.find(id);
    if (found == where_.end()) return std::nullopt;
    const Level& level = levels(found->second.side).at(found->second.key);
    OrderBook::QueuePosition position{.ahead_nanos = level.anonymous_nanos};
    bool behind = false;
    for (const Order& order : level.queue) {
      if (order.id == id) {
        behind = true;
      } else {
        (behind ? position.behind_nanos : position.ahead_nanos) += order.quantity_nanos;
      }
    }
    return position;
  }

 private:
  struct Place {
    Side side;
    std::int64_t key;
  };

  static std::int64_t key_of(Side side, std::int64_t price) {
    return side == Side::kBid ? -price : price;
  }
  Levels& side_of(Side side) { return side == Side::kBid ? bids_ : asks_; }
  SideChanges& changes_of(Side side) { return side == Side::kBid ? changes_.bid : changes_.ask; }
  void distrust() { complete_ = bid_cleared_ = ask_cleared_ = false; }
  QualityFlags bad() { return ++counters_.bad_quantities, Quality::kBadQuantity; }
  QualityFlags unknown() { return ++counters_.unknown_orders, Quality::kUnknownOrder; }
  QualityFlags refuse() { return ++counters_.refused, distrust(), QualityFlags(); }
  static bool priced(const MarketEvent& event) {
    return event.price_nanos <= OrderBook::kPriceNanosMax &&
           event.price_nanos >= -OrderBook::kPriceNanosMax;
  }

  static void saturate(std::int64_t& sum, std::int64_t quantity) {
    sum = quantity > INT64_MAX - sum ? INT64_MAX : sum + quantity;
  }
  void note_cancel(Side side, std::int64_t quantity) {
    saturate(changes_of(side).cancelled_nanos, quantity);
    ++changes_of(side).cancels;
  }
  void note_addition(const MarketEvent& event, Side side, std::int64_t quantity) {
    if (event.quality.has(Quality::kSnapshot)) return;
    if (side == Side::kBid ? bid_restated_ : ask_restated_) return;
    saturate(changes_of(side).added_nanos, quantity);
    ++changes_of(side).additions;
  }

  std::list<Order>::iterator order_at(const Place& place, std::uint64_t id) {
    auto& queue = side_of(place.side).at(place.key).queue;
    auto at = queue.begin();
    while (at->id != id) ++at;
    return at;
  }

  void erase_order(std::uint64_t id) {
    const Place place = where_.at(id);
    Level& level = side_of(place.side).at(place.key);
    level.queue.erase(order_at(place, id));
    where_.erase(id);
    if (level.total_nanos() == 0) side_of(place.side).erase(place.key);
  }

  void erase_level(Side side, std::int64_t key) {
    for (const Order& order : side_of(side).at(key).queue) where_.erase(order.id);
    side_of(side).erase(key);
  }

  QualityFlags add(const MarketEvent& event, Side side) {
    if (event.quantity_nanos <= 0 || !priced(event)) return bad();
    if (event.order_id == 0) return unknown();
    if (where_.count(event.order_id) != 0) {
      ++counters_.duplicate_orders;
      return Quality::kDuplicate;
    }
    Levels& side_levels = side_of(side);
    const std::int64_t key = key_of(side, event.price_nanos);
    const auto found = side_levels.find(key);
    if (found == side_levels.end() && side_levels.size() >= options_.level_limit) return refuse();
    if (found != side_levels.end() &&
        found->second.total_nanos() > INT64_MAX - event.quantity_nanos) {
      return bad();
    }
    if (where_.size() >= options_.order_limit) return refuse();
    if (event.quality.has(Quality::kSnapshot) && bids_.empty() && asks_.empty()) complete_ = true;
    side_levels[key].queue.push_back({event.order_id, event.quantity_nanos});
    where_[event.order_id] = {side, key};
    note_addition(event, side, event.quantity_nanos);
    return {};
  }

  QualityFlags modify(const MarketEvent& event) {
    const auto found = where_.find(event.order_id);
    if (found == where_.end())
      return event.side == Side::kNone ? unknown() : add(event, event.side);
    if (event.quantity_nanos <= 0 || !priced(event)) return bad();
    const Place place = found->second;
    const Side new_side = event.side == Side::kNone ? place.side : event.side;
    const auto order = order_at(place, event.order_id);
    const std::int64_t before = order->quantity_nanos;
    if (new_side != place.side || key_of(place.side, event.price_nanos) != place.key) {
      erase_order(event.order_id);
      note_cancel(place.side, before);
      return add(event, new_side);
    }
    Level& level = side_of(place.side).at(place.key);
    if (event.quantity_nanos == before) {
      if (options_.modify_priority != ModifyPriority::kLostUnlessDecreased) return {};
      level.queue.erase(order);
      level.queue.push_back({event.order_id, event.quantity_nanos});
    } else if (event.quantity_nanos < before) {
      order->quantity_nanos = event.quantity_nanos;
      note_cancel(place.side, before - event.quantity_nanos);
    } else if (event.quantity_nanos > before) {
      if (level.total_nanos() > INT64_MAX - (event.quantity_nanos - before)) return bad();
      level.queue.erase(order);
      level.queue.push_back({event.order_id, event.quantity_nanos});
      note_addition(event, place.side, event.quantity_nanos - before);
    }
    return {};
  }

  QualityFlags take_anonymous(const MarketEvent& event, bool executed) {
    if (event.side == Side::kNone || !priced(event)) return unknown();
    Levels& side_levels = side_of(event.side);
    const auto found = side_levels.find(key_of(event.side, event.price_nanos));
    if (found == side_levels.end() || found->second.anonymous_nanos == 0) return unknown();
    if (found->second.anonymous_nanos < event.quantity_nanos) return bad();
    found->second.anonymous_nanos -= event.quantity_nanos;
    if (found->second.total_nanos() == 0) side_levels.erase(found);
    if (executed) changes_.executed_price_nanos = event.price_nanos;
    note_taken(event.side, event.quantity_nanos, executed);
    return {};
  }

  void note_taken(Side side, std::int64_t quantity, bool executed) {
    if (!executed) return note_cancel(side, quantity);
    saturate(changes_of(side).executed_nanos, quantity);
    ++changes_of(side).executions;
  }

  QualityFlags take(const MarketEvent& event, bool executed) {
    if (event.quantity_nanos <= 0) return bad();
    const auto found = where_.find(event.order_id);
    if (found == where_.end()) return take_anonymous(event, executed);
    const Place place = found->second;
    const auto order = order_at(place, event.order_id);
    const std::int64_t rested = order->quantity_nanos;
    if (executed) {
      const std::int64_t own = place.side == Side::kBid ? -place.key : place.key;
      changes_.executed_price_nanos = event.price_nanos == 0 ? own : event.price_nanos;
    }
    if (event.quantity_nanos < rested) {
      order->quantity_nanos -= event.quantity_nanos;
      note_taken(place.side, event.quantity_nanos, executed);
      return {};
    }
    erase_order(event.order_id);
    note_taken(place.side, rested, executed);
    return event.quantity_nanos == rested ? QualityFlags() : bad();
  }

  QualityFlags remove(const MarketEvent& event) {
    const auto found = where_.find(event.order_id);
    if (found == where_.end()) {
      return event.quantity_nanos > 0 ? take_anonymous(event, false) : unknown();
    }
    deleted_ = {found->second.side, event.record};
    note_cancel(found->second.side, order_at(found->second, event.order_id)->quantity_nanos);
    erase_order(event.order_id);
    return {};
  }

  QualityFlags set(const MarketEvent& event) {
    if (event.quantity_nanos < 0 || event.side == Side::kNone || !priced(event)) return bad();
    Levels& side_levels = side_of(event.side);
    const std::int64_t key = key_of(event.side, event.price_nanos);
    const auto found = side_levels.find(key);
    const std::int64_t before = found == side_levels.end() ? 0 : found->second.total_nanos();
    const std::int64_t queued = found == side_levels.end() ? 0 : found->second.queued_nanos();
    if (found == side_levels.end() && event.quantity_nanos > 0) {
      if (side_levels.size() >= options_.level_limit) return refuse();
      if (event.quality.has(Quality::kSnapshot) && bids_.empty() && asks_.empty()) complete_ = true;
    }
    QualityFlags noticed;
    if (event.quantity_nanos < queued) {
      noticed = bad();
      erase_level(event.side, key);
      if (event.quantity_nanos > 0) side_levels[key].anonymous_nanos = event.quantity_nanos;
    } else if (event.quantity_nanos == 0) {
      if (found != side_levels.end()) side_levels.erase(found);
    } else {
      side_levels[key].anonymous_nanos = event.quantity_nanos - queued;
    }
    const std::int64_t grown = event.quantity_nanos - before;
    if (grown > 0) note_addition(event, event.side, grown);
    if (grown < 0 && !event.quality.has(Quality::kSnapshot)) note_cancel(event.side, -grown);
    return noticed;
  }

  void clear(Side side) {
    while (!side_of(side).empty()) erase_level(side, side_of(side).begin()->first);
    (side == Side::kBid ? bid_cleared_ : ask_cleared_) = true;
    (side == Side::kBid ? bid_restated_ : ask_restated_) = true;
    if (bid_cleared_ && ask_cleared_) {
      complete_ = true;
      crossed_ = false;
    }
  }

  QualityFlags dispatch(const MarketEvent& event) {
    switch (event.kind) {
      case EventKind::kAddOrder:
        if (event.side != Side::kNone) return add(event, event.side);
        if (deleted_ && deleted_->record == event.record) return add(event, deleted_->side);
        return unknown();
      case EventKind::kModifyOrder:
        return modify(event);
      case EventKind::kReduceOrder:
      case EventKind::kExecuteOrder:
        return take(event, event.kind == EventKind::kExecuteOrder);
      case EventKind::kDeleteOrder:
        return remove(event);
      case EventKind::kSetLevel:
        return set(event);
      case EventKind::kClear:
        for (const Side side : {Side::kBid, Side::kAsk}) {
          if (event.side == side || event.side == Side::kNone) clear(side);
        }
        return {};
      case EventKind::kTrimDepth:
        for (const Side side : {Side::kBid, Side::kAsk}) {
          while (side_of(side).size() > event.level_index) {
            erase_level(side, side_of(side).rbegin()->first);
          }
        }
        return {};
      case EventKind::kStatus:
        status_ = event.status;
        return {};
      default:
        return {};
    }
  }

  struct Deletion {
    Side side;
    std::uint64_t record;
  };

  OrderBookOptions options_;
  Levels bids_;
  Levels asks_;
  std::unordered_map<std::uint64_t, Place> where_;
  BookChanges changes_;
  OrderBookCounters counters_;
  std::optional<Deletion> deleted_;
  std::uint64_t update_id_ = 0;
  TradingStatus status_ = TradingStatus::kUnknown;
  bool complete_ = false;
  bool crossed_ = false;
  bool bid_cleared_ = false;
  bool ask_cleared_ = false;
  bool bid_restated_ = false;
  bool ask_restated_ = false;
  bool ended_ = false;
};

}  // namespace tocsin::testing
