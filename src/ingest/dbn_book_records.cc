// What mbo, mbp-1, mbp-10, tbbo and trades records do to a book. Source: Databento's public
// description of these schemas; how CME's records end their event was checked on real days.
#include "base/decimal.h"
#include "ingest/dbn_decoder.h"

namespace tocsin {
namespace {

std::int64_t quantity_nanos(std::uint32_t size) noexcept {
  return static_cast<std::int64_t>(size) * kNanosPerUnit;
}

// Of an order: its own; of a trade: the aggressor's.
Side side_of(char letter) noexcept {
  return letter == 'B' ? Side::kBid : letter == 'A' ? Side::kAsk : Side::kNone;
}

}  // namespace

void DbnDecoder::decode_mbo(std::span<const std::byte> bytes, EventBatch& batch) {
  if (bytes.size() < dbn::mbo::kSizeBytes) return count_short(bytes, dbn::mbo::kSizeBytes);
  const MboRecord record(bytes.first<dbn::mbo::kSizeBytes>());
  const unsigned flags = record.little<std::uint8_t, dbn::mbo::kFlags>();
  const char action = record.letter<dbn::mbo::kAction>();
  ++counts_by_action_[static_cast<unsigned char>(action)];
  Opened opened;
  if (!open_record(bytes,
                   {record.little<std::uint64_t, dbn::mbo::kReceiveTime>(),
                    record.little<std::uint32_t, dbn::mbo::kSequence>(), flags},
                   opened)) {
    return;
  }
  Listing& listing = *opened.listing;
  if (!opened.is_late) {
    const bool is_snapshot = (flags & dbn::flag::kSnapshot) != 0;
    const bool starts_snapshot = is_snapshot && !listing.in_snapshot;
    listing.in_snapshot = is_snapshot;
    // Not every snapshot opens with a record that clears the book.
    if (starts_snapshot && action != 'R') batch.emplace_back(opened.event).kind = EventKind::kClear;
    if (starts_snapshot || action == 'R') listing.tell_gap = false;  // the book is known anew
  }
  append_action(record, opened, batch);
  finish_update((flags & dbn::flag::kLast) != 0, opened, batch);
}

// A record may end the venue's event without changing the book (a fill, whose cancel came before).
void DbnDecoder::finish_update(bool is_last, const Opened& opened, EventBatch& batch) {
  if (opened.is_late) return;
  if (is_last) {
    if (batch.empty()) batch.emplace_back(opened.event).kind = EventKind::kEndOfUpdate;
    batch.back().end_of_update = true;
  }
  if (opened.listing->tell_gap && !batch.empty()) {
    batch.front().quality |= Quality::kGap;
    opened.listing->tell_gap = false;
  }
}

void DbnDecoder::append_action(const MboRecord& record, const Opened& opened, EventBatch& batch) {
  const std::int64_t price_nanos = record.little<std::int64_t, dbn::mbo::kPrice>();
  const auto size = record.little<std::uint32_t, dbn::mbo::kQuantity>();
  const Side side = side_of(record.letter<dbn::mbo::kSide>());
  const unsigned flags = record.little<std::uint8_t, dbn::mbo::kFlags>();
  EventKind kind = EventKind::kTrade;
  switch (record.letter<dbn::mbo::kAction>()) {
    case 'A':
      if ((flags & dbn::flag::kTopOfBook) != 0) return append_top(record, opened, batch);
      if (side == Side::kNone) return count_malformed(opened, "an added order without a side");
      if (price_nanos == dbn::kNoPrice || size == 0) return count_bad_quantity(opened);
      kind = EventKind::kAddOrder;
      break;
    case 'M':
      if (side == Side::kNone) return count_malformed(opened, "a modified order without a side");
      if (price_nanos == dbn::kNoPrice) return count_bad_quantity(opened);
      kind = size == 0 ? EventKind::kDeleteOrder : EventKind::kModifyOrder;
      break;
    case 'C':
      kind = EventKind::kReduceOrder;
      break;
    case 'R':
      batch.emplace_back(opened.event).kind = EventKind::kClear;
      return;
    case 'T':
      if (price_nanos == dbn::kNoPrice || size == 0) return count_bad_quantity(opened);
      break;
    case 'F':  // the resting side of a trade: the book follows by a cancel or a modification
    case 'N':
      ++counters_.ignored;
      return;
    default:
      return count_malformed(opened, "an mbo record of an unknown action");
  }
  if ((flags & dbn::flag::kAggregated) != 0 && kind != EventKind::kTrade) {
    ++counters_.ignored;  // a price level in a feed of orders: no publisher's book is built so
    return;
  }
  MarketEvent& event = batch.emplace_back(opened.event);
  event.kind = kind;
  event.side = side;
  event.order_id = record.little<std::uint64_t, dbn::mbo::kOrderId>();
  event.price_nanos = price_nanos == dbn::kNoPrice ? 0 : price_nanos;
  event.quantity_nanos = quantity_nanos(size);
}

// Publishers without orders send the best level of a side; without a price the side is empty.
void DbnDecoder::append_top(const MboRecord& record, const Opened& opened, EventBatch& batch) {
  const Side side = side_of(record.letter<dbn::mbo::kSide>());
  if (side == Side::kNone) return count_malformed(opened, "a best level without a side");
  MarketEvent& clear = batch.emplace_back(opened.event);
  clear.kind = EventKind::kClear;
  clear.side = side;
  const std::int64_t price_nanos = record.little<std::int64_t, dbn::mbo::kPrice>();
  const auto size = record.little<std::uint32_t, dbn::mbo::kQuantity>();
  if (price_nanos == dbn::kNoPrice || size == 0) return;
  append_level({side, price_nanos, size}, opened, batch);
}

void DbnDecoder::append_level(const Level& level, const Opened& opened, EventBatch& batch) {
  MarketEvent& event = batch.emplace_back(opened.event);
  event.kind = EventKind::kSetLevel;
  event.side = level.side;
  event.price_nanos = level.price_nanos;
  event.quantity_nanos = quantity_nanos(level.size);
}

// Trades alone (no level), or the levels after the record's own change to the book. Those of tbbo
// stand before its trade. Each record is an update: the one that has the venue's end flag may lie
// too deep in the book to be sent.
void DbnDecoder::decode_levels(std::span<const std::byte> bytes, std::size_t level_count,
                               EventBatch& batch) {
  const std::size_t size_min = dbn::trade::kSizeBytes + level_count * dbn::level::kSizeBytes;
  if (bytes.size() < size_min) return count_short(bytes, size_min);
  const TradeRecord record(bytes.first<dbn::trade::kSizeBytes>());
  Opened opened;
  if (!open_record(bytes,
                   {record.little<std::uint64_t, dbn::trade::kReceiveTime>(),
                    record.little<std::uint32_t, dbn::trade::kSequence>(),
                    record.little<std::uint8_t, dbn::trade::kFlags>()},
                   opened)) {
    return;
  }
  if (level_count > 0) opened.listing->tell_gap = false;  // the book is known anew
  const bool is_trade = record.letter<dbn::trade::kAction>() == 'T';
  const bool trade_is_last = level_count == 1 && metadata_.schema == kDbnSchemaTbbo;
  if (is_trade && !trade_is_last) append_trade(record, opened, batch);
  if (level_count > 0) {
    batch.emplace_back(opened.event).kind = EventKind::kClear;
    append_levels(bytes.subspan(dbn::trade::kSizeBytes, level_count * dbn::level::kSizeBytes),
                  opened, batch);
  } else if (!is_trade) {
    count_malformed(opened, "a trades record that is no trade");
  }
  if (is_trade && trade_is_last) append_trade(record, opened, batch);
  finish_update(!batch.empty(), opened, batch);
}

void DbnDecoder::append_levels(std::span<const std::byte> bytes, const Opened& opened,
                               EventBatch& batch) {
  for (; !bytes.empty(); bytes = bytes.subspan(dbn::level::kSizeBytes)) {
    const WireRecord<dbn::level::kSizeBytes> pair(bytes.first<dbn::level::kSizeBytes>());
    const std::array<Level, 2> levels = {
        Level{Side::kBid, pair.little<std::int64_t, dbn::level::kBidPrice>(),
              pair.little<std::uint32_t, dbn::level::kBidQuantity>()},
        Level{Side::kAsk, pair.little<std::int64_t, dbn::level::kAskPrice>(),
              pair.little<std::uint32_t, dbn::level::kAskQuantity>()}};
    for (const Level& level : levels) {
      if (level.price_nanos == dbn::kNoPrice || level.size == 0) continue;
      append_level(level, opened, batch);
    }
  }
}

void DbnDecoder::append_trade(const TradeRecord& record, const Opened& opened, EventBatch& batch) {
  const std::int64_t price_nanos = record.little<std::int64_t, dbn::trade::kPrice>();
  const auto size = record.little<std::uint32_t, dbn::trade::kQuantity>();
  if (price_nanos == dbn::kNoPrice || size == 0) return count_bad_quantity(opened);
  MarketEvent& event = batch.emplace_back(opened.event);
  event.kind = EventKind::kTrade;
  event.side = side_of(record.letter<dbn::trade::kSide>());
  event.price_nanos = price_nanos;
  event.quantity_nanos = quantity_nanos(size);
}

}  // namespace tocsin
