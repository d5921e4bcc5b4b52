// Compares a rebuilt book with what the feed itself says about it (kExpectLevel, kExpectTop), and
// adopts levels that could not be known from the feed (LOBSTER: depth revealed from below).
#pragma once

#include <cstdint>
#include <memory>

#include "events/market_event.h"
#include "features/order_book.h"

namespace tocsin {

struct OracleCounters {
  std::uint64_t rows_compared = 0;  // updates with an oracle row
  std::uint64_t rows_equal = 0;     // all levels that can be known agree
  std::uint64_t levels_compared = 0;
  std::uint64_t levels_equal = 0;
  std::uint64_t levels_adopted = 0;  // could not be known; taken over, not compared
  std::uint64_t top_compared = 0;    // best bid and ask, price and size, at the same update id
  std::uint64_t top_equal = 0;
};

class BookOracle {
 public:
  BookOracle();
  ~BookOracle();
  BookOracle(BookOracle&&) noexcept;
  BookOracle& operator=(BookOracle&&) noexcept;

  // Call for every event, after OrderBook::apply(); may adopt levels into `book`.
  void on_event(const MarketEvent& event, OrderBook& book) noexcept;
  const OracleCounters& counters() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
