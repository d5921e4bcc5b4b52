// What the content of one message says: levels, checksums and trades of both versions.
#include <algorithm>
#include <charconv>
#include <utility>

#include "ingest/kraken_decoder.h"

namespace tocsin {

// [price, volume, time] each; a fourth element "r" marks a level told again, with its old time.
KrakenDecoder::Step KrakenDecoder::take_levels1(const JsonNode* list, Side side,
                                                BookMessage& book) {
  if (!list->is_array()) return malformed("a list of levels");
  for (std::uint32_t at = list->first; at != 0; at = tree_.at(at).next) {
    const JsonNode& level = tree_.at(at);
    if (!level.is_array() || level.count < 3) return malformed("[price, volume, time]");
    const JsonNode& price = tree_.at(level.first);
    const JsonNode& quantity = tree_.at(price.next);
    const JsonNode& time = tree_.at(quantity.next);
    const Step step = take_level(&price, &quantity, side);
    if (step != Step::kOk) return step;
    std::int64_t time_ns = 0;
    if (!parse_time_ns(time.text, kNanosPerUnit, time_ns)) {
      return malformed("a time in seconds", time.text);
    }
    if (level.count == 3) book.time_ns = std::max(book.time_ns, time_ns);
  }
  return Step::kOk;
}

KrakenDecoder::Step KrakenDecoder::take_levels2(const JsonNode* list, Side side) {
  if (list == nullptr) return Step::kOk;
  if (!list->is_array()) return malformed("a list of levels");
  for (std::uint32_t at = list->first; at != 0; at = tree_.at(at).next) {
    const JsonNode& level = tree_.at(at);
    const Step step = take_level(tree_.find(level, "price"), tree_.find(level, "qty"), side);
    if (step != Step::kOk) return step;
  }
  return Step::kOk;
}

KrakenDecoder::Step KrakenDecoder::take_level(const JsonNode* price, const JsonNode* quantity,
                                              Side side) {
  Level level;
  level.side = side;
  for (const auto& [node, number] :
       {std::pair{price, &level.price}, std::pair{quantity, &level.quantity}}) {
    if (node == nullptr || (!node->is_string() && !node->is_number())) {
      return malformed("a price and a quantity");
    }
    const DecimalStatus status = parse_written_number(node->text, *number);
    if (status == DecimalStatus::kOverflow && number == &level.price) {
      return leave_out(node->text);
    }
    if (status == DecimalStatus::kOverflow || number->nanos < 0) {
      malformed("a price or quantity in range", node->text);
      return Step::kBadQuantity;
    }
    if (status != DecimalStatus::kOk) {
      return malformed("a decimal number of at most nine places", node->text);
    }
  }
  levels_.push_back(level);
  return Step::kOk;
}

// A price past all that can be held (someone asks 9,999,999,997 for a bitcoin) is a level that no
// stage will ever look at: it alone is left out, and counted.
KrakenDecoder::Step KrakenDecoder::leave_out(std::string_view price) {
  ++counters_.bad_quantity;
  malformed("a price in range, without which its level is left out", price);
  if (keeps_faults()) add_fault(fault_);
  return Step::kOk;
}

// A number; version 1 puts it in quotes.
KrakenDecoder::Step KrakenDecoder::take_checksum(const JsonNode& checksum, BookMessage& book) {
  const char* end = checksum.text.data() + checksum.text.size();
  std::uint32_t value = 0;
  const auto [after, error] = std::from_chars(checksum.text.data(), end, value);
  if (error != std::errc{} || after != end || checksum.text.empty()) {
    return malformed("a checksum of 32 bits", checksum.text);
  }
  book.checksum = value;
  book.has_checksum = true;
  return Step::kOk;
}

// [price, volume, time, side of the taker, order type, ...]
KrakenDecoder::Step KrakenDecoder::take_trade1(const JsonNode& trade, SymbolState& state,
                                               EventBatch& batch) {
  const JsonNode* side = tree_.item(trade, 3);
  std::int64_t time_ns = 0;
  if (side == nullptr || (side->text != "b" && side->text != "s") ||
      !parse_time_ns(tree_.item(trade, 2)->text, kNanosPerUnit, time_ns)) {
    return malformed("a trade [price, volume, time, \"b\" or \"s\", ...]");
  }
  levels_.clear();
  const Side aggressor = side->text == "b" ? Side::kBid : Side::kAsk;
  const Step step = take_level(tree_.item(trade, 0), tree_.item(trade, 1), aggressor);
  if (step == Step::kOk) yield_trade(state, first_event(state, time_ns), batch);
  return step;
}

KrakenDecoder::Step KrakenDecoder::take_trade2(const JsonNode& trade, SymbolState& state,
                                               EventBatch& batch) {
  const JsonNode* side = tree_.find(trade, "side");
  const JsonNode* time = tree_.find(trade, "timestamp");
  const JsonNode* id = tree_.find(trade, "trade_id");
  std::int64_t time_ns = 0;
  if (side == nullptr || (side->text != "buy" && side->text != "sell") || time == nullptr ||
      !parse_iso_time_ns(time->text, time_ns)) {
    return malformed("a trade with \"side\" and \"timestamp\"");
  }
  std::uint64_t number = 0;
  if (id != nullptr) {
    std::from_chars(id->text.data(), id->text.data() + id->text.size(), number);
  }
  levels_.clear();
  const Step step = take_level(tree_.find(trade, "price"), tree_.find(trade, "qty"),
                               side->text == "buy" ? Side::kBid : Side::kAsk);
  if (step != Step::kOk) return step;
  MarketEvent event = first_event(state, time_ns);
  event.sequence = event.order_id = number;
  if (number != 0) {
    QualityFlags quality = count_sequence(state.trades.check(number));
    // Trades are a stream of their own: the book needs none of them.
    if (quality.has(Quality::kGap)) quality = Quality::kTradeGap;
    event.quality |= quality;
  }
  yield_trade(state, event, batch);
  return step;
}

KrakenDecoder::Step KrakenDecoder::malformed(std::string_view expected, std::string_view found) {
  constexpr std::size_t kShownMax = 40;
  fault_ = "expected ";
  fault_ += expected;
  if (found.empty()) return Step::kMalformed;
  fault_ += ", found ";
  fault_ += found.substr(0, kShownMax);
  return Step::kMalformed;
}

}  // namespace tocsin
