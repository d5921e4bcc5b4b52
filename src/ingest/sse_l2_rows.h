// Shanghai level 2 as tables: a row of entrust.csv or trade.csv as one tick of the book, a row of
// snapshot.csv as the ten levels that it shows. Texts are views into the table's last row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/market_event.h"
#include "ingest/byte_stream.h"
#include "ingest/header_table.h"

namespace tocsin {

enum class SseTickKind : std::uint8_t {
  kAdd,           // what is left of an order comes to rest
  kDelete,        // the rest of an order is gone
  kBuyTrade,      // a buyer came: the sell order rested
  kSellTrade,     // a seller came: the buy order rested
  kAuctionTrade,  // of a call auction: both rested
};
inline constexpr std::size_t kSseTickKindCount = 5;

struct SseTick {
  std::string_view security;
  std::uint64_t channel = 0;
  std::uint64_t biz_index = 0;  // numbers orders and trades of a channel in one series
  std::int64_t time_ns = 0;     // since midnight, as are all times here
  std::int64_t receive_time_ns = 0;
  SseTickKind kind = SseTickKind::kAdd;
  Side side = Side::kNone;          // of the order; none for a trade
  std::uint64_t buy_order_no = 0;   // of an order on its own side alone
  std::uint64_t sell_order_no = 0;  // the same
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;
};

// Trading phases as the venue names them (InstruStatus).
enum class SsePhase : std::uint8_t {
  kStart,
  kOpenCall,
  kTrade,
  kCloseCall,
  kClose,
  kEnd,
  kHalt,
  kSuspended,
  kVolatility,
  kOther
};
inline constexpr std::size_t kSsePhaseCount = 10;
std::string_view sse_phase_name(SsePhase phase) noexcept;  // "TRADE", ...
TradingStatus status_of(SsePhase phase) noexcept;

struct SseSnapshot {
  static constexpr std::size_t kLevels = 10;
  struct Level {
    std::int64_t price_nanos = 0;  // 0: none, or (second level of a call auction) nothing said
    std::int64_t quantity_nanos = 0;
    std::uint64_t order_count = 0;
  };

  std::string security;
  std::int64_t time_ns = 0;  // cut to the second by the venue
  std::int64_t receive_time_ns = 0;
  SsePhase phase = SsePhase::kOther;
  std::uint64_t trade_count = 0;
  std::int64_t trade_quantity_nanos = 0;
  std::array<Level, kLevels> bids{};
  std::array<Level, kLevels> asks{};
};

// One of the three tables, a row ahead. `stream` must outlive it.
class SseTickTable {
 public:
  SseTickTable(ByteStream& stream, bool holds_trades) noexcept
      : table_(stream), holds_trades_(holds_trades) {}
  Status read_header();
  // Reads the next row into head(); its security is told even if the rest is at fault.
  HeaderTable::Row next() noexcept { return table_.next(); }
  std::string_view security() const noexcept { return table_.field(0); }
  std::string_view row() const noexcept { return table_.row(); }
  RowFault parse(SseTick& tick) const noexcept;

 private:
  RowFault parse_order(SseTick& tick) const noexcept;
  RowFault parse_trade(SseTick& tick) const noexcept;
  RowFault parse_shared(SseTick& tick) const noexcept;

  HeaderTable table_;
  bool holds_trades_;
};

class SseSnapshotTable {
 public:
  explicit SseSnapshotTable(ByteStream& stream) noexcept : table_(stream) {}
  Status read_header();
  HeaderTable::Row next() noexcept { return table_.next(); }
  std::string_view security() const noexcept { return table_.field(0); }
  std::string_view row() const noexcept { return table_.row(); }
  RowFault parse(SseSnapshot& snapshot) const noexcept;

 private:
  RowFault parse_levels(std::array<SseSnapshot::Level, SseSnapshot::kLevels>& levels,
                        std::size_t first_column) const noexcept;

  HeaderTable table_;
};

}  // namespace tocsin
