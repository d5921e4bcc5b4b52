// One line of a Binance USD-M recording, "<local ns> {json}", as a value; its buffers are reused.
// Field names and meanings: Binance, "USDS-M Futures, WebSocket Market Streams" and "Order Book".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/market_event.h"
#include "ingest/book_join.h"

namespace tocsin {

enum class BinanceMessageKind : std::uint8_t {
  kDepthUpdate,
  kBookTicker,
  kTrade,
  kSnapshot,
  kOther
};

struct BinanceMessage {
  BinanceMessageKind kind = BinanceMessageKind::kOther;
  std::int64_t receive_time_ns = 0;
  std::int64_t exchange_time_ns = 0;     // T; E where T is missing
  std::string_view symbol;               // upper case; empty if the message names none
  std::uint64_t first_update_id = 0;     // U of a depthUpdate
  std::uint64_t last_update_id = 0;      // u, lastUpdateId of a snapshot
  std::uint64_t previous_update_id = 0;  // pu of a depthUpdate
  std::uint64_t trade_id = 0;            // t
  bool buyer_is_maker = false;           // m
  bool market_trade = true;              // X is MARKET, or not there
  // Bids, then asks; a bookTicker has one of each, a trade has one in all (its price and quantity).
  std::vector<FeedLevel> levels;
};

enum class BinanceParseStatus : std::uint8_t {
  kOk,
  kMalformed,    // not such a line, or a field is missing, or of another type
  kBadQuantity,  // a negative or overflowing price or quantity
};

class BinanceMessageParser {
 public:
  BinanceMessageParser();
  ~BinanceMessageParser();
  BinanceMessageParser(const BinanceMessageParser&) = delete;
  BinanceMessageParser& operator=(const BinanceMessageParser&) = delete;

  // The message stands in message() unless kOk is not returned; then fault() says what is wrong.
  BinanceParseStatus parse(std::string_view line) noexcept;
  // Both valid until the next parse().
  const BinanceMessage& message() const noexcept;
  std::string_view fault() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
