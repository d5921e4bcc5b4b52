// Trades, statistics, statuses, definitions, resets and snapshots of MDP 3.0. A snapshot is taken
// by a security that needs one, if nothing newer was applied to it; what it holds already is
// skipped.
#include <algorithm>

#include "base/decimal.h"
#include "ingest/mdp3_protocol.h"

namespace tocsin {
namespace {

TradingStatus status_of(std::int64_t code) noexcept {
  switch (code) {
    case 17:  // ready to trade
      return TradingStatus::kTrading;
    case 2:  // trading halt
      return TradingStatus::kHalted;
    case 4:   // close
    case 18:  // not available for trading
    case 26:  // after the close
      return TradingStatus::kClosed;
    case 15:  // new price indication
    case 21:  // before the opening
    case 24:  // before a cross
    case 25:  // cross
      return TradingStatus::kAuction;
    default:
      return TradingStatus::kUnknown;
  }
}

bool is_symbol(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7F'; });
}

}  // namespace

MdpProtocol::Outcome MdpProtocol::decode_trades(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  const Group& entries = message.groups[layout.entries_index];
  Outcome outcome = Outcome::kFiltered;
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t id = 0;
    if (!layout.entry_security_id.read(entry, id)) return Outcome::kMalformed;
    Security& security = *find_security(id);
    if (!security.wanted) continue;
    if (!follow_report(security, layout.entry_report_number, entry)) {
      worsen(outcome, Outcome::kIgnored);
      continue;
    }
    std::int64_t action = 0;
    std::int64_t price_nanos = 0;
    std::int64_t quantity = 0;
    std::int64_t quantity_nanos = 0;
    if (layout.action.read(entry, action) && action != 0) {
      worsen(outcome, Outcome::kIgnored);  // a correction of an earlier trade
      continue;
    }
    if (!price_of(layout.price, entry, price_nanos) || !layout.quantity.read(entry, quantity) ||
        quantity <= 0 || __builtin_mul_overflow(quantity, kNanosPerUnit, &quantity_nanos)) {
      worsen(outcome, Outcome::kBadQuantity);
      continue;
    }
    MarketEvent& event = add_event(message, security, EventKind::kTrade);
    std::int64_t aggressor = 0;
    (void)layout.aggressor_side.read(entry, aggressor);
    event.side = aggressor == 1 ? Side::kBid : aggressor == 2 ? Side::kAsk : Side::kNone;
    event.price_nanos = price_nanos;
    event.quantity_nanos = quantity_nanos;
    worsen(outcome, Outcome::kDecoded);
  }
  return entries.entry_count == 0 ? Outcome::kIgnored : outcome;
}

// Only their report numbers matter: a hole in them is a lost entry of another message.
MdpProtocol::Outcome MdpProtocol::decode_statistics(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kIgnored;
  const Group& entries = message.groups[layout.entries_index];
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t id = 0;
    if (!layout.entry_security_id.read(entry, id)) return Outcome::kMalformed;
    Security& security = *find_security(id);
    if (security.wanted) (void)follow_report(security, layout.entry_report_number, entry);
  }
  return Outcome::kIgnored;
}

MdpProtocol::Outcome MdpProtocol::decode_status(const Message& message) {
  const MdpTemplate& layout = message.layout;
  constexpr std::int64_t kNoChange = 103;
  std::int64_t code = 0;
  if (!layout.trading_status.read(message.block, code) || code == kNoChange) {
    return Outcome::kIgnored;
  }
  Outcome outcome = Outcome::kIgnored;
  const auto tell = [&](Security& security) {
    if (!security.wanted) return;
    add_event(message, security, EventKind::kStatus).status = status_of(code);
    outcome = Outcome::kDecoded;
  };
  std::int64_t id = 0;
  if (layout.security_id.read(message.block, id)) {
    tell(*find_security(id));
    return outcome;
  }
  // Of a whole group, as their definitions named it.
  const std::string_view group = layout.security_group.text(message.block);
  if (group.empty()) return Outcome::kIgnored;
  for (Security& security : securities_) {
    const std::string_view own(security.group.data(), security.group.size());
    if (own.substr(0, own.find('\0')) == group) tell(security);
  }
  return outcome;
}

MdpProtocol::Outcome MdpProtocol::decode_definition(const Message& message) {
  const MdpTemplate& layout = message.layout;
  std::int64_t id = 0;
  const std::string_view symbol = layout.symbol.text(message.block);
  if (!layout.security_id.read(message.block, id) || !is_symbol(symbol)) {
    return Outcome::kMalformed;
  }
  Security& security = *find_security(id);
  name_security(security, symbol);
  if (!security.wanted) return Outcome::kFiltered;
  const std::string_view group = layout.security_group.text(message.block);
  security.group.fill('\0');
  std::copy_n(group.begin(), std::min(group.size(), security.group.size()), security.group.begin());
  if (security.has_event) return Outcome::kIgnored;
  std::int64_t tick_nanos = 0;
  if (price_of(layout.tick, message.block, tick_nanos) && tick_nanos > 0) {
    ledger_.set_price_tick(security.instrument, tick_nanos);
  }
  if (layout.feed_types_index >= layout.groups.size()) return Outcome::kIgnored;
  const Group& feeds = message.groups[layout.feed_types_index];
  for (std::size_t i = 0; i < feeds.entry_count; ++i) {
    std::int64_t depth = 0;
    // Of the book of real orders; that of implied ones is not read.
    if (layout.feed_type.text(feeds.entry(i)) == "GBX" &&
        layout.market_depth.read(feeds.entry(i), depth) && depth > 0) {
      const auto levels = std::min(static_cast<std::size_t>(depth), MdpLadder::kDepthMax);
      for (MdpLadder& ladder : security.ladders) ladder.set_depth(levels);
    }
  }
  return Outcome::kIgnored;
}

void MdpProtocol::name_security(Security& security, std::string_view symbol) {
  if (security.named) return;
  security.named = true;
  if (security.wanted) {
    ledger_.rename_instrument(security.instrument, symbol);
  } else if (ledger_.wants(symbol)) {
    security.wanted = true;
    security.instrument = ledger_.add_instrument({.symbol = std::string(symbol)});
  }
}

// The channel starts over: all its books are empty, report numbers begin anew.
MdpProtocol::Outcome MdpProtocol::decode_reset(const Message& message) {
  const auto stream = static_cast<std::size_t>(stream_ - streams_.data());
  Outcome outcome = Outcome::kIgnored;
  for (Security& security : securities_) {
    if (!security.wanted || security.stream != stream) continue;
    clear_book(message, security);
    security.has_report = false;
    security.gap_count = stream_->gap_count;
    message.batch.back().end_of_update = true;
    security.in_update = false;
    outcome = Outcome::kDecoded;
  }
  for (const std::uint32_t index : updated_) securities_[index].in_update = false;
  updated_.clear();
  return outcome;
}

MdpProtocol::Security* MdpProtocol::open_snapshot(const Message& message, Outcome& outcome) {
  const MdpTemplate& layout = message.layout;
  std::int64_t id = 0;
  std::int64_t last_sequence = 0;
  outcome = Outcome::kMalformed;
  if (!layout.security_id.read(message.block, id) ||
      !layout.last_sequence.read(message.block, last_sequence)) {
    return nullptr;
  }
  Security& security = *find_security(id);
  outcome = Outcome::kFiltered;
  if (!security.wanted) return nullptr;
  outcome = Outcome::kIgnored;
  const auto last = static_cast<std::uint32_t>(last_sequence);
  if (security.has_book || last < security.sequence) return nullptr;
  outcome = Outcome::kDecoded;
  security.snapshot_sequence = last;
  security.gap_count = streams_[security.stream].gap_count;
  std::int64_t report = 0;
  security.has_report = layout.report_number.read(message.block, report);
  security.report = static_cast<std::uint32_t>(report);
  return &security;
}

// A snapshot is an update by itself, unless an event of the venue is open.
void MdpProtocol::leave_event(Security& security) noexcept {
  const auto index = static_cast<std::uint32_t>(&security - securities_.data());
  if (!updated_.empty() && updated_.back() == index) {
    updated_.pop_back();
    security.in_update = false;
  }
}

MdpProtocol::Outcome MdpProtocol::decode_snapshot(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (options_.by_order) return Outcome::kIgnored;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  Outcome outcome = Outcome::kIgnored;
  Security* security = open_snapshot(message, outcome);
  if (security == nullptr) return outcome;
  clear_book(message, *security);
  const Group& entries = message.groups[layout.entries_index];
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t type = 0;
    std::int64_t number = 0;
    if (!layout.entry_type.read(entry, type) || !layout.level.read(entry, number)) continue;
    if ((type != '0' && type != '1') || number < 1) continue;  // statistics, implied levels
    const std::size_t side = type == '0' ? 0 : 1;
    const auto level = static_cast<std::size_t>(number - 1);
    if (level >= security->ladders[side].depth()) continue;
    std::int64_t price_nanos = 0;
    std::int64_t quantity = 0;
    std::int64_t quantity_nanos = 0;
    if (!price_of(layout.price, entry, price_nanos) || !layout.quantity.read(entry, quantity) ||
        quantity < 0 || __builtin_mul_overflow(quantity, kNanosPerUnit, &quantity_nanos)) {
      outcome = Outcome::kBadQuantity;
      lose_update(*security);
      continue;
    }
    (void)security->ladders[side].replace(level, price_nanos);
    set_level(message, *security, side, price_nanos, quantity_nanos);
    message.batch.back().quality |= Quality::kSnapshot;
  }
  message.batch.back().end_of_update = true;
  leave_event(*security);
  return outcome;
}

// In chunks; the first one clears the book, the last one completes it.
MdpProtocol::Outcome MdpProtocol::decode_order_snapshot(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (!options_.by_order) return Outcome::kIgnored;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  std::int64_t chunk = 1;
  std::int64_t chunk_count = 1;
  (void)layout.chunk.read(message.block, chunk);
  (void)layout.chunk_count.read(message.block, chunk_count);
  std::int64_t id = 0;
  if (!layout.security_id.read(message.block, id)) return Outcome::kMalformed;
  Outcome outcome = Outcome::kDecoded;
  if (chunk == 1) {
    Security* opened = open_snapshot(message, outcome);
    if (opened == nullptr) return outcome;
    clear_book(message, *opened);
    opened->next_chunk = 2;
    opened->has_book = false;
  } else {
    Security& security = *find_security(id);
    if (!security.wanted) return Outcome::kFiltered;
    if (security.next_chunk != chunk) return Outcome::kIgnored;
    ++security.next_chunk;
  }
  Security& security = *find_security(id);
  const Group& entries = message.groups[layout.entries_index];
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    std::int64_t order_id = 0;
    if (!layout.order_id.read(entries.entry(i), order_id)) continue;
    add_snapshot_order(message, security, entries.entry(i), order_id, outcome);
  }
  if (chunk == chunk_count) {
    security.next_chunk = 0;
    security.has_book = true;
    if (message.batch.empty()) add_event(message, security, EventKind::kEndOfUpdate);
    message.batch.back().end_of_update = true;
  }
  leave_event(security);
  return outcome;
}

void MdpProtocol::add_snapshot_order(const Message& message, Security& security,
                                     std::span<const std::byte> entry, std::int64_t order_id,
                                     Outcome& outcome) {
  const MdpTemplate& layout = message.layout;
  std::int64_t type = 0;
  std::int64_t price_nanos = 0;
  std::int64_t quantity = 0;
  std::int64_t quantity_nanos = 0;
  const bool has_side = layout.entry_type.read(entry, type) && (type == '0' || type == '1');
  if (!has_side || !price_of(layout.price, entry, price_nanos) ||
      !layout.display_quantity.read(entry, quantity) || quantity <= 0 ||
      __builtin_mul_overflow(quantity, kNanosPerUnit, &quantity_nanos)) {
    outcome = Outcome::kBadQuantity;
    return lose_update(security);
  }
  MarketEvent& event = add_event(message, security, EventKind::kAddOrder);
  event.quality |= Quality::kSnapshot;
  event.order_id = static_cast<std::uint64_t>(order_id);
  event.side = type == '0' ? Side::kBid : Side::kAsk;
  event.price_nanos = price_nanos;
  event.quantity_nanos = quantity_nanos;
}

}  // namespace tocsin
