// Snapshots wait until a state of the book is theirs. Where none waits, an event costs
// one comparison.
#include "features/snapshot_oracle.h"

#include <algorithm>

namespace tocsin {
namespace {

bool is_trade(EventKind kind) noexcept {
  return kind == EventKind::kTrade || kind == EventKind::kExecuteOrder;
}

}  // namespace

std::string_view snapshot_mismatch_name(SnapshotMismatch mismatch) noexcept {
  static constexpr std::array<std::string_view, kSnapshotMismatchCount> kNames = {
      "untrusted_book",        "trades_missing", "stale",
      "auction_match_differs", "prices_differ",  "quantities_differ"};
  return kNames[static_cast<std::size_t>(mismatch)];
}

SnapshotCounters& SnapshotCounters::operator+=(const SnapshotCounters& other) noexcept {
  compared += other.compared;
  equal += other.equal;
  auction_compared += other.auction_compared;
  auction_equal += other.auction_equal;
  for (std::size_t i = 0; i < mismatches.size(); ++i) mismatches[i] += other.mismatches[i];
  return *this;
}

bool SnapshotOracle::on_event(const MarketEvent& event, OrderBook& book) noexcept {
  if (event.kind == EventKind::kExpectSnapshot) {
    open(event, book);
    return true;
  }
  if (levels_to_come_ > 0 && event.kind == EventKind::kExpectLevel) {
    take_level(event, book);
    return true;
  }
  if (count_ == 0) return false;
  close(event.exchange_time_ns, is_trade(event.kind), book);
  if (event.end_of_update) compare(book);
  return false;
}

void SnapshotOracle::open(const MarketEvent& event, OrderBook& book) noexcept {
  if (reading_) --count_;  // the one before broke off
  reading_ = false;
  levels_to_come_ = event.level_index;
  const bool in_auction = book.status() == TradingStatus::kAuction;
  if (event.quality.has(Quality::kGap))
    return mismatch(SnapshotMismatch::kTradesMissing, in_auction);
  if (event.quality.has(Quality::kOutOfOrder))
    return mismatch(SnapshotMismatch::kStale, in_auction);
  if (levels_to_come_ == 0) return;
  waiting_.resize(kWaitingMax);
  close(event.exchange_time_ns, false, book);
  if (count_ == kWaitingMax) give_up(0, book);
  Waiting& waiting = waiting_[count_++];
  waiting = {};
  waiting.time_ns = event.exchange_time_ns;
  waiting.before_trade = event.order_id != 0;
  waiting.in_auction = in_auction;
  waiting.met_trusted = book.trusted();
  reading_ = true;
}

void SnapshotOracle::take_level(const MarketEvent& event, OrderBook& book) noexcept {
  --levels_to_come_;
  if (!reading_) return;
  Waiting& waiting = waiting_[count_ - 1];
  SideLevels& side = event.side == Side::kAsk ? waiting.ask : waiting.bid;
  if (event.quantity_nanos == 0) {
    side.ends = true;
  } else if (!side.ends && side.count < side.levels.size()) {
    side.levels[side.count++] = {event.price_nanos, event.quantity_nanos,
                                 static_cast<std::uint32_t>(event.order_id)};
  }
  if (levels_to_come_ > 0) return;
  reading_ = false;
  const bool empty = waiting.bid.count == 0 && waiting.ask.count == 0;
  if (empty && !waiting.in_auction && book.status() != TradingStatus::kTrading) {
    --count_;
    return;
  }
  ++counters_.compared;
  if (waiting.in_auction) ++counters_.auction_compared;
  compare(book);
}

void SnapshotOracle::close(std::int64_t time_ns, bool is_trade, OrderBook& book) noexcept {
  for (std::size_t i = 0; i < count_;) {
    const bool over =
        time_ns >= waiting_[i].time_ns + kSpanNs || (is_trade && waiting_[i].before_trade);
    if (over) {
      give_up(i, book);
    } else {
      ++i;
    }
  }
}

void SnapshotOracle::give_up(std::size_t index, OrderBook& book) noexcept {
  const Waiting& waiting = waiting_[index];
  SnapshotMismatch kind = SnapshotMismatch::kPrices;
  if (waiting.in_auction) {
    kind = SnapshotMismatch::kAuctionMatch;
  } else if (!waiting.met_trusted) {
    kind = SnapshotMismatch::kUntrustedBook;
  } else if (waiting.prices_seen) {
    kind = SnapshotMismatch::kQuantities;
  }
  ++counters_.mismatches[static_cast<std::size_t>(kind)];
  if (!waiting.in_auction && book.trusted()) book.mark_wrong();
  erase(index);
}

void SnapshotOracle::erase(std::size_t index) noexcept {
  for (std::size_t i = index + 1; i < count_; ++i) waiting_[i - 1] = waiting_[i];
  --count_;
}

void SnapshotOracle::mismatch(SnapshotMismatch kind, bool in_auction) noexcept {
  ++counters_.compared;
  if (in_auction) ++counters_.auction_compared;
  ++counters_.mismatches[static_cast<std::size_t>(kind)];
}

void SnapshotOracle::compare(OrderBook& book) noexcept {
  for (std::size_t i = 0; i < count_;) {
    if (!matches(waiting_[i], book)) {
      ++i;
      continue;
    }
    ++counters_.equal;
    if (waiting_[i].in_auction) {
      ++counters_.auction_equal;
    } else if (!book.trusted()) {
      book.mark_complete();
    }
    erase(i);
  }
}

bool SnapshotOracle::matches(Waiting& waiting, const OrderBook& book) noexcept {
  if (waiting.in_auction) return matches_auction(waiting, book);
  bool quantities_equal = true;
  for (const Side side : {Side::kBid, Side::kAsk}) {
    const SideLevels& expected = side == Side::kBid ? waiting.bid : waiting.ask;
    const auto top = book.top(side);
    if (top.size() < expected.count) return false;
    if (expected.ends && book.level_count(side) != expected.count) return false;
    for (std::size_t i = 0; i < expected.count; ++i) {
      const Level& level = expected.levels[i];
      if (top[i].price_nanos != level.price_nanos) return false;
      if (top[i].quantity_nanos != level.quantity_nanos ||
          (level.order_count != 0 && top[i].order_count != level.order_count)) {
        quantities_equal = false;
      }
    }
  }
  waiting.prices_seen = true;
  return quantities_equal;
}

bool SnapshotOracle::matches_auction(const Waiting& waiting, const OrderBook& book) noexcept {
  const AuctionMatch match = matcher_.match(book);
  const Level& bid = waiting.bid.levels[0];
  const Level& ask = waiting.ask.levels[0];
  if (match.matched_nanos == 0) return waiting.bid.count == 0 && waiting.ask.count == 0;
  const std::int64_t rest_nanos =
      std::max(waiting.bid.count > 1 ? waiting.bid.levels[1].quantity_nanos : 0,
               waiting.ask.count > 1 ? waiting.ask.levels[1].quantity_nanos : 0);
  return bid.price_nanos == ask.price_nanos && bid.quantity_nanos == match.matched_nanos &&
         ask.quantity_nanos == match.matched_nanos && rest_nanos == match.unmatched_nanos &&
         bid.price_nanos >= match.price_nanos_min && bid.price_nanos <= match.price_nanos_max;
}

}  // namespace tocsin
