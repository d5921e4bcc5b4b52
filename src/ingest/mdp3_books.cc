// What MDP 3.0's messages do to books. A book by price levels is a ladder of prices a side: actions
// on levels become quantities at prices. Report numbers tell which securities a gap has hit.
#include <algorithm>

#include "base/decimal.h"
#include "ingest/mdp3_protocol.h"

namespace tocsin {
namespace {

constexpr std::size_t kBids = 0;
constexpr std::size_t kAsks = 1;

enum class LevelAction : std::uint8_t {
  kNew = 0,
  kChange = 1,
  kDelete = 2,
  kDeleteThrough = 3,
  kDeleteFrom = 4,
  kOverlay = 5,
};

std::optional<std::size_t> side_of(std::int64_t entry_type) noexcept {
  if (entry_type == '0') return kBids;
  if (entry_type == '1') return kAsks;
  return std::nullopt;
}

Side side_at(std::size_t side) noexcept { return side == kBids ? Side::kBid : Side::kAsk; }

// False if it is negative or past what nanos can hold.
bool to_quantity_nanos(std::int64_t quantity, std::int64_t& nanos) noexcept {
  return quantity >= 0 && !__builtin_mul_overflow(quantity, kNanosPerUnit, &nanos);
}

}  // namespace

MarketEvent& MdpProtocol::add_event(const Message& message, Security& security, EventKind kind) {
  security.has_event = true;
  security.last_record = ledger_.counts().records;
  security.last_index = message.batch.size();
  if (!security.in_update && kind != EventKind::kEndOfUpdate && kind != EventKind::kStatus) {
    security.in_update = true;
    updated_.push_back(static_cast<std::uint32_t>(&security - securities_.data()));
  }
  MarketEvent& event = message.batch.emplace_back();
  event.exchange_time_ns = message.time_ns;
  event.receive_time_ns = datagram_.receive_time_ns;
  event.sequence = sequence_;
  event.record = ledger_.counts().records;
  event.instrument = security.instrument;
  event.kind = kind;
  if (security.tells_gap) {
    security.tells_gap = false;
    event.quality = Quality::kGap;
  }
  return event;
}

void MdpProtocol::lose_update(Security& security) noexcept {
  security.tells_gap = true;
  security.has_book = false;
}

void MdpProtocol::worsen(Outcome& outcome, Outcome other) noexcept {
  if (outcome == Outcome::kIgnored || outcome == Outcome::kFiltered || other > outcome) {
    outcome = other;
  }
}

bool MdpProtocol::price_of(const SbeField& field, std::span<const std::byte> entry,
                           std::int64_t& nanos) const noexcept {
  std::int64_t mantissa = 0;
  if (!field.read(entry, mantissa)) return false;
  std::int64_t scale = 1;
  for (int i = -9; i < field.exponent; ++i) {
    if (__builtin_mul_overflow(scale, std::int64_t{10}, &scale)) return false;
  }
  return !__builtin_mul_overflow(mantissa, scale, &nanos);
}

// Entries of a security are numbered one by one, whatever they tell. After a gap in the packets an
// unbroken number proves that the security lost nothing.
bool MdpProtocol::follow_report(Security& security, const SbeField& number,
                                std::span<const std::byte> entry) {
  if (security.snapshot_sequence != 0 && sequence_ <= security.snapshot_sequence) return false;
  security.snapshot_sequence = 0;
  security.sequence = sequence_;
  security.stream = static_cast<std::size_t>(stream_ - streams_.data());
  std::int64_t report = 0;
  const bool has_number = number.read(entry, report);
  const auto now = static_cast<std::uint32_t>(report);
  const bool is_whole = has_number ? !security.has_report || now == security.report + 1
                                   : security.gap_count == stream_->gap_count;
  const bool is_new = has_number && !security.has_report;
  if (!is_whole || (is_new && security.gap_count != stream_->gap_count)) lose_update(security);
  security.gap_count = stream_->gap_count;
  if (has_number) {
    security.has_report = true;
    security.report = now;
  }
  return true;
}

MdpProtocol::Outcome MdpProtocol::decode_book(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  const Group& entries = message.groups[layout.entries_index];
  Outcome outcome = entries.entry_count == 0 ? Outcome::kIgnored : Outcome::kFiltered;
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t id = 0;
    std::int64_t type = 0;
    if (!layout.entry_security_id.read(entry, id) || !layout.entry_type.read(entry, type)) {
      return Outcome::kMalformed;
    }
    Security& security = *find_security(id);
    if (!security.wanted) continue;
    if (!follow_report(security, layout.entry_report_number, entry)) {
      worsen(outcome, Outcome::kIgnored);
      continue;
    }
    if (type == 'J') {  // the venue resets the book
      clear_book(message, security);
      worsen(outcome, Outcome::kDecoded);
    } else if (const auto side = side_of(type)) {
      change_level(message, security, *side, entry, outcome);
    } else {
      worsen(outcome, Outcome::kIgnored);  // implied levels are a book of their own
    }
  }
  return outcome;
}

void MdpProtocol::set_level(const Message& message, Security& security, std::size_t side,
                            std::int64_t price_nanos, std::int64_t quantity_nanos) {
  if (price_nanos == MdpLadder::kNoPrice) return;
  MarketEvent& event = add_event(message, security, EventKind::kSetLevel);
  event.side = side_at(side);
  event.price_nanos = price_nanos;
  event.quantity_nanos = quantity_nanos;
}

void MdpProtocol::change_level(const Message& message, Security& security, std::size_t side,
                               std::span<const std::byte> entry, Outcome& outcome) {
  const MdpTemplate& layout = message.layout;
  MdpLadder& ladder = security.ladders[side];
  std::int64_t number = 0;
  std::int64_t action = 0;
  if (!layout.level.read(entry, number) || !layout.action.read(entry, action) || number < 1) {
    lose_update(security);
    return worsen(outcome, Outcome::kMalformed);
  }
  // Levels below those that the book shows change nothing that is kept.
  const auto level = static_cast<std::size_t>(number - 1);
  if (level >= ladder.depth()) return worsen(outcome, Outcome::kIgnored);
  const auto what = static_cast<LevelAction>(action);
  if (what == LevelAction::kDeleteThrough || what == LevelAction::kDeleteFrom) {
    const bool through = what == LevelAction::kDeleteThrough;
    const std::size_t count = through ? level + 1 : ladder.depth() - level;
    for (std::size_t i = 0; i < count; ++i) {
      set_level(message, security, side, ladder.remove(through ? 0 : level), 0);
    }
    return worsen(outcome, Outcome::kDecoded);
  }
  std::int64_t price_nanos = 0;
  std::int64_t quantity = 0;
  std::int64_t quantity_nanos = 0;
  const bool is_delete = what == LevelAction::kDelete;
  const bool has_price = price_of(layout.price, entry, price_nanos);
  const bool has_quantity =
      layout.quantity.read(entry, quantity) && to_quantity_nanos(quantity, quantity_nanos);
  if (action < 0 || action > 5 || (!is_delete && (!has_price || !has_quantity))) {
    lose_update(security);
    return worsen(outcome, Outcome::kBadQuantity);
  }
  worsen(outcome, Outcome::kDecoded);
  if (is_delete) {
    const std::int64_t removed = ladder.remove(level);
    if (removed != price_nanos) set_level(message, security, side, removed, 0);
    if (has_price) set_level(message, security, side, price_nanos, 0);
    return;
  }
  const std::int64_t gone = what == LevelAction::kNew ? ladder.insert(level, price_nanos)
                                                      : ladder.replace(level, price_nanos);
  if (gone != price_nanos) set_level(message, security, side, gone, 0);
  set_level(message, security, side, price_nanos, quantity_nanos);
}

void MdpProtocol::clear_book(const Message& message, Security& security) {
  for (MdpLadder& ladder : security.ladders) ladder.clear();
  security.has_book = true;
  security.tells_gap = false;
  add_event(message, security, EventKind::kClear).quality = Quality::kSnapshot;
}

// Orders in the second group of a book message name the entry that they belong to, from 1 on.
MdpProtocol::Outcome MdpProtocol::decode_orders_of(const Message& message) {
  const MdpTemplate& layout = message.layout;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  const Group& entries = message.groups[layout.entries_index];
  Outcome outcome = entries.entry_count == 0 ? Outcome::kIgnored : Outcome::kFiltered;
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t id = 0;
    std::int64_t type = 0;
    if (!layout.entry_security_id.read(entry, id) || !layout.entry_type.read(entry, type)) {
      return Outcome::kMalformed;
    }
    Security& security = *find_security(id);
    if (!security.wanted) continue;
    worsen(outcome, Outcome::kIgnored);
    if (follow_report(security, layout.entry_report_number, entry) && type == 'J') {
      clear_book(message, security);
      worsen(outcome, Outcome::kDecoded);
    }
  }
  if (layout.orders_index >= layout.groups.size()) return outcome;
  const Group& orders = message.groups[layout.orders_index];
  for (std::size_t i = 0; i < orders.entry_count; ++i) {
    const std::span<const std::byte> order = orders.entry(i);
    std::int64_t reference = 0;
    std::int64_t action = 0;
    std::int64_t order_id = 0;
    if (!layout.order_reference.read(order, reference) || reference < 1 ||
        static_cast<std::size_t>(reference) > entries.entry_count ||
        !layout.order_action.read(order, action) || !layout.order_order_id.read(order, order_id)) {
      return Outcome::kMalformed;
    }
    const auto entry = entries.entry(static_cast<std::size_t>(reference - 1));
    worsen(outcome, change_order(message, {.entry = entry,
                                           .action = action,
                                           .order_id = order_id,
                                           .quantity = layout.order_quantity,
                                           .order = order}));
  }
  return outcome;
}

MdpProtocol::Outcome MdpProtocol::decode_order_book(const Message& message) {
  if (!options_.by_order) return Outcome::kIgnored;
  const MdpTemplate& layout = message.layout;
  if (layout.entries_index >= layout.groups.size()) return Outcome::kMalformed;
  const Group& entries = message.groups[layout.entries_index];
  Outcome outcome = Outcome::kIgnored;
  for (std::size_t i = 0; i < entries.entry_count; ++i) {
    const std::span<const std::byte> entry = entries.entry(i);
    std::int64_t id = 0;
    std::int64_t action = 0;
    std::int64_t order_id = 0;
    if (!layout.entry_security_id.read(entry, id) || !layout.action.read(entry, action)) {
      return Outcome::kMalformed;
    }
    Security& security = *find_security(id);
    if (!security.wanted) {
      worsen(outcome, Outcome::kFiltered);
      continue;
    }
    if (!follow_report(security, {}, entry)) continue;
    if (!layout.order_id.read(entry, order_id)) continue;  // a reset names none
    worsen(outcome, change_order(message, {.entry = entry,
                                           .action = action,
                                           .order_id = order_id,
                                           .quantity = layout.display_quantity,
                                           .order = entry}));
  }
  return outcome;
}

MdpProtocol::Outcome MdpProtocol::change_order(const Message& message, const OrderChange& change) {
  const MdpTemplate& layout = message.layout;
  std::int64_t id = 0;
  std::int64_t type = 0;
  (void)layout.entry_security_id.read(change.entry, id);
  (void)layout.entry_type.read(change.entry, type);
  Security& security = *find_security(id);
  const auto side = side_of(type);
  if (!security.wanted) return Outcome::kFiltered;
  if (!side || (security.snapshot_sequence != 0 && sequence_ <= security.snapshot_sequence)) {
    return Outcome::kIgnored;
  }
  constexpr std::int64_t kNew = 0;
  constexpr std::int64_t kDelete = 2;
  std::int64_t price_nanos = 0;
  std::int64_t quantity = 0;
  std::int64_t quantity_nanos = 0;
  const bool fits = price_of(layout.price, change.entry, price_nanos) &&
                    change.quantity.read(change.order, quantity) && quantity > 0 &&
                    to_quantity_nanos(quantity, quantity_nanos);
  if (change.action != kDelete && (!fits || change.action < 0 || change.action > kDelete)) {
    lose_update(security);
    return Outcome::kBadQuantity;
  }
  MarketEvent& event = add_event(message, security,
                                 change.action == kNew      ? EventKind::kAddOrder
                                 : change.action == kDelete ? EventKind::kDeleteOrder
                                                            : EventKind::kModifyOrder);
  event.order_id = static_cast<std::uint64_t>(change.order_id);
  event.side = side_at(*side);
  if (change.action != kDelete) {
    event.price_nanos = price_nanos;
    event.quantity_nanos = quantity_nanos;
  }
  return Outcome::kDecoded;
}

}  // namespace tocsin
