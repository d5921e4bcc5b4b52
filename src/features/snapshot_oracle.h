// Compares a rebuilt book with pictures that the venue took of its own (kExpectSnapshot): throttled
// and stamped coarsely, so that the moment they show has to be found among the book's states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "events/market_event.h"
#include "features/auction_match.h"
#include "features/order_book.h"

namespace tocsin {

// Why a snapshot was not found in the book.
enum class SnapshotMismatch : std::uint8_t {
  kUntrustedBook,  // the book was not trusted when the snapshot came, and did not agree
  kTradesMissing,  // it counts trades that the feed does not have, or another volume
  kStale,          // it counts fewer trades than had been made long before its time
  kAuctionMatch,   // in a call auction: price, matched or unmatched volume differ
  kPrices,         // no state of its time has its prices
  kQuantities      // a state of its time has its prices, none all its quantities and order counts
};
inline constexpr std::size_t kSnapshotMismatchCount = 6;
std::string_view snapshot_mismatch_name(SnapshotMismatch mismatch) noexcept;  // "prices_differ"

struct SnapshotCounters {
  std::uint64_t compared = 0;
  std::uint64_t equal = 0;
  std::uint64_t auction_compared = 0;  // of them in a call auction
  std::uint64_t auction_equal = 0;
  std::array<std::uint64_t, kSnapshotMismatchCount> mismatches{};
  SnapshotCounters& operator+=(const SnapshotCounters& other) noexcept;
  friend bool operator==(const SnapshotCounters&, const SnapshotCounters&) = default;
};

class SnapshotOracle {
 public:
  // A snapshot is looked for up to this long after its time: the venue cuts that to the second, and
  // its clocks differ a little.
  static constexpr std::int64_t kSpanNs = 1'200'000'000;
  static constexpr std::size_t kWaitingMax = 16;  // an older one is then given up

  // `counters` must outlive the oracle.
  explicit SnapshotOracle(SnapshotCounters& counters) noexcept : counters_(counters) {}

  // Call for every event, after OrderBook::apply(). True: the event belongs to a snapshot alone.
  //
  // A snapshot is equal if one state of the book, from the one it met on, holds its levels on both
  // sides: prices, quantities, order counts where it has them, and no level more where a side ends
  // within the ten. States are those after each update, up to kSpanNs after its time, and up to the
  // next trade if it says so. In a call auction a venue shows what would trade: level 0 of both
  // sides has the price and the volume, level 1 of one the rest; that is compared with
  // AuctionMatch.
  //
  // One that is not found makes a trusted book suspect (but not in an auction); one that is found
  // outside an auction shows the book to be right, and it is trusted again. Empty ones outside
  // auction and trading are not counted.
  bool on_event(const MarketEvent& event, OrderBook& book) noexcept;

 private:
  struct Level {
    std::int64_t price_nanos = 0;
    std::int64_t quantity_nanos = 0;
    std::uint32_t order_count = 0;
  };
  struct SideLevels {
    std::array<Level, OrderBook::kTopLevels> levels{};
    std::size_t count = 0;
    bool ends = false;  // the side has no more levels than these
  };
  struct Waiting {
    std::int64_t time_ns = 0;
    SideLevels bid;
    SideLevels ask;
    bool before_trade = false;
    bool in_auction = false;
    bool met_trusted = false;
    bool prices_seen = false;  // a state had its prices
  };

  void open(const MarketEvent& event, OrderBook& book) noexcept;
  void take_level(const MarketEvent& event, OrderBook& book) noexcept;
  // Gives up what can no longer be found; `is_trade`: those that stand before a trade.
  void close(std::int64_t time_ns, bool is_trade, OrderBook& book) noexcept;
  void compare(OrderBook& book) noexcept;
  bool matches(Waiting& waiting, const OrderBook& book) noexcept;
  bool matches_auction(const Waiting& waiting, const OrderBook& book) noexcept;
  void mismatch(SnapshotMismatch kind, bool in_auction) noexcept;
  void give_up(std::size_t index, OrderBook& book) noexcept;
  void erase(std::size_t index) noexcept;

  SnapshotCounters& counters_;
  AuctionMatcher matcher_;
  std::vector<Waiting> waiting_;  // kWaitingMax from the first snapshot on; the first count_ wait
  std::size_t count_ = 0;
  std::size_t levels_to_come_ = 0;  // of the snapshot being read
  bool reading_ = false;            // into the last that waits; else its levels are passed over
};

}  // namespace tocsin
