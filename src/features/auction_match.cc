// Only levels that cross the other side's best one matter. Prices are tried in rising order, with
// what is bid at or above and what is asked at or below each kept as running sums.
#include "features/auction_match.h"

#include <algorithm>

namespace tocsin {
namespace {

// The levels of a side up to the other side's best price.
void take_crossing(const OrderBook& book, Side side, std::int64_t other_best_nanos,
                   std::vector<BookLevel>& levels) {
  levels.clear();
  const std::size_t count = book.level_count(side);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const BookLevel level = book.level(side, rank);
    const bool crosses = side == Side::kBid ? level.price_nanos >= other_best_nanos
                                            : level.price_nanos <= other_best_nanos;
    if (!crosses) return;
    levels.push_back(level);
  }
}

}  // namespace

AuctionMatch AuctionMatcher::match(const OrderBook& book) noexcept {
  if (book.top(Side::kBid).empty() || book.top(Side::kAsk).empty()) return {};
  take_crossing(book, Side::kBid, book.top(Side::kAsk)[0].price_nanos, bids_);
  take_crossing(book, Side::kAsk, book.top(Side::kBid)[0].price_nanos, asks_);
  std::int64_t bid_nanos = 0;  // at the price at hand or above
  for (const BookLevel& bid : bids_) {
    if (__builtin_add_overflow(bid_nanos, bid.quantity_nanos, &bid_nanos)) return {};
  }
  std::int64_t ask_nanos = 0;  // at the price at hand or below
  AuctionMatch best;
  std::size_t ask = 0;
  std::size_t bid = bids_.size();  // the cheapest not yet passed is bids_[bid - 1]
  while (bid > 0 || ask < asks_.size()) {
    const bool at_ask =
        bid == 0 || (ask < asks_.size() && asks_[ask].price_nanos <= bids_[bid - 1].price_nanos);
    const std::int64_t price = at_ask ? asks_[ask].price_nanos : bids_[bid - 1].price_nanos;
    if (at_ask && __builtin_add_overflow(ask_nanos, asks_[ask++].quantity_nanos, &ask_nanos)) {
      return {};
    }
    const std::int64_t matched = std::min(bid_nanos, ask_nanos);
    const std::int64_t unmatched = std::max(bid_nanos, ask_nanos) - matched;
    if (matched > best.matched_nanos ||
        (matched == best.matched_nanos && matched > 0 && unmatched < best.unmatched_nanos)) {
      best = {matched, unmatched, price, price};
    } else if (matched > 0 && matched == best.matched_nanos && unmatched == best.unmatched_nanos) {
      best.price_nanos_max = price;
    }
    // Bids at this price are not there for the next one.
    const bool ask_here = ask < asks_.size() && asks_[ask].price_nanos == price;
    if (!ask_here && bid > 0 && bids_[bid - 1].price_nanos == price) {
      bid_nanos -= bids_[--bid].quantity_nanos;
    }
  }
  return best;
}

}  // namespace tocsin
