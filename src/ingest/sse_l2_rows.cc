// Columns by name; every number checked before it is used.
#include "ingest/sse_l2_rows.h"

#include <span>

#include "ingest/china_fields.h"

namespace tocsin {
namespace {

// The first columns are those that orders and trades have alike.
enum SharedColumn : std::size_t {
  kSecurity,
  kTime,
  kLocalTime,
  kChannel,
  kBizIndex,
  kPrice,
  kQuantity,
  kSharedColumnCount
};
enum OrderColumn : std::size_t { kOrderType = kSharedColumnCount, kOrderNo, kOrderSide };
enum TradeColumn : std::size_t { kTradeSide = kSharedColumnCount, kBuyNo, kSellNo };

constexpr std::array<std::string_view, 10> kOrderColumns = {
    "SecurityID", "OrderTime", "LocalTime", "OrderChannel", "BizIndex",
    "OrderPrice", "Balance",   "OrderType", "OrderNO",      "OrderBSFlag"};
constexpr std::array<std::string_view, 10> kTradeColumns = {
    "SecurityID", "TradTime",   "LocalTime",   "TradeChan",  "BizIndex",
    "TradPrice",  "TradVolume", "TradeBSFlag", "TradeBuyNo", "TradeSellNo"};

enum SnapshotColumn : std::size_t {
  kSnapshotSecurity,
  kSnapshotTime,
  kSnapshotLocalTime,
  kPhase,
  kTradeCount,
  kTradeVolume,
  kSnapshotColumnCount
};
constexpr std::array<std::string_view, kSnapshotColumnCount> kSnapshotColumns = {
    "SecurityID", "UpdateTime", "LocalTime", "InstruStatus", "TradNumber", "TradVolume"};
// Price, volume and number of orders of each level.
constexpr std::size_t kColumnsPerLevel = 3;
constexpr std::size_t kFirstBidColumn = kSnapshotColumnCount;
constexpr std::size_t kFirstAskColumn = kFirstBidColumn + kColumnsPerLevel * SseSnapshot::kLevels;

RowFault malformed(const char* what, std::string_view found) noexcept {
  return {what, found, false};
}

RowFault bad_quantity(const char* what, std::string_view found) noexcept {
  return {what, found, true};
}

}  // namespace

std::string_view sse_phase_name(SsePhase phase) noexcept {
  static constexpr std::array<std::string_view, kSsePhaseCount> kNames = {
      "START", "OCALL", "TRADE", "CCALL", "CLOSE", "ENDTR", "HALT", "SUSP", "VOLA", "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

TradingStatus status_of(SsePhase phase) noexcept {
  switch (phase) {
    case SsePhase::kOpenCall:
    case SsePhase::kCloseCall:
    case SsePhase::kVolatility:
      return TradingStatus::kAuction;
    case SsePhase::kTrade:
      return TradingStatus::kTrading;
    case SsePhase::kStart:
    case SsePhase::kClose:
    case SsePhase::kEnd:
      return TradingStatus::kClosed;
    case SsePhase::kHalt:
    case SsePhase::kSuspended:
      return TradingStatus::kHalted;
    case SsePhase::kOther:
      break;
  }
  return TradingStatus::kUnknown;
}

Status SseTickTable::read_header() {
  return table_.read_header(holds_trades_ ? std::span<const std::string_view>(kTradeColumns)
                                          : std::span<const std::string_view>(kOrderColumns));
}

RowFault SseTickTable::parse(SseTick& tick) const noexcept {
  const RowFault fault = parse_shared(tick);
  if (fault.what != nullptr) return fault;
  return holds_trades_ ? parse_trade(tick) : parse_order(tick);
}

RowFault SseTickTable::parse_shared(SseTick& tick) const noexcept {
  tick.security = table_.field(kSecurity);
  if (!parse_day_time_ns(table_.field(kTime), tick.time_ns)) {
    return malformed("expected a time as 09:15:00.020", table_.field(kTime));
  }
  if (!parse_day_time_ns(table_.field(kLocalTime), tick.receive_time_ns)) {
    return malformed("expected a local time as 09:15:00.020", table_.field(kLocalTime));
  }
  if (!parse_count(table_.field(kChannel), tick.channel)) {
    return malformed("expected a channel number", table_.field(kChannel));
  }
  if (!parse_count(table_.field(kBizIndex), tick.biz_index) || tick.biz_index == 0) {
    return malformed("expected a BizIndex", table_.field(kBizIndex));
  }
  if (!parse_rounded_nanos(table_.field(kPrice), tick.price_nanos)) {
    return bad_quantity("price out of range", table_.field(kPrice));
  }
  if (!parse_rounded_nanos(table_.field(kQuantity), tick.quantity_nanos)) {
    return bad_quantity("size out of range", table_.field(kQuantity));
  }
  if (tick.quantity_nanos == 0) return bad_quantity("a size of 0", table_.field(kQuantity));
  return {};
}

RowFault SseTickTable::parse_order(SseTick& tick) const noexcept {
  const std::string_view type = table_.field(kOrderType);
  if (type != "A" && type != "D") return malformed("expected an OrderType of A or D", type);
  tick.kind = type == "A" ? SseTickKind::kAdd : SseTickKind::kDelete;
  const std::string_view side = table_.field(kOrderSide);
  if (side != "B" && side != "S") return malformed("expected an OrderBSFlag of B or S", side);
  tick.side = side == "B" ? Side::kBid : Side::kAsk;
  std::uint64_t order_no = 0;
  if (!parse_count(table_.field(kOrderNo), order_no) || order_no == 0) {
    return malformed("expected an OrderNO", table_.field(kOrderNo));
  }
  tick.buy_order_no = tick.side == Side::kBid ? order_no : 0;
  tick.sell_order_no = tick.side == Side::kAsk ? order_no : 0;
  return {};
}

RowFault SseTickTable::parse_trade(SseTick& tick) const noexcept {
  const std::string_view side = table_.field(kTradeSide);
  if (side != "B" && side != "S" && side != "N") {
    return malformed("expected a TradeBSFlag of B, S or N", side);
  }
  tick.kind = side == "B"   ? SseTickKind::kBuyTrade
              : side == "S" ? SseTickKind::kSellTrade
                            : SseTickKind::kAuctionTrade;
  tick.side = Side::kNone;
  if (!parse_count(table_.field(kBuyNo), tick.buy_order_no) || tick.buy_order_no == 0) {
    return malformed("expected a TradeBuyNo", table_.field(kBuyNo));
  }
  if (!parse_count(table_.field(kSellNo), tick.sell_order_no) || tick.sell_order_no == 0) {
    return malformed("expected a TradeSellNo", table_.field(kSellNo));
  }
  return {};
}

Status SseSnapshotTable::read_header() {
  std::vector<std::string> names(kSnapshotColumns.begin(), kSnapshotColumns.end());
  for (const bool is_bid : {true, false}) {
    for (std::size_t level = 1; level <= SseSnapshot::kLevels; ++level) {
      const std::string number = std::to_string(level);
      names.push_back((is_bid ? "BidPrice" : "AskPrice") + number);
      names.push_back((is_bid ? "BidVolume" : "AskVolume") + number);
      names.push_back((is_bid ? "NumOrdersB" : "NumOrdersS") + number);
    }
  }
  const std::vector<std::string_view> columns(names.begin(), names.end());
  return table_.read_header(columns);
}

RowFault SseSnapshotTable::parse(SseSnapshot& snapshot) const noexcept {
  snapshot.security = table_.field(kSnapshotSecurity);
  if (!parse_day_time_ns(table_.field(kSnapshotTime), snapshot.time_ns)) {
    return malformed("expected a time as 09:15:00.000", table_.field(kSnapshotTime));
  }
  if (!parse_day_time_ns(table_.field(kSnapshotLocalTime), snapshot.receive_time_ns)) {
    return malformed("expected a local time as 09:15:00.020", table_.field(kSnapshotLocalTime));
  }
  snapshot.phase = SsePhase::kOther;
  for (std::size_t i = 0; i < kSsePhaseCount; ++i) {
    const auto phase = static_cast<SsePhase>(i);
    if (table_.field(kPhase) == sse_phase_name(phase)) snapshot.phase = phase;
  }
  if (!parse_count(table_.field(kTradeCount), snapshot.trade_count)) {
    return malformed("expected a number of trades", table_.field(kTradeCount));
  }
  if (!parse_rounded_nanos(table_.field(kTradeVolume), snapshot.trade_quantity_nanos)) {
    return bad_quantity("volume out of range", table_.field(kTradeVolume));
  }
  const RowFault fault = parse_levels(snapshot.bids, kFirstBidColumn);
  return fault.what != nullptr ? fault : parse_levels(snapshot.asks, kFirstAskColumn);
}

RowFault SseSnapshotTable::parse_levels(
    std::array<SseSnapshot::Level, SseSnapshot::kLevels>& levels,
    std::size_t first_column) const noexcept {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t column = first_column + kColumnsPerLevel * i;
    const std::string_view price = table_.field(column);
    const std::string_view quantity = table_.field(column + 1);
    const std::string_view orders = table_.field(column + 2);
    levels[i] = {};
    if (!price.empty() && !parse_rounded_nanos(price, levels[i].price_nanos)) {
      return bad_quantity("price out of range", price);
    }
    if (!quantity.empty() && !parse_rounded_nanos(quantity, levels[i].quantity_nanos)) {
      return bad_quantity("volume out of range", quantity);
    }
    if (!orders.empty() && !parse_count(orders, levels[i].order_count)) {
      return malformed("expected a number of orders", orders);
    }
  }
  return {};
}

}  // namespace tocsin
