// Offsets are those of the "NASDAQ TotalView-ITCH 5.0" specification. Prices have four decimals.
// Everything of a stock that was not asked for is passed over by its locate, before it is decoded.
#include "ingest/itch_feed_decoder.h"

#include <algorithm>

#include "base/decimal.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerPriceUnit = 100'000;  // prices have four decimals
constexpr std::size_t kHeaderBytes = 11;              // type, locate, tracking number, time
constexpr std::size_t kSymbolBytes = 8;

template <std::size_t kSizeBytes>
WireRecord<kSizeBytes> record_of(std::span<const std::byte> bytes) noexcept {
  TOCSIN_ASSERT(bytes.size() >= kSizeBytes);
  return WireRecord<kSizeBytes>(bytes.first<kSizeBytes>());
}

std::int64_t price_nanos(std::uint32_t price) noexcept {
  return static_cast<std::int64_t>(price) * kNanosPerPriceUnit;
}

std::int64_t quantity_nanos(std::uint32_t shares) noexcept {
  return static_cast<std::int64_t>(shares) * kNanosPerUnit;
}

bool is_symbol(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

// 'O' of the system events: nothing was sent before it on that day.
constexpr char kStartOfMessages = 'O';

}  // namespace

// One message on its way into the batch.
struct ItchFeedDecoder::Decoding {
  std::span<const std::byte> bytes;
  MarketEvent event;  // what all events of the message share
  bool clear_first;   // the book of the stock is known to be empty before this message
  EventBatch& batch;

  MarketEvent& add(EventKind kind, std::uint64_t order_id) const {
    MarketEvent& added = batch.emplace_back(event);
    added.kind = kind;
    added.order_id = order_id;
    return added;
  }
};

bool ItchFeedDecoder::check_message(std::span<const std::byte> bytes) {
  const ItchMessageType* type = bytes.empty() ? nullptr : itch_message_type(bytes[0]);
  if (type != nullptr && bytes.size() == type->size_bytes) [[likely]]
    return true;
  std::string what;
  if (bytes.empty()) {
    what = "a message of no bytes";
  } else if (type == nullptr) {
    what = "byte " + std::to_string(std::to_integer<int>(bytes[0])) +
           " is no message type of ITCH 5.0";
  } else {
    what = "a message '" + std::string(1, type->letter) + "' (" + std::string(type->name) +
           ") of " + std::to_string(bytes.size()) + " bytes; it has " +
           std::to_string(type->size_bytes);
  }
  ledger_.count_malformed(what);
  return false;
}

void ItchFeedDecoder::decode_message(ItchStream& stream, const ItchMessage& message,
                                     EventBatch& batch) {
  const auto header = record_of<kHeaderBytes>(message.bytes);
  ++counts_[kItchTypeByLetter[static_cast<unsigned char>(header.letter<0>())]];
  switch (header.letter<0>()) {
    case 'S':
      return decode_system_event(stream, message);
    case 'V':
    case 'W':  // of the whole market
      ++ledger_.counts().ignored;
      return;
    default:
      break;
  }
  ItchStream::Stock* found = find_stock(stream, message.bytes);
  if (found == nullptr) return ledger_.count_malformed("a stock symbol that is no text");
  ItchStream::Stock& stock = *found;
  if (!stock.wanted) {
    ++ledger_.counts().filtered;
    return;
  }
  const bool clear_first = stream.from_start_of_day && !stock.cleared && !message.is_late;
  Decoding decoding{message.bytes, {}, clear_first, batch};
  MarketEvent& event = decoding.event;
  event.exchange_time_ns = stream.midnight_time_ns + static_cast<std::int64_t>(header.big48<5>());
  event.receive_time_ns =
      stream.has_receive_time ? message.receive_time_ns : event.exchange_time_ns;
  event.sequence = message.sequence;
  event.record = ledger_.counts().records;
  event.instrument = stock.instrument;
  event.quality = check_message_time(stream, message, event.exchange_time_ns);
  const bool tells_gap = stock.gap_count != stream.gap_count && !message.is_late;
  if (tells_gap) event.quality |= Quality::kGap;

  const std::size_t size_before = batch.size();
  const Outcome outcome = decode_body(decoding);
  if (batch.size() > size_before) {
    if (tells_gap) stock.gap_count = stream.gap_count;
    if (batch[size_before].kind == EventKind::kClear) stock.cleared = true;
  }
  if (message.is_late) [[unlikely]] {
    // The book does not change, so no frame is due.
    for (MarketEvent& late : std::span(batch).subspan(size_before)) late.end_of_update = false;
  }
  if (outcome != Outcome::kDecoded) [[unlikely]]
    count(outcome, stream, message.bytes);
}

QualityFlags ItchFeedDecoder::check_message_time(ItchStream& stream, const ItchMessage& message,
                                                 std::int64_t exchange_time_ns) noexcept {
  if (message.is_late) return Quality::kOutOfOrder;
  QualityFlags quality;
  if (exchange_time_ns < stream.last_time_ns) {
    ++ledger_.counts().time_backwards;
    quality |= Quality::kTimeBackwards;
  }
  stream.last_time_ns = exchange_time_ns;
  return quality;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_body(const Decoding& decoding) {
  switch (static_cast<char>(decoding.bytes[0])) {
    case 'A':
    case 'F':
      return decode_add(decoding);
    case 'E':
      return decode_execution(decoding);
    case 'C':
      return decode_priced_execution(decoding);
    case 'X':
      return decode_cancel(decoding);
    case 'D':
      return decode_delete(decoding);
    case 'U':
      return decode_replace(decoding);
    case 'P':
      return decode_trade(decoding);
    case 'Q':
      return decode_cross(decoding);
    case 'H':
      return decode_status(decoding);
    default:
      return Outcome::kIgnored;
  }
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_add(const Decoding& decoding) {
  const auto message = record_of<36>(decoding.bytes);
  const char side = message.letter<19>();
  const auto shares = message.big<std::uint32_t, 20>();
  if (side != 'B' && side != 'S') return Outcome::kMalformed;
  if (shares == 0) return Outcome::kBadQuantity;
  if (decoding.clear_first) {
    MarketEvent& clear = decoding.add(EventKind::kClear, 0);
    clear.quality = Quality::kSnapshot;
  }
  MarketEvent& event = decoding.add(EventKind::kAddOrder, message.big<std::uint64_t, 11>());
  event.side = side == 'B' ? Side::kBid : Side::kAsk;
  event.quantity_nanos = quantity_nanos(shares);
  event.price_nanos = price_nanos(message.big<std::uint32_t, 32>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_execution(const Decoding& decoding) {
  const auto message = record_of<31>(decoding.bytes);
  MarketEvent& event = decoding.add(EventKind::kExecuteOrder, message.big<std::uint64_t, 11>());
  event.quantity_nanos = quantity_nanos(message.big<std::uint32_t, 19>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

// A non-printable execution is printed again, in bulk, by a cross trade: it comes as a reduction,
// so that its volume is counted once.
ItchFeedDecoder::Outcome ItchFeedDecoder::decode_priced_execution(const Decoding& decoding) {
  const auto message = record_of<36>(decoding.bytes);
  const bool printable = message.letter<31>() == 'Y';
  MarketEvent& event = decoding.add(printable ? EventKind::kExecuteOrder : EventKind::kReduceOrder,
                                    message.big<std::uint64_t, 11>());
  event.quantity_nanos = quantity_nanos(message.big<std::uint32_t, 19>());
  if (printable) event.price_nanos = price_nanos(message.big<std::uint32_t, 32>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_cancel(const Decoding& decoding) {
  const auto message = record_of<23>(decoding.bytes);
  MarketEvent& event = decoding.add(EventKind::kReduceOrder, message.big<std::uint64_t, 11>());
  event.quantity_nanos = quantity_nanos(message.big<std::uint32_t, 19>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_delete(const Decoding& decoding) {
  const auto message = record_of<19>(decoding.bytes);
  decoding.add(EventKind::kDeleteOrder, message.big<std::uint64_t, 11>()).end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_replace(const Decoding& decoding) {
  const auto message = record_of<35>(decoding.bytes);
  const auto shares = message.big<std::uint32_t, 27>();
  decoding.add(EventKind::kDeleteOrder, message.big<std::uint64_t, 11>()).end_of_update =
      shares == 0;
  if (shares == 0) return Outcome::kBadQuantity;
  MarketEvent& event = decoding.add(EventKind::kAddOrder, message.big<std::uint64_t, 19>());
  event.quality.remove(Quality::kGap);  // told once, by the deletion
  event.quantity_nanos = quantity_nanos(shares);
  event.price_nanos = price_nanos(message.big<std::uint32_t, 31>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

// The side of a trade against a hidden order is always 'B' since 2014, whatever it was.
ItchFeedDecoder::Outcome ItchFeedDecoder::decode_trade(const Decoding& decoding) {
  const auto message = record_of<44>(decoding.bytes);
  MarketEvent& event = decoding.add(EventKind::kTrade, message.big<std::uint64_t, 11>());
  event.quantity_nanos = quantity_nanos(message.big<std::uint32_t, 20>());
  event.price_nanos = price_nanos(message.big<std::uint32_t, 32>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_cross(const Decoding& decoding) {
  const auto message = record_of<40>(decoding.bytes);
  const auto shares = message.big<std::uint64_t, 11>();
  if (shares == 0) return Outcome::kIgnored;  // a cross in which nothing was matched
  if (shares > static_cast<std::uint64_t>(INT64_MAX / kNanosPerUnit)) return Outcome::kBadQuantity;
  MarketEvent& event = decoding.add(EventKind::kTrade, 0);
  event.quantity_nanos = static_cast<std::int64_t>(shares) * kNanosPerUnit;
  event.price_nanos = price_nanos(message.big<std::uint32_t, 27>());
  event.end_of_update = true;
  return Outcome::kDecoded;
}

ItchFeedDecoder::Outcome ItchFeedDecoder::decode_status(const Decoding& decoding) {
  TradingStatus status = TradingStatus::kUnknown;
  switch (record_of<25>(decoding.bytes).letter<19>()) {
    case 'T':
      status = TradingStatus::kTrading;
      break;
    case 'H':
    case 'P':
      status = TradingStatus::kHalted;
      break;
    case 'Q':
      status = TradingStatus::kAuction;
      break;
    default:
      return Outcome::kMalformed;
  }
  decoding.add(EventKind::kStatus, 0).status = status;
  return Outcome::kDecoded;
}

void ItchFeedDecoder::count(Outcome outcome, ItchStream& stream, std::span<const std::byte> bytes) {
  switch (outcome) {
    case Outcome::kDecoded:
      return;
    case Outcome::kIgnored:
      ++ledger_.counts().ignored;
      return;
    case Outcome::kMalformed:
      ++stream.gap_count;  // what it would have changed is not known
      return ledger_.count_malformed("a message '" + std::string(1, static_cast<char>(bytes[0])) +
                                     "' whose code at byte 19 is unknown");
    case Outcome::kBadQuantity:
      return ledger_.count_bad_quantity("a message '" +
                                        std::string(1, static_cast<char>(bytes[0])) +
                                        "' with a number of shares that cannot be");
  }
}

void ItchFeedDecoder::decode_system_event(ItchStream& stream, const ItchMessage& message) {
  ++ledger_.counts().ignored;
  if (record_of<12>(message.bytes).letter<11>() != kStartOfMessages || message.is_late) return;
  // Locates are given anew each day; the stocks' instruments stay.
  stream.stocks.clear();
  stream.from_start_of_day = true;
  stream.gap_count = 0;
}

ItchStream::Stock* ItchFeedDecoder::find_stock(ItchStream& stream,
                                               std::span<const std::byte> bytes) {
  const auto locate = record_of<kHeaderBytes>(bytes).big<std::uint16_t, 1>();
  if (locate >= stream.stocks.size()) stream.stocks.resize(std::size_t{locate} + 1);
  ItchStream::Stock& stock = stream.stocks[locate];
  if (stock.named) [[likely]]
    return &stock;

  const std::size_t offset = itch_message_type(bytes[0])->symbol_offset;
  if (offset != 0) {
    const auto* letters = reinterpret_cast<const char*>(bytes.data() + offset);
    const std::string_view symbol = without_padding({letters, kSymbolBytes}, ' ');
    if (!is_symbol(symbol)) return nullptr;
    name_stock(stream, stock, symbol);
  } else if (!stock.known) {
    const std::string name = "locate " + std::to_string(locate) + stream.name_suffix;
    stock.known = true;
    stock.wanted = ledger_.wants(name);
    if (stock.wanted) stock.instrument = ledger_.add_instrument({.symbol = name});
  }
  return &stock;
}

void ItchFeedDecoder::name_stock(ItchStream& stream, ItchStream::Stock& stock,
                                 std::string_view symbol) {
  const bool has_instrument = stock.known && stock.wanted;
  stock.known = stock.named = true;
  stock.wanted = has_instrument || ledger_.wants(symbol);
  if (!stock.wanted) return;
  std::string name = std::string(symbol) + stream.name_suffix;
  const auto [place, is_new] = stream.instrument_by_symbol.try_emplace(name, InstrumentId{0});
  if (!is_new) {
    stock.instrument = place->second;
    return;
  }
  if (has_instrument) {
    ledger_.rename_instrument(stock.instrument, name);
  } else {
    stock.instrument = ledger_.add_instrument({.symbol = std::move(name)});
  }
  place->second = stock.instrument;
}

std::vector<std::pair<std::string, std::uint64_t>> ItchFeedDecoder::counts_by_type() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const ItchMessageType& type = kItchMessageTypes[i];
    counts.emplace_back(std::string(1, type.letter) + " " + std::string(type.name), counts_[i]);
  }
  return counts;
}

}  // namespace tocsin
