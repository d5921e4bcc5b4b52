// What a call auction would trade if it were matched now: the price that trades most.
#pragma once

#include <cstdint>
#include <vector>

#include "features/order_book.h"

namespace tocsin {

struct AuctionMatch {
  std::int64_t matched_nanos = 0;    // what would trade; 0: the book is not crossed
  std::int64_t unmatched_nanos = 0;  // what the larger side would keep at that price
  // The prices at which this holds: both ends are levels of the book. Which one of them is taken
  // is the venue's rule (Shanghai: the middle; Shenzhen: the nearest to the last close).
  std::int64_t price_nanos_min = 0;
  std::int64_t price_nanos_max = 0;
  friend bool operator==(const AuctionMatch&, const AuctionMatch&) = default;
};

// Source: the trading rules of the Shanghai Stock Exchange (2023), 3.5.2: the most is traded; all
// orders at better prices are filled, and at the price itself one side is. Reused, so that it stops
// allocating after warm-up.
class AuctionMatcher {
 public:
  AuctionMatch match(const OrderBook& book) noexcept;

 private:
  std::vector<BookLevel> bids_;  // those that cross the best ask, best first
  std::vector<BookLevel> asks_;
};

}  // namespace tocsin
