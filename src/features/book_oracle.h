// Compares a rebuilt book with what the feed itself says about it (kExpectLevel, kExpectTop,
// kExpectChecksum), and adopts levels that could not be known from the feed (LOBSTER: depth
// revealed from below).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "events/instrument.h"
#include "events/market_event.h"
#include "features/order_book.h"
#include "features/snapshot_oracle.h"

namespace tocsin {

struct OracleCounters {
  std::uint64_t rows_compared = 0;  // updates with an oracle row, but for those adopted
  std::uint64_t rows_equal = 0;     // all levels that can be known agree
  std::uint64_t rows_adopted = 0;   // met by a book without trust (the first row of a file) and
                                    // taken over whole as its snapshot; nothing to compare
  std::uint64_t levels_compared = 0;
  std::uint64_t levels_equal = 0;
  std::uint64_t levels_adopted = 0;  // could not be known; taken over, not compared
  std::uint64_t top_compared = 0;    // best bid and ask, price and size, at the same update id
  std::uint64_t top_equal = 0;
  std::uint64_t checksums_compared = 0;
  std::uint64_t checksums_equal = 0;
  std::uint64_t top_evicted = 0;  // dropped because kPendingTopsMax newer than the book waited
  SnapshotCounters snapshots{};   // pictures of a moment that is not quite known
  friend bool operator==(const OracleCounters&, const OracleCounters&) = default;
};

class BookOracle {
 public:
  static constexpr std::size_t kPendingTopsMax = 1024;

  // The instrument's decimals are needed for checksums alone.
  explicit BookOracle(const Instrument& instrument = {});
  ~BookOracle();
  BookOracle(BookOracle&&) noexcept;
  BookOracle& operator=(BookOracle&&) noexcept;

  // Call for every event, after OrderBook::apply(); may adopt levels into `book`.
  //
  // Rows: the kExpectLevel events of an update, best level first on each side, up to end_of_update
  // (for feeds of limited depth a kTrimDepth). What can be known is every price up to the deepest
  // one of the row before, or every price of a side that the row before showed to its end; nothing
  // after a kClear, or while the book is not trusted (the row then clears it and so heals it). A
  // level that can be known is compared; one that cannot is adopted. A row is equal if all compared
  // levels are and the book's levels stand at the same ranks: it holds none that the row lacks.
  //
  // Tops: two kExpectTop events (one a side) of one `sequence`, compared with the book once both
  // stand at that update id, whichever comes first, and only while the book is trusted.
  //
  // Checksums: compared at once, while the book is trusted and the instrument's decimals are known.
  // A book that fails one is wrong: it is not trusted anymore until the next snapshot.
  void on_event(const MarketEvent& event, OrderBook& book) noexcept;
  //
  // Snapshots: see snapshot_oracle.h.
  const OracleCounters& counters() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// CRC32 (ISO-HDLC, as zlib's) over the ten best levels of each side, asks before bids, best first:
// price and quantity in the instrument's decimals, without point and leading zeros. Source: Kraken,
// "Book checksum". Only for instruments whose decimals are known.
std::uint32_t book_checksum(const OrderBook& book, const Instrument& instrument) noexcept;

}  // namespace tocsin
