// Both files are read in step; a row that cannot be read in one is passed over in both.
#include "ingest/lobster_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/decimal.h"
#include "ingest/decoders.h"
#include "ingest/lobster_file_name.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerPriceUnit = 100'000;  // a price counts in 1/10,000 dollar
constexpr std::int64_t kEmptyAskPrice = 9'999'999'999;
constexpr std::int64_t kEmptyBidPrice = -9'999'999'999;
constexpr std::int64_t kSecondsMax = 90'000;  // a day, and the hour that a long one has more

// Cuts `row` at its next comma; false once nothing is left.
bool next_field(std::string_view& row, std::string_view& field) noexcept {
  if (row.data() == nullptr) return false;
  const std::size_t comma = row.find(',');
  field = row.substr(0, comma);
  row = comma == std::string_view::npos ? std::string_view() : row.substr(comma + 1);
  return true;
}

bool parse_integer(std::string_view text, std::int64_t& value) noexcept {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && after == end;
}

Side side_of(std::int64_t direction) noexcept {
  return direction == 1 ? Side::kBid : direction == -1 ? Side::kAsk : Side::kNone;
}

std::string_view first_line(std::span<const std::byte> head) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool looks_like_lobster(std::span<const std::byte> head) noexcept {
  std::string_view row = first_line(head);
  std::string_view field;
  std::int64_t time_nanos = 0;
  if (!next_field(row, field) || parse_decimal_nanos(field, time_nanos) != DecimalStatus::kOk) {
    return false;
  }
  std::array<std::int64_t, 5> numbers{};
  for (std::int64_t& number : numbers) {
    if (!next_field(row, field) || !parse_integer(field, number)) return false;
  }
  return !next_field(row, field) && numbers[0] >= 1 && numbers[0] <= 7 &&
         (numbers[4] == 1 || numbers[4] == -1);
}

bool looks_like_lobster_orderbook(std::span<const std::byte> head) noexcept {
  std::string_view row = first_line(head);
  std::size_t count = 0;
  std::int64_t number = 0;
  for (std::string_view field; next_field(row, field); ++count) {
    if (!parse_integer(field, number)) return false;
  }
  return count > 0 && count % 4 == 0;
}

Result<std::unique_ptr<Source>> make_lobster_decoder(std::unique_ptr<ByteStream> stream,
                                                     const FileSourceOptions& options) {
  const std::string path = options.orderbook_path.empty() ? lobster_orderbook_path(stream->path())
                                                          : options.orderbook_path;
  if (path.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 stream->path() +
                     ": the name of a LOBSTER message file holds \"message\", from which the book "
                     "file's name is told; name the book file otherwise");
  }
  auto orderbook = open_byte_stream(path);
  if (!orderbook.ok()) {
    return orderbook.error().within("the LOBSTER book file of " + stream->path());
  }
  return std::unique_ptr<Source>(std::make_unique<LobsterDecoder>(
      std::move(stream), std::move(orderbook).value(), options.symbols));
}

LobsterDecoder::LobsterDecoder(std::unique_ptr<ByteStream> messages,
                               std::unique_ptr<ByteStream> orderbook,
                               std::vector<std::string> symbols)
    : FileDecoder(std::move(messages), std::move(symbols)), orderbook_(std::move(orderbook)) {
  const LobsterFileName name = parse_lobster_file_name(stream_->path());
  midnight_time_ns_ = name.midnight_time_ns.value_or(0);
  wanted_ = wants(name.symbol);
  constexpr std::int64_t kTickNanos = 10'000'000;  // 0.01 dollar
  if (wanted_) instrument_ = add_instrument({name.symbol, kTickNanos, kNanosPerUnit});
}

SourceStatus LobsterDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  std::string_view message_row;
  std::string_view orderbook_row;
  const bool message_read = stream_->next_line(message_row);
  const bool orderbook_read = orderbook_->next_line(orderbook_row);
  if (!message_read || !orderbook_read) return end_of_rows(message_read, orderbook_read);
  ++counters_.records;
  if (!wanted_) {
    ++counters_.filtered;
    return yield(batch);
  }
  MarketEvent event;
  const bool orderbook_known = decode_orderbook(orderbook_row);
  if (!decode_message(message_row, event)) {
    // A message is lost: what the book holds is no longer known, until a row tells.
    seeds_book_ = true;
    return yield(batch);
  }
  if (seeds_book_ && !orderbook_known) return yield(batch);
  append_row(event, orderbook_known, batch);
  seeds_book_ = false;
  return yield(batch);
}

SourceStatus LobsterDecoder::end_of_rows(bool message_read, bool orderbook_read) {
  // The stream that broke off has its own word to say.
  if (!stream_->status().ok()) return end_of_stream();
  if (!orderbook_->status().ok()) {
    return fail(orderbook_->status().error().code(), orderbook_->status().error().message());
  }
  if (message_read == orderbook_read) return end_of_text();
  return fail(ErrorCode::kDataLoss,
              (message_read ? orderbook_->path() + " ends" : "the message file ends") +
                  " after row " + std::to_string(counters_.records) + ", but " +
                  (message_read ? "the message file" : orderbook_->path()) +
                  " goes on: the two do not belong together, or one is cut off");
}

void LobsterDecoder::append_row(const MarketEvent& event, bool orderbook_known,
                                EventBatch& batch) const {
  MarketEvent other;
  other.exchange_time_ns = event.exchange_time_ns;
  other.receive_time_ns = event.receive_time_ns;
  other.record = event.record;
  other.instrument = event.instrument;
  other.quality = event.quality;
  if (seeds_book_) {
    MarketEvent clear = other;
    clear.kind = EventKind::kClear;
    clear.quality |= Quality::kSnapshot;
    batch.push_back(clear);
  }
  batch.push_back(event);
  if (orderbook_known) {
    other.kind = EventKind::kExpectLevel;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      other.side = i % 2 == 0 ? Side::kAsk : Side::kBid;
      other.level_index = static_cast<std::uint16_t>(i / 2);
      other.price_nanos = levels_[i].price_nanos;
      other.quantity_nanos = levels_[i].quantity_nanos;
      batch.push_back(other);
    }
  }
  other.kind = EventKind::kTrimDepth;
  other.side = Side::kNone;
  other.price_nanos = 0;
  other.quantity_nanos = 0;
  other.level_index = static_cast<std::uint16_t>(depth_);
  other.end_of_update = true;
  batch.push_back(other);
}

bool LobsterDecoder::decode_message(std::string_view row, MarketEvent& event) {
  Message message;
  if (!parse_message(row, message)) return false;
  ++counts_[static_cast<std::size_t>(message.type)];
  event.exchange_time_ns = midnight_time_ns_ + message.time_ns;
  event.receive_time_ns = event.exchange_time_ns;
  event.record = counters_.records;
  event.instrument = instrument_;
  if (!fill_event(message, event)) return false;
  event.quality |= check_time(event.exchange_time_ns);
  return true;
}

bool LobsterDecoder::parse_message(std::string_view row, Message& message) {
  const std::string_view whole = row;
  std::string_view field;
  if (!next_field(row, field) ||
      parse_decimal_nanos(field, message.time_ns) != DecimalStatus::kOk || message.time_ns < 0 ||
      message.time_ns >= kSecondsMax * kNanosPerUnit) {
    return malformed(
        "message row: expected seconds since midnight with at most nine places, found ", field);
  }
  for (std::int64_t* number :
       {&message.type, &message.order_id, &message.size, &message.price, &message.direction}) {
    if (!next_field(row, field))
      return malformed("message row: expected six columns, found ", whole);
    if (!parse_integer(field, *number)) {
      return malformed("message row: expected a whole number, found ", field);
    }
  }
  if (next_field(row, field)) return malformed("message row: expected six columns, found ", whole);
  if (message.type < 1 || message.type > 7) {
    return malformed("message row: expected a type from 1 to 7 in ", whole);
  }
  if (message.direction != 1 && message.direction != -1) {
    return malformed("message row: expected a direction of 1 or -1 in ", whole);
  }
  return true;
}

bool LobsterDecoder::fill_event(const Message& message, MarketEvent& event) {
  constexpr std::int64_t kHalt = 7;
  if (message.type == kHalt) {
    event.kind = EventKind::kStatus;
    // While quotes are taken but trading has not resumed, orders may cross: an auction.
    event.status = message.price == -1  ? TradingStatus::kHalted
                   : message.price == 0 ? TradingStatus::kAuction
                   : message.price == 1 ? TradingStatus::kTrading
                                        : TradingStatus::kUnknown;
    return true;
  }
  if (message.size < 0 || message.size > INT64_MAX / kNanosPerUnit) {
    return bad_quantity("message row: size out of range: ", message.size);
  }
  if (message.price < 0 || message.price > INT64_MAX / kNanosPerPriceUnit) {
    return bad_quantity("message row: price out of range: ", message.price);
  }
  event.quantity_nanos = message.size * kNanosPerUnit;
  event.price_nanos = message.price * kNanosPerPriceUnit;
  event.order_id = message.order_id > 0 ? static_cast<std::uint64_t>(message.order_id) : 0;
  event.side = side_of(message.direction);
  static constexpr std::array<EventKind, kTypeCount> kKinds = {
      EventKind::kTrade,       EventKind::kAddOrder,     EventKind::kReduceOrder,
      EventKind::kDeleteOrder, EventKind::kExecuteOrder, EventKind::kTrade,
      EventKind::kTrade,       EventKind::kStatus};
  event.kind = kKinds[static_cast<std::size_t>(message.type)];
  // The direction is that of the hidden order that was hit; a cross has no aggressor.
  constexpr std::int64_t kHiddenExecution = 5;
  if (event.kind == EventKind::kTrade) {
    event.side = message.type == kHiddenExecution ? opposite(event.side) : Side::kNone;
  }
  return true;
}

bool LobsterDecoder::decode_orderbook(std::string_view row) {
  const std::string_view whole = row;
  levels_.clear();
  std::string_view price;
  std::string_view size;
  while (next_field(row, price)) {
    if (!next_field(row, size)) {
      return malformed("book row: expected pairs of price and size, found ", whole);
    }
    Level level;
    if (!parse_level(price, size, level)) return false;
    levels_.push_back(level);
    if (levels_.size() > 2 * kDepthMax) {
      return malformed("book row: more levels than can be: ", whole.substr(0, 40));
    }
  }
  if (levels_.empty() || levels_.size() % 2 != 0) {
    return malformed("book row: expected four columns a level, found ", whole);
  }
  if (depth_ == 0) depth_ = levels_.size() / 2;
  if (levels_.size() != 2 * depth_) {
    return malformed("book row: another number of levels than in the rows before: ", whole);
  }
  return true;
}

bool LobsterDecoder::parse_level(std::string_view price_text, std::string_view size_text,
                                 Level& level) {
  std::int64_t price = 0;
  std::int64_t size = 0;
  if (!parse_integer(price_text, price)) {
    return malformed("book row: expected a price as a whole number, found ", price_text);
  }
  if (!parse_integer(size_text, size)) {
    return malformed("book row: expected a size as a whole number, found ", size_text);
  }
  if (price == kEmptyAskPrice || price == kEmptyBidPrice) {
    if (size != 0) return bad_quantity("book row: an empty level of size ", size);
    return true;
  }
  if (size <= 0 || size > INT64_MAX / kNanosPerUnit) {
    return bad_quantity("book row: size out of range: ", size);
  }
  if (price < 0 || price > INT64_MAX / kNanosPerPriceUnit) {
    return bad_quantity("book row: price out of range: ", price);
  }
  level = {price * kNanosPerPriceUnit, size * kNanosPerUnit};
  return true;
}

bool LobsterDecoder::malformed(std::string_view what, std::string_view found) {
  ++counters_.malformed;
  if (keeps_faults()) {
    constexpr std::size_t kShownMax = 80;
    add_fault(std::string(what) + "\"" + std::string(found.substr(0, kShownMax)) + "\"");
  }
  return false;
}

bool LobsterDecoder::bad_quantity(std::string_view what, std::int64_t found) {
  ++counters_.bad_quantity;
  if (keeps_faults()) add_fault(std::string(what) + std::to_string(found));
  return false;
}

std::vector<std::pair<std::string, std::uint64_t>> LobsterDecoder::counts_by_type() const {
  static constexpr std::array<std::string_view, kTypeCount> kNames = {
      "",          "submission",       "cancellation", "deletion",
      "execution", "hidden_execution", "cross_trade",  "trading_status"};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 1; i < kTypeCount; ++i) {
    if (counts_[i] > 0) counts.emplace_back(kNames[i], counts_[i]);
  }
  return counts;
}

}  // namespace tocsin
