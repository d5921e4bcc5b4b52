// Rows to levels. A row says nothing of how the book came there, so that no order flow is made up.
#include "ingest/szse_snapshot_decoder.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/decimal.h"
#include "ingest/china_fields.h"
#include "ingest/decoders.h"

namespace tocsin {
namespace {

enum Column : std::size_t {
  kDay,
  kTime,
  kSecurity,
  kVolume,
  kValue,
  kLastPrice,
  kPhaseCode,
  kColumnCount
};
constexpr std::array<std::string_view, kColumnCount> kColumns = {
    "MDDate",          "MDTime", "SecurityID",      "TotalVolumeTrade",
    "TotalValueTrade", "LastPx", "TradingPhaseCode"};
constexpr std::size_t kColumnsPerLevel = 2;  // price, quantity
constexpr std::size_t kFirstBidColumn = kColumnCount;
constexpr std::size_t kFirstAskColumn =
    kFirstBidColumn + kColumnsPerLevel * SzseSnapshotDecoder::kLevels;
constexpr std::int64_t kTickNanos = 10'000'000;  // 0.01 yuan

RowFault malformed(const char* what, std::string_view found) noexcept {
  return {what, found, false};
}

RowFault bad_quantity(const char* what, std::string_view found) noexcept {
  return {what, found, true};
}

bool parse_value(std::string_view text, double& value) noexcept {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && after == end && std::isfinite(value) && value >= 0;
}

TradingStatus status_of(std::uint64_t phase) noexcept {
  static constexpr std::array kStatuses = {TradingStatus::kClosed, TradingStatus::kAuction,
                                           TradingStatus::kHalted, TradingStatus::kTrading,
                                           TradingStatus::kHalted, TradingStatus::kAuction,
                                           TradingStatus::kClosed, TradingStatus::kHalted};
  return phase < kStatuses.size() ? kStatuses[phase] : TradingStatus::kUnknown;
}

}  // namespace

bool looks_like_szse_snapshot(std::span<const std::byte> head) noexcept {
  return first_line_of(head).starts_with("MDDate,MDTime,SecurityID,");
}

Result<std::unique_ptr<Source>> make_szse_snapshot_decoder(std::unique_ptr<ByteStream> stream,
                                                           const FileSourceOptions& options) {
  return SzseSnapshotDecoder::open(std::move(stream), options.symbols);
}

SzseSnapshotDecoder::SzseSnapshotDecoder(std::unique_ptr<ByteStream> stream,
                                         std::vector<std::string> symbols)
    : FileDecoder(std::move(stream), std::move(symbols)), table_(*stream_) {}

Result<std::unique_ptr<Source>> SzseSnapshotDecoder::open(std::unique_ptr<ByteStream> stream,
                                                          std::vector<std::string> symbols) {
  std::unique_ptr<SzseSnapshotDecoder> decoder(
      new SzseSnapshotDecoder(std::move(stream), std::move(symbols)));
  TOCSIN_RETURN_IF_ERROR(decoder->read_header());
  return std::unique_ptr<Source>(std::move(decoder));
}

Status SzseSnapshotDecoder::read_header() {
  std::vector<std::string> names(kColumns.begin(), kColumns.end());
  for (const bool is_bid : {true, false}) {
    for (std::size_t level = 1; level <= kLevels; ++level) {
      const std::string number = std::to_string(level);
      names.push_back((is_bid ? "BuyPrice" : "SellPrice") + number);
      names.push_back((is_bid ? "BuyOrderQty" : "SellOrderQty") + number);
    }
  }
  const std::vector<std::string_view> columns(names.begin(), names.end());
  return table_.read_header(columns);
}

SzseSnapshotDecoder::Security* SzseSnapshotDecoder::security_of(std::string_view name) {
  const auto found = securities_.find(name);
  if (found != securities_.end()) return &found->second;
  if (securities_.size() >= kSecuritiesMax) return nullptr;
  Security& security = securities_[std::string(name)];
  security.wanted = wants(name);
  if (security.wanted) {
    security.instrument = add_instrument({std::string(name), kTickNanos, kNanosPerUnit});
  }
  return &security;
}

SourceStatus SzseSnapshotDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  const HeaderTable::Row read = table_.next();
  if (read == HeaderTable::Row::kEnd) return end_of_text();
  ++counters_.records;
  if (read == HeaderTable::Row::kMalformed) {
    return faulty_record(malformed("expected as many columns as the header has", table_.row()),
                         batch);
  }
  Security* security = security_of(table_.field(kSecurity));
  if (security == nullptr) {
    return faulty_record(malformed("more securities than can be", table_.row()), batch);
  }
  if (!security->wanted) {
    ++counters_.filtered;
    return yield(batch);
  }
  if (table_.field(kDay) != day_text_) {
    const auto midnight = shanghai_midnight_of(table_.field(kDay));
    if (!midnight.has_value()) {
      return faulty_record(malformed("expected a day as 2022.06.01", table_.field(kDay)), batch);
    }
    day_text_ = table_.field(kDay);
    midnight_time_ns_ = *midnight;
  }
  Row row;
  const RowFault fault = parse(row);
  if (fault.what != nullptr) return faulty_record(fault, batch);
  append_row(*security, row, batch);
  return yield(batch);
}

// The next row tells the whole book again: nothing is lost but a state.
SourceStatus SzseSnapshotDecoder::faulty_record(const RowFault& fault, EventBatch& batch) {
  count_row_fault(fault);
  return yield(batch);
}

RowFault SzseSnapshotDecoder::parse(Row& row) const noexcept {
  if (!parse_day_time_ns(table_.field(kTime), row.time_ns)) {
    return malformed("expected a time as 09:15:00.000", table_.field(kTime));
  }
  row.time_ns += midnight_time_ns_;
  if (!parse_count(table_.field(kPhaseCode), row.phase)) {
    return malformed("expected a TradingPhaseCode", table_.field(kPhaseCode));
  }
  if (!parse_rounded_nanos(table_.field(kVolume), row.traded_nanos)) {
    return bad_quantity("volume out of range", table_.field(kVolume));
  }
  if (!parse_value(table_.field(kValue), row.traded_value)) {
    return bad_quantity("value out of range", table_.field(kValue));
  }
  if (!parse_rounded_nanos(table_.field(kLastPrice), row.last_price_nanos)) {
    return bad_quantity("price out of range", table_.field(kLastPrice));
  }
  const RowFault fault = parse_levels(row.bids, kFirstBidColumn);
  return fault.what != nullptr ? fault : parse_levels(row.asks, kFirstAskColumn);
}

RowFault SzseSnapshotDecoder::parse_levels(std::array<Level, kLevels>& levels,
                                           std::size_t first_column) const noexcept {
  for (std::size_t i = 0; i < kLevels; ++i) {
    const std::string_view price = table_.field(first_column + kColumnsPerLevel * i);
    const std::string_view quantity = table_.field(first_column + kColumnsPerLevel * i + 1);
    if (!parse_rounded_nanos(price, levels[i].price_nanos)) {
      return bad_quantity("price out of range", price);
    }
    if (!parse_rounded_nanos(quantity, levels[i].quantity_nanos)) {
      return bad_quantity("size out of range", quantity);
    }
  }
  return {};
}

void SzseSnapshotDecoder::append_row(Security& security, const Row& row, EventBatch& batch) {
  ++rows_by_phase_[row.phase < kPhaseCount ? row.phase : std::uint64_t{kStart}];
  MarketEvent event;
  event.exchange_time_ns = row.time_ns;
  event.receive_time_ns = row.time_ns;
  event.record = counters_.records;
  event.instrument = security.instrument;
  if (security.started && row.time_ns < security.last.time_ns) {
    ++counters_.time_backwards;
    event.quality = Quality::kTimeBackwards;
  }
  if (!security.started || security.last.phase != row.phase) {
    event.kind = EventKind::kStatus;
    event.status = status_of(row.phase);
    batch.push_back(event);
    event.status = TradingStatus::kUnknown;
  }
  if (security.started) append_trade(security, row, event, batch);
  MarketEvent clear = event;
  clear.kind = EventKind::kClear;
  if (!security.started) clear.quality |= Quality::kSnapshot;
  batch.push_back(clear);
  // In a call auction the levels are what would trade and what would be left: no book.
  if (status_of(row.phase) != TradingStatus::kAuction) {
    event.kind = EventKind::kSetLevel;
    for (const Side side : {Side::kBid, Side::kAsk}) {
      event.side = side;
      for (const Level& level : side == Side::kBid ? row.bids : row.asks) {
        if (level.price_nanos == 0 || level.quantity_nanos == 0) break;
        event.price_nanos = level.price_nanos;
        event.quantity_nanos = level.quantity_nanos;
        batch.push_back(event);
      }
    }
  }
  batch.back().end_of_update = true;
  security.started = true;
  security.last = row;
}

void SzseSnapshotDecoder::append_trade(const Security& security, const Row& row, MarketEvent event,
                                       EventBatch& batch) {
  const std::int64_t traded_nanos = row.traded_nanos - security.last.traded_nanos;
  if (traded_nanos < 0) {
    count_row_fault(bad_quantity("the day's volume fell", table_.field(kVolume)));
    return;
  }
  if (traded_nanos == 0) return;
  const PrintKind kind = kind_of_print(security.last, row);
  ++prints_by_kind_[kind];
  event.kind = EventKind::kTrade;
  event.side = kind == kAtAsk ? Side::kBid : kind == kAtBid ? Side::kAsk : Side::kNone;
  event.price_nanos = kind == kAtAsk   ? security.last.asks[0].price_nanos
                      : kind == kAtBid ? security.last.bids[0].price_nanos
                                       : row.last_price_nanos;
  event.quantity_nanos = traded_nanos;
  batch.push_back(event);
}

SzseSnapshotDecoder::PrintKind SzseSnapshotDecoder::kind_of_print(const Row& before,
                                                                  const Row& row) noexcept {
  if (status_of(before.phase) != TradingStatus::kTrading ||
      status_of(row.phase) != TradingStatus::kTrading) {
    return kMixed;
  }
  constexpr double kNanos = static_cast<double>(kNanosPerUnit);
  const double quantity = static_cast<double>(row.traded_nanos - before.traded_nanos) / kNanos;
  const double value = row.traded_value - before.traded_value;
  const auto all_at = [quantity, value](std::int64_t price_nanos) {
    // The value is told to 0.01 yuan, and went through a float.
    constexpr double kTolerance = 0.006;
    return price_nanos > 0 &&
           std::abs(value - quantity * static_cast<double>(price_nanos) / kNanos) < kTolerance;
  };
  if (all_at(before.asks[0].price_nanos)) return kAtAsk;
  return all_at(before.bids[0].price_nanos) ? kAtBid : kMixed;
}

std::vector<std::pair<std::string, std::uint64_t>> SzseSnapshotDecoder::counts_by_type() const {
  static constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
      "snapshot_start_or_other", "snapshot_open_call",  "snapshot_opened", "snapshot_trade",
      "snapshot_break",          "snapshot_close_call", "snapshot_closed", "snapshot_halted"};
  static constexpr std::array<std::string_view, kPrintKindCount> kPrintNames = {
      "print_at_ask", "print_at_bid", "print_mixed"};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (rows_by_phase_[i] > 0) counts.emplace_back(kPhaseNames[i], rows_by_phase_[i]);
  }
  for (std::size_t i = 0; i < kPrintNames.size(); ++i) {
    if (prints_by_kind_[i] > 0) counts.emplace_back(kPrintNames[i], prints_by_kind_[i]);
  }
  return counts;
}

}  // namespace tocsin
