// What PITCH's messages mean. Offsets are those of Cboe's specifications and count from the length
// byte; integers are little-endian. Long prices have four decimals, short ones two.
#include <algorithm>
#include <bit>

#include "base/decimal.h"
#include "ingest/pitch_protocol.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerLongPrice = 100'000;
constexpr std::int64_t kNanosPerShortPrice = 10'000'000;
constexpr std::size_t kOrderIdAt = 6;
constexpr std::size_t kSideAt = 14;
constexpr std::size_t kSymbolBytes = 6;
constexpr std::size_t kExpandedSymbolBytes = 8;

std::string_view text_at(std::span<const std::byte> bytes, std::size_t offset,
                         std::size_t size) noexcept {
  const std::span<const std::byte> field = bytes.subspan(offset, size);
  return without_padding({reinterpret_cast<const char*>(field.data()), field.size()}, ' ');
}

std::int64_t quantity_nanos(std::uint32_t quantity) noexcept {
  return static_cast<std::int64_t>(quantity) * kNanosPerUnit;
}

bool is_printable(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7F'; });
}

Instrument instrument_named(std::string symbol) {
  Instrument instrument;
  instrument.symbol = std::move(symbol);
  instrument.modify_priority = ModifyPriority::kLostUnlessDecreased;
  return instrument;
}

}  // namespace

void PitchProtocol::decode_message(const Message& message) {
  const std::size_t size_before = message.batch.size();
  const Outcome outcome = decode_body(message);
  if (message.is_late) [[unlikely]] {
    // The book does not change, so no frame is due.
    for (MarketEvent& late : std::span(message.batch).subspan(size_before)) {
      late.end_of_update = false;
    }
  }
  switch (outcome) {
    case Outcome::kDecoded:
      return;
    case Outcome::kIgnored:
      ++ledger_.counts().ignored;
      return;
    case Outcome::kFiltered:
      ++ledger_.counts().filtered;
      return;
    case Outcome::kMalformed:
      ++unit_->gap_count;  // what it would have changed is not known
      return ledger_.count_malformed("a side, status or symbol that cannot be");
    case Outcome::kBadQuantity:
      return ledger_.count_bad_quantity("a price or quantity that cannot be");
  }
}

PitchProtocol::Outcome PitchProtocol::decode_body(const Message& message) {
  switch (message.type) {
    case PitchType::kTime:
      return message.is_late ? Outcome::kIgnored : decode_time(message);
    case PitchType::kAddLong:
    case PitchType::kAddShort:
    case PitchType::kAddExpanded:
      return decode_add(message);
    case PitchType::kExecuted:
    case PitchType::kExecutedAtPrice:
    case PitchType::kReduceLong:
    case PitchType::kReduceShort:
    case PitchType::kModifyLong:
    case PitchType::kModifyShort:
    case PitchType::kDelete:
      return decode_change(message);
    case PitchType::kTradeLong:
    case PitchType::kTradeShort:
    case PitchType::kTradeExpanded:
      return decode_trade(message);
    case PitchType::kTradingStatus:
      return decode_status(message);
    case PitchType::kSymbolMapping:
      return decode_mapping(message);
    case PitchType::kFuturesDefinition:
      return decode_futures_definition(message);
    case PitchType::kUnitClear:
      return clear_unit(message);
    case PitchType::kTransactionBegin:
      if (!message.is_late) unit_->in_transaction = true;
      return Outcome::kIgnored;
    case PitchType::kTransactionEnd:
      return end_transaction(message);
    case PitchType::kComplexDefinition:
      unit_->is_complex = true;
      return Outcome::kIgnored;
    default:
      return Outcome::kIgnored;
  }
}

MarketEvent& PitchProtocol::add_event(const Message& message, std::uint32_t index, EventKind kind) {
  Symbol& symbol = unit_->symbols[index];
  symbol.has_event = true;
  MarketEvent& event = message.batch.emplace_back();
  event.exchange_time_ns = time_of(message);
  event.receive_time_ns = datagram_.receive_time_ns;
  event.sequence = message.sequence;
  event.record = ledger_.counts().records;
  event.instrument = symbol.instrument;
  event.kind = kind;
  if (message.is_late) {
    event.quality = Quality::kOutOfOrder;
    return event;
  }
  if (event.exchange_time_ns < unit_->last_time_ns) {
    ++ledger_.counts().time_backwards;
    event.quality |= Quality::kTimeBackwards;
  }
  unit_->last_time_ns = event.exchange_time_ns;
  if (symbol.gap_count != unit_->gap_count) {
    symbol.gap_count = unit_->gap_count;
    event.quality |= Quality::kGap;
  }
  event.end_of_update = !unit_->in_transaction;
  if (unit_->in_transaction && !symbol.in_update) {
    symbol.in_update = true;
    unit_->updated.push_back(index);
  }
  return event;
}

void PitchProtocol::lose_update(std::uint32_t symbol) noexcept {
  unit_->symbols[symbol].gap_count = unit_->gap_count - 1;
}

PitchProtocol::Terms PitchProtocol::long_terms(const std::byte* quantity,
                                               const std::byte* price) const noexcept {
  Terms terms{.quantity = load_little<std::uint32_t>(quantity)};
  const auto raw = load_little<std::int64_t>(price);
  const bool is_negative = raw < 0 && !unit_->is_complex;
  if (is_negative || __builtin_mul_overflow(raw, kNanosPerLongPrice, &terms.price_nanos)) return {};
  return terms;
}

PitchProtocol::Terms PitchProtocol::short_terms(const std::byte* quantity,
                                                const std::byte* price) const noexcept {
  const std::int64_t raw = unit_->is_complex ? std::int64_t{load_little<std::int16_t>(price)}
                                             : std::int64_t{load_little<std::uint16_t>(price)};
  return {.quantity = load_little<std::uint16_t>(quantity),
          .price_nanos = raw * kNanosPerShortPrice};
}

PitchProtocol::Outcome PitchProtocol::decode_add(const Message& message) {
  const std::byte* at = message.bytes.data();
  const bool is_short = message.type == PitchType::kAddShort;
  const bool is_expanded = message.type == PitchType::kAddExpanded;
  const auto index = find_symbol(text_at(message.bytes, is_short ? 17 : 19,
                                         is_expanded ? kExpandedSymbolBytes : kSymbolBytes));
  if (!index) return Outcome::kMalformed;
  Symbol& symbol = unit_->symbols[*index];
  if (!symbol.wanted) return Outcome::kFiltered;
  const char side = static_cast<char>(at[kSideAt]);
  if (side != 'B' && side != 'S') return Outcome::kMalformed;
  const Terms terms =
      is_short ? short_terms(at + 15, at + 23) : long_terms(at + 15, at + (is_expanded ? 27 : 25));
  const auto id = load_little<std::uint64_t>(at + kOrderIdAt);
  const bool is_kept = terms.quantity > 0 && unit_->orders.put({.id = id,
                                                                .symbol = *index & 0x7FFF'FFFFU,
                                                                .is_ask = side == 'S' ? 1U : 0U,
                                                                .quantity = terms.quantity});
  if (!is_kept) {
    lose_update(*index);
    return Outcome::kBadQuantity;
  }
  if (unit_->from_start && !symbol.cleared && !message.is_late) {
    symbol.cleared = true;
    MarketEvent& clear = add_event(message, *index, EventKind::kClear);
    clear.end_of_update = false;
    // A gap is told by the order behind it: its first orders may be missing.
    if (clear.quality.has(Quality::kGap)) lose_update(*index);
    clear.quality = Quality::kSnapshot;
  }
  MarketEvent& event = add_event(message, *index, EventKind::kAddOrder);
  event.order_id = id;
  event.side = side == 'B' ? Side::kBid : Side::kAsk;
  event.quantity_nanos = quantity_nanos(terms.quantity);
  event.price_nanos = terms.price_nanos;
  return Outcome::kDecoded;
}

PitchProtocol::Outcome PitchProtocol::decode_change(const Message& message) {
  const auto id = load_little<std::uint64_t>(message.bytes.data() + kOrderIdAt);
  OrderIndex::Entry* order = unit_->orders.find(id);
  if (order == nullptr) {
    // Of a symbol that was not asked for, or from before the feed's start.
    if (!ledger_.asked_symbols().empty()) return Outcome::kFiltered;
    ++unknown_order_count_;
    return Outcome::kIgnored;
  }
  switch (message.type) {
    case PitchType::kExecuted:
    case PitchType::kExecutedAtPrice:
      return decode_execution(message, *order);
    case PitchType::kReduceLong:
    case PitchType::kReduceShort:
      return decode_reduction(message, *order);
    case PitchType::kModifyLong:
    case PitchType::kModifyShort:
      return decode_modification(message, *order);
    default:
      add_event(message, order->symbol, EventKind::kDeleteOrder).order_id = id;
      unit_->orders.erase(id);
      return Outcome::kDecoded;
  }
}

// Some executions also take off what is not traded: they tell what remains.
PitchProtocol::Outcome PitchProtocol::decode_execution(const Message& message,
                                                       OrderIndex::Entry& order) {
  const std::byte* at = message.bytes.data();
  const auto executed = load_little<std::uint32_t>(at + 14);
  std::int64_t price_nanos = 0;
  std::uint32_t remaining = order.quantity - std::min(executed, order.quantity);
  if (message.type == PitchType::kExecutedAtPrice) {
    const Terms terms = long_terms(at + 14, at + 30);
    if (terms.quantity == 0) {
      lose_update(order.symbol);
      return Outcome::kBadQuantity;
    }
    price_nanos = terms.price_nanos;
    remaining = std::min(remaining, load_little<std::uint32_t>(at + 18));
  }
  if (executed == 0) return Outcome::kBadQuantity;
  const std::uint32_t cancelled = order.quantity - std::min(executed, order.quantity) - remaining;
  MarketEvent& event = add_event(message, order.symbol, EventKind::kExecuteOrder);
  event.order_id = order.id;
  event.quantity_nanos = quantity_nanos(executed);
  event.price_nanos = price_nanos;
  if (cancelled > 0) {
    event.end_of_update = false;
    MarketEvent& reduction = add_event(message, order.symbol, EventKind::kReduceOrder);
    reduction.order_id = order.id;
    reduction.quantity_nanos = quantity_nanos(cancelled);
  }
  order.quantity = remaining;
  if (remaining == 0) unit_->orders.erase(order.id);
  return Outcome::kDecoded;
}

PitchProtocol::Outcome PitchProtocol::decode_reduction(const Message& message,
                                                       OrderIndex::Entry& order) {
  const std::byte* at = message.bytes.data() + 14;
  const std::uint32_t cancelled = message.type == PitchType::kReduceLong
                                      ? load_little<std::uint32_t>(at)
                                      : load_little<std::uint16_t>(at);
  if (cancelled == 0) return Outcome::kBadQuantity;
  MarketEvent& event = add_event(message, order.symbol, EventKind::kReduceOrder);
  event.order_id = order.id;
  event.quantity_nanos = quantity_nanos(cancelled);
  order.quantity -= std::min(cancelled, order.quantity);
  if (order.quantity == 0) unit_->orders.erase(order.id);
  return Outcome::kDecoded;
}

PitchProtocol::Outcome PitchProtocol::decode_modification(const Message& message,
                                                          OrderIndex::Entry& order) {
  const std::byte* at = message.bytes.data() + 14;
  const Terms terms =
      message.type == PitchType::kModifyLong ? long_terms(at, at + 4) : short_terms(at, at + 2);
  if (terms.quantity == 0) {
    lose_update(order.symbol);
    return Outcome::kBadQuantity;
  }
  MarketEvent& event = add_event(message, order.symbol, EventKind::kModifyOrder);
  event.order_id = order.id;
  event.side = order.is_ask != 0 ? Side::kAsk : Side::kBid;
  event.quantity_nanos = quantity_nanos(terms.quantity);
  event.price_nanos = terms.price_nanos;
  order.quantity = terms.quantity;
  return Outcome::kDecoded;
}

// A trade against an order that was not shown; its side says nothing ('B' always in equities).
PitchProtocol::Outcome PitchProtocol::decode_trade(const Message& message) {
  const std::byte* at = message.bytes.data();
  const bool is_short = message.type == PitchType::kTradeShort;
  const bool is_expanded = message.type == PitchType::kTradeExpanded;
  const auto index = find_symbol(text_at(message.bytes, is_short ? 17 : 19,
                                         is_expanded ? kExpandedSymbolBytes : kSymbolBytes));
  if (!index) return Outcome::kMalformed;
  if (!unit_->symbols[*index].wanted) return Outcome::kFiltered;
  const Terms terms =
      is_short ? short_terms(at + 15, at + 23) : long_terms(at + 15, at + (is_expanded ? 27 : 25));
  if (terms.quantity == 0) return Outcome::kBadQuantity;
  MarketEvent& event = add_event(message, *index, EventKind::kTrade);
  event.order_id = load_little<std::uint64_t>(at + kOrderIdAt);
  event.quantity_nanos = quantity_nanos(terms.quantity);
  event.price_nanos = terms.price_nanos;
  return Outcome::kDecoded;
}

PitchProtocol::Outcome PitchProtocol::decode_status(const Message& message) {
  const auto index = find_symbol(text_at(message.bytes, 6, kExpandedSymbolBytes));
  if (!index) return Outcome::kMalformed;
  if (!unit_->symbols[*index].wanted) return Outcome::kFiltered;
  TradingStatus status = TradingStatus::kUnknown;
  switch (static_cast<char>(message.bytes[14])) {
    case 'T':
      status = TradingStatus::kTrading;
      break;
    case 'H':
    case 'S':  // suspended on this exchange
      status = TradingStatus::kHalted;
      break;
    case 'A':  // accepting orders for queuing
    case 'Q':  // quote only
    case 'R':  // opening rotation
      status = TradingStatus::kAuction;
      break;
    default:
      return Outcome::kMalformed;
  }
  MarketEvent& event = add_event(message, *index, EventKind::kStatus);
  event.status = status;
  event.end_of_update = false;
  return Outcome::kDecoded;
}

// The name of an option by the OSI's rule, for the short symbol that the feed uses.
PitchProtocol::Outcome PitchProtocol::decode_mapping(const Message& message) {
  const std::string_view name = text_at(message.bytes, 8, 21);
  const auto index = find_symbol(text_at(message.bytes, 2, kSymbolBytes));
  if (!index || !is_printable(name)) return Outcome::kMalformed;
  name_symbol(*index, std::string(name));
  return Outcome::kIgnored;
}

PitchProtocol::Outcome PitchProtocol::decode_futures_definition(const Message& message) {
  const std::byte* at = message.bytes.data();
  const std::string_view root = text_at(message.bytes, 16, kSymbolBytes);
  const auto index = find_symbol(text_at(message.bytes, 6, kSymbolBytes));
  if (!index || !is_printable(root)) return Outcome::kMalformed;
  name_symbol(*index,
              std::string(root) + " " + std::to_string(load_little<std::uint32_t>(at + 23)));
  const Symbol& symbol = unit_->symbols[*index];
  std::int64_t tick_nanos = 0;
  const bool fits =
      !__builtin_mul_overflow(load_little<std::int64_t>(at + 30), kNanosPerLongPrice, &tick_nanos);
  if (!fits || tick_nanos <= 0) return Outcome::kBadQuantity;
  if (symbol.wanted && !symbol.has_event) ledger_.set_price_tick(symbol.instrument, tick_nanos);
  return Outcome::kIgnored;
}

// Nothing rests in the unit from here on: what was lost before does not matter.
PitchProtocol::Outcome PitchProtocol::clear_unit(const Message& message) {
  if (message.is_late) return Outcome::kIgnored;
  unit_->orders.clear();
  unit_->from_start = true;
  for (std::uint32_t i = 0; i < unit_->symbols.size(); ++i) {
    Symbol& symbol = unit_->symbols[i];
    if (!symbol.wanted) continue;
    symbol.cleared = true;
    MarketEvent& clear = add_event(message, i, EventKind::kClear);
    clear.quality = Quality::kSnapshot;
    clear.end_of_update = true;
  }
  return Outcome::kDecoded;
}

PitchProtocol::Outcome PitchProtocol::end_transaction(const Message& message) {
  if (message.is_late) return Outcome::kIgnored;
  unit_->in_transaction = false;
  if (unit_->updated.empty()) return Outcome::kIgnored;
  for (const std::uint32_t index : unit_->updated) {
    unit_->symbols[index].in_update = false;
    add_event(message, index, EventKind::kEndOfUpdate);
  }
  unit_->updated.clear();
  return Outcome::kDecoded;
}

std::optional<std::uint32_t> PitchProtocol::find_symbol(std::string_view field) {
  if (!is_printable(field) || field.size() > kExpandedSymbolBytes) return std::nullopt;
  std::array<char, kExpandedSymbolBytes> letters{};
  std::copy(field.begin(), field.end(), letters.begin());
  const auto key = std::bit_cast<std::uint64_t>(letters);
  const auto found = unit_->symbol_by_name.find(key);
  if (found != unit_->symbol_by_name.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(unit_->symbols.size());
  unit_->symbol_by_name.emplace(key, index);
  Symbol& symbol = unit_->symbols.emplace_back();
  symbol.gap_count = unit_->from_start ? 0 : unit_->gap_count;
  symbol.wanted = ledger_.wants(field);
  if (symbol.wanted)
    symbol.instrument = ledger_.add_instrument(instrument_named(std::string(field)));
  return index;
}

void PitchProtocol::name_symbol(std::uint32_t index, std::string name) {
  Symbol& symbol = unit_->symbols[index];
  if (symbol.wanted) return ledger_.rename_instrument(symbol.instrument, name);
  if (!ledger_.wants(name)) return;
  symbol.wanted = true;
  symbol.instrument = ledger_.add_instrument(instrument_named(std::move(name)));
}

}  // namespace tocsin
