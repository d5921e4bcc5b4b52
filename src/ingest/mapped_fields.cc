// Finds the fields that a map names and reads their values; a fault names the field and its place.
#include <algorithm>
#include <charconv>
#include <utility>

#include "ingest/mapped_decoder.h"
#include "ingest/written_number.h"

namespace tocsin {
namespace {

constexpr std::size_t kSymbolSizeMax = 64;

std::string_view value_text(const JsonNode& node) noexcept {
  switch (node.kind) {
    case JsonKind::kTrue:
      return "true";
    case JsonKind::kFalse:
      return "false";
    default:
      return node.text;  // empty for what holds others, and for null
  }
}

std::int64_t nanos_of(TimeUnit unit) noexcept {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 1'000'000'000;
    case TimeUnit::kMillis:
      return 1'000'000;
    case TimeUnit::kMicros:
      return 1'000;
    default:
      return 1;
  }
}

bool holds(const std::vector<std::string>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

const JsonNode* MappedDecoder::field(const FieldPath& path,
                                     const JsonNode& element) const noexcept {
  if (!path.is_told()) return nullptr;
  const JsonNode* node = path.from_root ? &tree_.root() : &element;
  for (const auto& step : path.steps) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      node = tree_.find(*node, *key);
    } else {
      node = tree_.item(*node, std::get<std::int64_t>(step));
    }
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string_view MappedDecoder::text_of(const FieldPath& path,
                                        const JsonNode& element) const noexcept {
  const JsonNode* node = field(path, element);
  return node == nullptr ? std::string_view() : value_text(*node);
}

// "column 5 (price): expected …, found …"; in JSON "bids[3].0: …".
MappedDecoder::Step MappedDecoder::malformed(const FieldPath& path, std::string_view expected,
                                             std::string_view found) {
  constexpr std::size_t kShownMax = 40;
  if (map_.is_csv) {
    const auto column = std::find(columns_.begin(), columns_.end(), path.text);
    fault_ = column == columns_.end()
                 ? "no column "
                 : "column " + std::to_string(column - columns_.begin() + 1) + " (";
    fault_ += path.text;
    if (column != columns_.end()) fault_ += ")";
  } else {
    fault_ = path.text;
  }
  fault_ += ": expected ";
  fault_ += expected;
  fault_ += ", found ";
  fault_ += found.empty() ? "nothing" : found.substr(0, kShownMax);
  return Step::kMalformed;
}

MappedDecoder::Step MappedDecoder::take_symbol(Message& message) {
  const FieldPath& path = message.map->symbol;
  std::string_view text;
  if (path.is_told()) {
    text = text_of(path, *message.element);
    const MessageMap& map = *message.map;
    const std::size_t after = text.find(map.symbol_after);
    if (after == std::string_view::npos) {
      return malformed(path, "a text with " + map.symbol_after, text);
    }
    text.remove_prefix(after + map.symbol_after.size());
    if (!map.symbol_before.empty()) text = text.substr(0, text.find(map.symbol_before));
    if (text.empty() || text.size() > kSymbolSizeMax) {
      return malformed(path, "a symbol of at most 64 characters", text);
    }
  } else if (!map_.symbol_is.empty()) {
    text = map_.symbol_is;
  } else if (states_.size() == 1 && !has_unwanted_) {
    message.state = states_.front().get();
    return Step::kOk;
  } else if (states_.empty() && !has_unwanted_ && asked_symbols().size() == 1) {
    text = asked_symbols().front();
  } else {
    fault_ = "a message that names no symbol, after messages of " +
             std::to_string(states_.size() + (has_unwanted_ ? 1 : 0)) +
             " symbols: expected exactly one";
    return Step::kMalformed;
  }
  symbol_scratch_ = text;
  if (map_.symbol_upper) {
    for (char& c : symbol_scratch_) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  message.state = state_of(symbol_scratch_);
  if (message.state != nullptr) return Step::kOk;
  (void)malformed(path, "at most 10000 symbols", text);
  return Step::kNobodys;
}

MappedDecoder::Step MappedDecoder::take_time(Message& message) {
  const FieldPath& path = message.map->time;
  if (!path.is_told()) {
    message.time_ns = receive_time_ns_;
    return Step::kOk;
  }
  const std::string_view text = text_of(path, *message.element);
  const TimeUnit unit = message.map->time_unit;
  const bool is_iso = unit == TimeUnit::kIso;
  if (is_iso ? parse_iso_time_ns(text, message.time_ns)
             : parse_time_ns(text, nanos_of(unit), message.time_ns)) {
    return Step::kOk;
  }
  return malformed(
      path, is_iso ? "a time like 2023-10-06T17:35:55.440295Z" : "a time in the map's unit", text);
}

// The numbers of an update as the join of all feeds wants them: a diff that follows the one before
// has `previous` equal to that one's `last`.
MappedDecoder::Step MappedDecoder::take_ids(Message& message) {
  const MessageMap& map = *message.map;
  const JsonNode& element = *message.element;
  SymbolState& state = *message.state;
  UpdateIds& ids = message.ids;
  const bool is_snapshot = map.kind == MappedKind::kSnapshot;
  if (map_.join == JoinRule::kNone) {
    ids.previous = state.update_count;
    ids.first = ids.last = ++state.update_count;
    return Step::kOk;
  }
  Step step = take_id(map.last, element, ids.last);
  ids.first = ids.last;
  ids.previous = ids.last == 0 ? 0 : ids.last - 1;
  if (step != Step::kOk || is_snapshot) return step;
  if (map.first.is_told()) step = take_id(map.first, element, ids.first);
  if (step == Step::kOk && ids.first > ids.last) {
    return malformed(map.first, "a number not above the last", text_of(map.first, element));
  }
  if (map_.join == JoinRule::kPrevious && step == Step::kOk) {
    return take_id(map.previous, element, ids.previous);
  }
  if (map_.join == JoinRule::kFirst) ids.previous = ids.first == 0 ? 0 : ids.first - 1;
  // Whatever lies between is not missing.
  if (map_.join == JoinRule::kIncreasing && ids.last > state.update_count) {
    ids.previous = std::exchange(state.update_count, ids.last);
  }
  return step;
}

MappedDecoder::Step MappedDecoder::take_levels(const Message& message) {
  const MessageMap& map = *message.map;
  levels_.clear();
  if (map.bids.is_told()) {
    Step step = take_list(map.bids, message, Side::kBid);
    if (step == Step::kOk) step = take_list(map.asks, message, Side::kAsk);
    return step;
  }
  if (map.levels.is_told()) return take_list(map.levels, message, Side::kNone);
  const Step step = take_level(map, *message.element, Side::kNone);
  return step == Step::kOk && map.level.is_told() ? take_rank(message) : step;
}

// A list that is not there holds nothing: diffs of one side leave the other one out.
MappedDecoder::Step MappedDecoder::take_list(const FieldPath& list, const Message& message,
                                             Side side) {
  const JsonNode* node = field(list, *message.element);
  if (node == nullptr || node->kind == JsonKind::kNull) {
    if (message.map->kind == MappedKind::kDiff) return Step::kOk;
    return malformed(list, "a list of levels", {});
  }
  if (!node->is_array()) return malformed(list, "a list of levels", value_text(*node));
  std::uint32_t at = node->first;
  for (std::uint32_t i = 0; i < node->count; ++i) {
    const JsonNode& level = tree_.at(at);
    at = level.next;
    const Step step = take_level(*message.map, level, side);
    if (step == Step::kOk) continue;
    // The place is put in front only where it is needed.
    fault_ = list.text + "[" + std::to_string(i) + "]." + fault_;
    return step;
  }
  return Step::kOk;
}

MappedDecoder::Step MappedDecoder::take_level(const MessageMap& map, const JsonNode& level,
                                              Side side) {
  FeedLevel taken;
  taken.side = side;
  Step step = Step::kOk;
  if (side == Side::kNone) step = take_side(map, level, taken.side);
  if (step == Step::kOk) step = take_number(map.price, level, taken.price_nanos);
  if (step == Step::kOk) step = take_number(map.quantity, level, taken.quantity_nanos);
  if (step == Step::kOk) levels_.push_back(taken);
  return step;
}

MappedDecoder::Step MappedDecoder::take_side(const MessageMap& map, const JsonNode& element,
                                             Side& side) {
  const std::string_view text = text_of(map.side, element);
  const bool is_bid = holds(map.bid_words, text);
  if (!is_bid && !holds(map.ask_words, text)) {
    return malformed(map.side, "a side that the map's bid_words or ask_words hold", text);
  }
  side = is_bid ? Side::kBid : Side::kAsk;
  return Step::kOk;
}

MappedDecoder::Step MappedDecoder::take_number(const FieldPath& path, const JsonNode& element,
                                               std::int64_t& nanos) {
  const std::string_view text = text_of(path, element);
  WrittenNumber number;
  const DecimalStatus status = parse_written_number(text, number);
  if (status == DecimalStatus::kOverflow || (status == DecimalStatus::kOk && number.nanos < 0)) {
    malformed(path, "a price or quantity in range", text);
    return Step::kBadQuantity;
  }
  if (status != DecimalStatus::kOk) {
    return malformed(path, "a decimal number of at most nine places", text);
  }
  nanos = number.nanos;
  return Step::kOk;
}

MappedDecoder::Step MappedDecoder::take_id(const FieldPath& path, const JsonNode& element,
                                           std::uint64_t& id) {
  const std::string_view text = text_of(path, element);
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, id);
  if (!text.empty() && error == std::errc{} && after == end) return Step::kOk;
  return malformed(path, "a whole number", text);
}

// A level told by its rank: what stood at that rank before is gone, unless it moved to another one.
MappedDecoder::Step MappedDecoder::take_rank(const Message& message) {
  std::uint64_t rank = 0;
  const FieldPath& path = message.map->level;
  const Step step = take_id(path, *message.element, rank);
  if (step != Step::kOk) return step;
  if (rank > kRanksMax) {
    return malformed(path, "a rank of at most 1000", text_of(path, *message.element));
  }
  const FeedLevel told = levels_.front();
  auto& prices = message.state->price_by_rank[told.side == Side::kAsk ? 1 : 0];
  if (prices.size() <= rank) prices.resize(rank + 1);
  const std::int64_t before =
      std::exchange(prices[rank], told.quantity_nanos == 0 ? 0 : told.price_nanos);
  const bool moved = std::find(prices.begin(), prices.end(), before) != prices.end();
  if (before != 0 && !moved) {
    levels_.insert(levels_.begin(), FeedLevel{before, 0, told.side});
  }
  return Step::kOk;
}

}  // namespace tocsin
