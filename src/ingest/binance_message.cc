// The whole line is validated by simdjson before any field is used: half a message is none.
#include "ingest/binance_message.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/decimal.h"

namespace tocsin {
namespace {

using simdjson::dom::element;

enum Field : std::uint8_t {
  kEvent,
  kEventTime,
  kTime,
  kSymbol,
  kFirstUpdateId,
  kLastUpdateId,
  kPreviousUpdateId,
  kBids,
  kAsks,
  kBidQuantity,
  kAskQuantity,
  kTradeId,
  kPrice,
  kQuantity,
  kExecutionType,
  kBuyerIsMaker,
  kSnapshotId,
  kFieldCount,
};

struct FieldName {
  std::string_view key;
  Field field;
};
constexpr std::array kFieldNames = {
    FieldName{"e", kEvent},         FieldName{"E", kEventTime},
    FieldName{"T", kTime},          FieldName{"s", kSymbol},
    FieldName{"U", kFirstUpdateId}, FieldName{"u", kLastUpdateId},
    FieldName{"b", kBids},          FieldName{"a", kAsks},
    FieldName{"B", kBidQuantity},   FieldName{"A", kAskQuantity},
    FieldName{"t", kTradeId},       FieldName{"p", kPrice},
    FieldName{"q", kQuantity},      FieldName{"X", kExecutionType},
    FieldName{"m", kBuyerIsMaker},  FieldName{"pu", kPreviousUpdateId},
    FieldName{"bids", kBids},       FieldName{"asks", kAsks},
    FieldName{"symbol", kSymbol},   FieldName{"lastUpdateId", kSnapshotId}};

constexpr std::uint8_t kNoField = kFieldCount;

// By the key's single character; kNoField where no field has that name.
constexpr std::array<std::uint8_t, 128> kFieldByCharacter = [] {
  std::array<std::uint8_t, 128> table{};
  table.fill(kNoField);
  for (const FieldName& name : kFieldNames) {
    if (name.key.size() == 1) table[static_cast<unsigned char>(name.key[0])] = name.field;
  }
  return table;
}();

std::uint8_t field_of(std::string_view key) noexcept {
  if (key.size() == 1) {
    const auto character = static_cast<unsigned char>(key[0]);
    return character < kFieldByCharacter.size() ? kFieldByCharacter[character] : kNoField;
  }
  for (const FieldName& name : kFieldNames) {
    if (name.key == key) return name.field;
  }
  return kNoField;
}

std::string_view key_of(Field field) noexcept {
  for (const FieldName& name : kFieldNames) {
    if (name.field == field) return name.key;
  }
  return "?";
}

constexpr std::size_t kSymbolSizeMax = 32;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

}  // namespace

struct BinanceMessageParser::State {
  static constexpr std::size_t kFirstCapacityBytes = std::size_t{128} << 10;

  BinanceMessage message;
  std::string fault;
  simdjson::dom::parser parser;
  simdjson::dom::document document;
  std::vector<char> padded;  // simdjson reads past the end of its input, by a fixed count
  std::size_t capacity_bytes = 0;
  std::array<char, kSymbolSizeMax> symbol_of_stream{};
  std::array<element, kFieldCount> fields;
  std::uint32_t present = 0;

  bool has(Field field) const noexcept { return (present >> field & 1U) != 0; }

  BinanceParseStatus malformed(std::string_view what, std::string_view name = {}) {
    fault = what;
    fault += name;
    return BinanceParseStatus::kMalformed;
  }

  bool reserve(std::size_t size_bytes);
  BinanceParseStatus parse_line(std::string_view line);
  BinanceParseStatus parse_json(std::string_view json, simdjson::dom::object& object);
  void collect(simdjson::dom::object object) noexcept;
  void take_symbol_of_stream(element stream) noexcept;
  BinanceParseStatus parse_fields();
  BinanceParseStatus parse_head();
  BinanceParseStatus parse_depth();
  BinanceParseStatus parse_ticker();
  BinanceParseStatus parse_trade();
  BinanceParseStatus parse_levels(Field field, Side side);
  BinanceParseStatus parse_level(element price, element quantity, Side side);
  BinanceParseStatus take_id(Field field, std::uint64_t& id);
};

// The parser, its document and the padded line grow together, by powers of two.
bool BinanceMessageParser::State::reserve(std::size_t size_bytes) {
  if (size_bytes <= capacity_bytes) return true;
  const std::size_t capacity = std::max(kFirstCapacityBytes, std::bit_ceil(size_bytes));
  if (parser.allocate(capacity) != simdjson::SUCCESS) return false;
  if (document.allocate(capacity) != simdjson::SUCCESS) return false;
  padded.resize(capacity + simdjson::SIMDJSON_PADDING);
  capacity_bytes = capacity;
  return true;
}

BinanceParseStatus BinanceMessageParser::State::parse_json(std::string_view json,
                                                           simdjson::dom::object& object) {
  if (!reserve(json.size())) return malformed("no memory to parse the line");
  std::memcpy(padded.data(), json.data(), json.size());
  element root;
  const auto error =
      parser.parse_into_document(document, padded.data(), json.size(), false).get(root);
  if (error != simdjson::SUCCESS) return malformed("not JSON: ", simdjson::error_message(error));
  if (root.get(object) != simdjson::SUCCESS) return malformed("JSON, but not an object");
  return BinanceParseStatus::kOk;
}

void BinanceMessageParser::State::collect(simdjson::dom::object object) noexcept {
  for (const simdjson::dom::key_value_pair entry : object) {
    const std::uint8_t field = field_of(entry.key);
    if (field == kNoField) continue;
    fields[field] = entry.value;
    present |= 1U << field;
  }
}

// "btcusdt@depth@0ms" -> BTCUSDT: what a wrapped snapshot is named by.
void BinanceMessageParser::State::take_symbol_of_stream(element stream) noexcept {
  std::string_view name;
  if (stream.get(name) != simdjson::SUCCESS) return;
  const std::size_t size = std::min(name.find('@'), name.size());
  if (size > symbol_of_stream.size()) return;
  for (std::size_t i = 0; i < size; ++i) {
    const char c = name[i];
    symbol_of_stream[i] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  message.symbol = {symbol_of_stream.data(), size};
}

BinanceParseStatus BinanceMessageParser::State::parse_line(std::string_view line) {
  const char* end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data(), end, message.receive_time_ns);
  if (error != std::errc{} || after == end || *after != ' ' || message.receive_time_ns < 0) {
    return malformed("expected a local time in nanoseconds and a space");
  }
  simdjson::dom::object object;
  const auto status = parse_json({after + 1, static_cast<std::size_t>(end - after - 1)}, object);
  if (status != BinanceParseStatus::kOk) return status;
  simdjson::dom::object data;
  if (object["data"].get(data) == simdjson::SUCCESS) {
    element stream;
    if (object["stream"].get(stream) == simdjson::SUCCESS) take_symbol_of_stream(stream);
    collect(data);
  } else {
    collect(object);
  }
  return parse_fields();
}

BinanceParseStatus BinanceMessageParser::State::parse_fields() {
  std::string_view event;
  if (has(kEvent) && fields[kEvent].get(event) != simdjson::SUCCESS) {
    return malformed("field is not text: ", "e");
  }
  if (event == "depthUpdate") {
    message.kind = BinanceMessageKind::kDepthUpdate;
  } else if (event == "bookTicker") {
    message.kind = BinanceMessageKind::kBookTicker;
  } else if (event == "trade") {
    message.kind = BinanceMessageKind::kTrade;
  } else if (event.empty() && has(kSnapshotId)) {
    message.kind = BinanceMessageKind::kSnapshot;
  } else {
    return BinanceParseStatus::kOk;  // another stream, or the answer to a subscription
  }
  const auto status = parse_head();
  if (status != BinanceParseStatus::kOk) return status;
  switch (message.kind) {
    case BinanceMessageKind::kBookTicker:
      return parse_ticker();
    case BinanceMessageKind::kTrade:
      return parse_trade();
    default:
      return parse_depth();
  }
}

BinanceParseStatus BinanceMessageParser::State::parse_head() {
  if (has(kSymbol)) {
    if (fields[kSymbol].get(message.symbol) != simdjson::SUCCESS) {
      return malformed("field is not text: ", "s");
    }
    if (message.symbol.size() > kSymbolSizeMax) return malformed("symbol of absurd length");
  }
  if (message.symbol.empty() && message.kind != BinanceMessageKind::kSnapshot) {
    return malformed("field is missing: ", "s");
  }
  const Field time_field = has(kTime) ? kTime : kEventTime;
  std::int64_t time_ms = 0;
  if (!has(time_field) || fields[time_field].get(time_ms) != simdjson::SUCCESS) {
    return malformed("no time: expected T or E in milliseconds");
  }
  if (time_ms < 0 || time_ms > INT64_MAX / kNanosPerMilli) return malformed("time out of range");
  message.exchange_time_ns = time_ms * kNanosPerMilli;
  return BinanceParseStatus::kOk;
}

BinanceParseStatus BinanceMessageParser::State::parse_depth() {
  auto status = BinanceParseStatus::kOk;
  if (message.kind == BinanceMessageKind::kSnapshot) {
    status = take_id(kSnapshotId, message.last_update_id);
  } else {
    status = take_id(kFirstUpdateId, message.first_update_id);
    if (status == BinanceParseStatus::kOk) status = take_id(kLastUpdateId, message.last_update_id);
    if (status == BinanceParseStatus::kOk) {
      status = take_id(kPreviousUpdateId, message.previous_update_id);
    }
    if (status == BinanceParseStatus::kOk && message.first_update_id > message.last_update_id) {
      return malformed("U lies above u");
    }
  }
  if (status == BinanceParseStatus::kOk) status = parse_levels(kBids, Side::kBid);
  if (status == BinanceParseStatus::kOk) status = parse_levels(kAsks, Side::kAsk);
  return status;
}

BinanceParseStatus BinanceMessageParser::State::parse_ticker() {
  for (const Field field : {kBids, kBidQuantity, kAsks, kAskQuantity}) {
    if (!has(field)) return malformed("field is missing: ", key_of(field));
  }
  auto status = take_id(kLastUpdateId, message.last_update_id);
  if (status == BinanceParseStatus::kOk) {
    status = parse_level(fields[kBids], fields[kBidQuantity], Side::kBid);
  }
  if (status == BinanceParseStatus::kOk) {
    status = parse_level(fields[kAsks], fields[kAskQuantity], Side::kAsk);
  }
  return status;
}

BinanceParseStatus BinanceMessageParser::State::parse_trade() {
  for (const Field field : {kPrice, kQuantity, kBuyerIsMaker}) {
    if (!has(field)) return malformed("field is missing: ", key_of(field));
  }
  if (fields[kBuyerIsMaker].get(message.buyer_is_maker) != simdjson::SUCCESS) {
    return malformed("field is not true or false: ", "m");
  }
  std::string_view execution;
  if (has(kExecutionType)) {
    if (fields[kExecutionType].get(execution) != simdjson::SUCCESS) {
      return malformed("field is not text: ", "X");
    }
    message.market_trade = execution == "MARKET";
  }
  const auto status = take_id(kTradeId, message.trade_id);
  if (status != BinanceParseStatus::kOk) return status;
  // The buyer waiting in the book was hit by a seller.
  const Side aggressor = message.buyer_is_maker ? Side::kAsk : Side::kBid;
  return parse_level(fields[kPrice], fields[kQuantity], aggressor);
}

BinanceParseStatus BinanceMessageParser::State::parse_levels(Field field, Side side) {
  simdjson::dom::array levels;
  if (!has(field) || fields[field].get(levels) != simdjson::SUCCESS) {
    return malformed("no list of levels: ", key_of(field));
  }
  for (const element level : levels) {
    simdjson::dom::array pair;
    if (level.get(pair) != simdjson::SUCCESS) return malformed("a level is not a list");
    auto part = pair.begin();
    if (part == pair.end()) return malformed("a level without a price");
    const element price = *part;
    ++part;
    if (part == pair.end()) return malformed("a level without a quantity");
    const auto status = parse_level(price, *part, side);
    if (status != BinanceParseStatus::kOk) return status;
  }
  return BinanceParseStatus::kOk;
}

BinanceParseStatus BinanceMessageParser::State::parse_level(element price, element quantity,
                                                            Side side) {
  FeedLevel level;
  level.side = side;
  struct Number {
    element text;
    std::int64_t* nanos = nullptr;
  };
  for (const Number& number :
       {Number{price, &level.price_nanos}, Number{quantity, &level.quantity_nanos}}) {
    std::string_view text;
    if (number.text.get(text) != simdjson::SUCCESS) {
      return malformed("a price or quantity is not text");
    }
    const DecimalStatus decimal = parse_decimal_nanos(text, *number.nanos);
    const bool overflow = decimal == DecimalStatus::kOverflow;
    if (decimal != DecimalStatus::kOk && !overflow) {
      return malformed("not a decimal number of at most nine places: ", text);
    }
    if (overflow || *number.nanos < 0) {
      fault = overflow ? "price or quantity out of range: " : "negative price or quantity: ";
      fault += text;
      return BinanceParseStatus::kBadQuantity;
    }
  }
  message.levels.push_back(level);
  return BinanceParseStatus::kOk;
}

BinanceParseStatus BinanceMessageParser::State::take_id(Field field, std::uint64_t& id) {
  if (!has(field)) return malformed("field is missing: ", key_of(field));
  if (fields[field].get(id) != simdjson::SUCCESS) {
    return malformed("field is not a whole number: ", key_of(field));
  }
  return BinanceParseStatus::kOk;
}

BinanceMessageParser::BinanceMessageParser() : state_(std::make_unique<State>()) {
  constexpr std::size_t kLevelsReserved = 4096;
  state_->message.levels.reserve(kLevelsReserved);
}
BinanceMessageParser::~BinanceMessageParser() = default;

BinanceParseStatus BinanceMessageParser::parse(std::string_view line) noexcept {
  // Everything is set back but the buffer of levels.
  std::vector<FeedLevel> levels = std::move(state_->message.levels);
  levels.clear();
  state_->message = BinanceMessage{};
  state_->message.levels = std::move(levels);
  state_->present = 0;
  return state_->parse_line(line);
}

const BinanceMessage& BinanceMessageParser::message() const noexcept { return state_->message; }
std::string_view BinanceMessageParser::fault() const noexcept { return state_->fault; }

}  // namespace tocsin
