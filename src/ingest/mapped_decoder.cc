// One line, one record: its fields are found by the map's paths, its events made as for any venue.
#include "ingest/mapped_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ingest/decoders.h"
#include "ingest/grid_finder.h"
#include "ingest/line_stamp.h"
#include "ingest/written_number.h"

namespace tocsin {
namespace {

constexpr std::size_t kLevelsReserved = 4096;

}  // namespace

Result<std::unique_ptr<Source>> make_mapped_decoder(std::unique_ptr<ByteStream> stream,
                                                    const FileSourceOptions& options) {
  if (options.map_path.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 options.path +
                     ": json_lines and csv are read by a map: name one (source.map, or "
                     "--map); config/maps has some");
  }
  TOCSIN_ASSIGN_OR_RETURN(FeedMap map, read_feed_map(options.map_path));
  const FeedFormat format = map.is_csv ? FeedFormat::kCsv : FeedFormat::kJsonLines;
  if (options.format.value_or(format) != format) {
    return Error(ErrorCode::kInvalidArgument,
                 options.map_path + ": is a map of " + std::string(feed_format_name(format)) +
                     ", but " + std::string(feed_format_name(*options.format)) + " was asked for");
  }
  return std::unique_ptr<Source>(
      std::make_unique<MappedDecoder>(std::move(stream), options.symbols, std::move(map)));
}

MappedDecoder::MappedDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols,
                             FeedMap map)
    : FileDecoder(std::move(stream), std::move(symbols)), map_(std::move(map)) {
  levels_.reserve(kLevelsReserved);
}

SourceStatus MappedDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  std::string_view line;
  if (!stream_->next_line(line)) {
    finish();
    return end_of_text(map_.has_header ? 1 : 0);
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (counters_.records++ == 0 && line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  decode_line(line, batch);
  return yield(batch);
}

void MappedDecoder::interrupt() noexcept {
  for (const auto& state : states_) counters_.ignored += state->join.restart();
}

void MappedDecoder::decode_line(std::string_view line, EventBatch& batch) {
  faulty_ = nullptr;
  if (line.empty()) {
    ++counters_.ignored;
    return;
  }
  if (map_.is_csv) {
    if (read_row(line)) decode_message(batch);
    return;
  }
  receive_time_ns_ = 0;
  take_line_time_ns(line, receive_time_ns_);
  if (!tree_.parse(line)) {
    fault_ = "column " + std::to_string(tree_.fault_offset() + 1) + " of the JSON text: ";
    fault_ += tree_.fault();
    return lose(Step::kMalformed, nullptr, MappedKind::kDiff);
  }
  decode_message(batch);
}

// A CSV line as an object of its cells; false if there is nothing to decode.
bool MappedDecoder::read_row(std::string_view line) {
  if (!row_.split(line, map_.delimiter)) {
    fault_ = "column " + std::to_string(row_.cells().size() + 1) + ": expected a closing quote";
    lose(Step::kMalformed, nullptr, MappedKind::kDiff);
    return false;
  }
  if (!has_columns_) {
    has_columns_ = true;
    for (std::size_t i = 0; i < row_.cells().size(); ++i) {
      columns_.push_back(map_.has_header ? std::string(row_.cells()[i]) : std::to_string(i + 1));
    }
    column_views_.assign(columns_.begin(), columns_.end());
    if (map_.has_header) {
      ++counters_.ignored;
      return false;
    }
  }
  if (row_.cells().size() != columns_.size()) {
    fault_ = "column " + std::to_string(std::min(row_.cells().size(), columns_.size()) + 1) +
             ": expected " + std::to_string(columns_.size()) + " columns, found " +
             std::to_string(row_.cells().size());
    lose(Step::kMalformed, nullptr, MappedKind::kDiff);
    return false;
  }
  tree_.assign_object(column_views_, row_.cells());
  return true;
}

void MappedDecoder::decode_message(EventBatch& batch) {
  bool any_fits = false;
  for (const MessageMap& map : map_.messages) {
    const JsonNode* list = map.each.is_told() ? field(map.each, tree_.root()) : nullptr;
    if (map.each.is_told() && (list == nullptr || !list->is_array())) continue;
    std::uint32_t at = list == nullptr ? 0 : list->first;
    for (std::uint32_t i = 0; i < (list == nullptr ? 1 : list->count); ++i) {
      const JsonNode& element = tree_.at(at);
      at = element.next;
      if (!fits(map, element)) continue;
      any_fits = true;
      const Step step = decode_element(map, element, batch);
      if (step != Step::kOk) return lose(step, faulty_, map.kind);
    }
    if (any_fits) return;
  }
  ++counters_.ignored;
  ++other_count_;
}

bool MappedDecoder::fits(const MessageMap& map, const JsonNode& element) const noexcept {
  return std::all_of(map.when.begin(), map.when.end(), [&](const FieldCondition& condition) {
    const JsonNode* node = field(condition.path, element);
    const bool is_there = node != nullptr && node->kind != JsonKind::kNull;
    const std::string_view text = text_of(condition.path, element);
    switch (condition.kind) {
      case FieldCondition::Kind::kEquals:
        return is_there && text == condition.value;
      case FieldCondition::Kind::kStartsWith:
        return is_there && text.starts_with(condition.value);
      case FieldCondition::Kind::kIsThere:
        return is_there;
      case FieldCondition::Kind::kIsAbsent:
        return !is_there;
    }
    return false;
  });
}

MappedDecoder::Step MappedDecoder::decode_element(const MessageMap& map, const JsonNode& element,
                                                  EventBatch& batch) {
  Message message;
  message.map = &map;
  message.element = &element;
  ++counts_[static_cast<std::size_t>(map.kind)];
  Step step = take_symbol(message);
  if (step != Step::kOk) return step;
  if (!message.state->wanted) {
    ++counters_.filtered;
    return Step::kOk;
  }
  faulty_ = message.state;
  step = take_time(message);
  if (step != Step::kOk) return step;
  if (map.kind == MappedKind::kTrade) return on_trade(message, batch);
  if (map.kind == MappedKind::kTicker) return on_ticker(message, batch);
  return on_book(message, batch);
}

MappedDecoder::Step MappedDecoder::on_book(Message& message, EventBatch& batch) {
  SymbolState& state = *message.state;
  const bool is_snapshot = message.map->kind == MappedKind::kSnapshot;
  Step step = take_levels(message);
  if (step == Step::kOk) step = take_ids(message);
  if (step != Step::kOk) return step;
  if (!state.is_open && (is_snapshot || !map_.has_snapshot())) open(state);
  // A trade may have opened the instrument before.
  if (!map_.has_snapshot() && !std::exchange(state.book_begun, true)) {
    // The whole book is built from diffs; only a map that says so vouches for its start.
    EventBatch opening;
    state.join.on_snapshot(message.ids.previous, {}, first_event(message), opening);
    if (map_.starts_empty) {
      opening.back().end_of_update = false;
      batch.insert(batch.end(), opening.begin(), opening.end());
    }
  }
  if (!state.is_open) ++state.count_before_book;
  MarketEvent first = first_event(message);
  if (is_snapshot) {
    first.quality = {};
    state.owed_quality = {};
    count_join(state, state.join.on_snapshot(message.ids.last, levels_, first, batch));
  } else {
    first.quality |= std::exchange(state.owed_quality, {});
    count_join(state, state.join.on_diff(message.ids, levels_, first, batch));
  }
  return Step::kOk;
}

MappedDecoder::Step MappedDecoder::on_trade(const Message& message, EventBatch& batch) {
  const MessageMap& map = *message.map;
  MarketEvent event;
  Step step = take_number(map.price, *message.element, event.price_nanos);
  if (step == Step::kOk) step = take_number(map.quantity, *message.element, event.quantity_nanos);
  Side side = Side::kNone;
  if (step == Step::kOk && map.side.is_told()) step = take_side(map, *message.element, side);
  std::uint64_t id = 0;
  if (step == Step::kOk && map.trade_id.is_told())
    step = take_id(map.trade_id, *message.element, id);
  if (step != Step::kOk) return step;
  SymbolState& state = *message.state;
  MarketEvent trade = first_event(message);
  if (id != 0 && map_.trade_ids_dense) {
    QualityFlags quality = count_sequence(state.trades.check(id));
    // Trades are a stream of their own: the book needs none of them.
    if (quality.has(Quality::kGap)) quality = Quality::kTradeGap;
    trade.quality |= quality;
  }
  if (!is_known(message)) return Step::kOk;
  trade.instrument = state.instrument;
  trade.kind = EventKind::kTrade;
  trade.side = map.side_is_maker ? opposite(side) : side;
  trade.price_nanos = event.price_nanos;
  trade.quantity_nanos = event.quantity_nanos;
  trade.sequence = trade.order_id = id;
  trade.end_of_update =
      !trade.quality.has(Quality::kDuplicate) && !trade.quality.has(Quality::kOutOfOrder);
  batch.push_back(trade);
  return Step::kOk;
}

MappedDecoder::Step MappedDecoder::on_ticker(const Message& message, EventBatch& batch) {
  const MessageMap& map = *message.map;
  std::array<FeedLevel, 2> best{};
  best[0].side = Side::kBid;
  best[1].side = Side::kAsk;
  std::uint64_t id = 0;
  Step step = take_id(map.last, *message.element, id);
  for (const auto& [path, nanos] : {std::pair{&map.bid_price, &best[0].price_nanos},
                                    std::pair{&map.bid_quantity, &best[0].quantity_nanos},
                                    std::pair{&map.ask_price, &best[1].price_nanos},
                                    std::pair{&map.ask_quantity, &best[1].quantity_nanos}}) {
    if (step == Step::kOk) step = take_number(*path, *message.element, *nanos);
  }
  if (step != Step::kOk) return step;
  SymbolState& state = *message.state;
  MarketEvent event = first_event(message);
  if (id <= state.last_ticker_id) {
    const bool is_same = id == state.last_ticker_id;
    ++(is_same ? counters_.duplicates : counters_.out_of_order);
    event.quality |= is_same ? Quality::kDuplicate : Quality::kOutOfOrder;
  } else {
    state.last_ticker_id = id;
  }
  if (!is_known(message)) return Step::kOk;
  event.instrument = state.instrument;
  event.kind = EventKind::kExpectTop;
  event.sequence = id;
  for (const FeedLevel& level : best) {
    event.side = level.side;
    event.price_nanos = level.price_nanos;
    event.quantity_nanos = level.quantity_nanos;
    batch.push_back(event);
  }
  return Step::kOk;
}

// Whether the instrument is there; if the map promises a snapshot, nothing is before it.
bool MappedDecoder::is_known(const Message& message) noexcept {
  SymbolState& state = *message.state;
  if (!state.is_open && !map_.has_snapshot()) {
    levels_.clear();
    open(state);
  }
  if (state.is_open) return true;
  ++state.count_before_book;
  ++counters_.ignored;
  return false;
}

void MappedDecoder::open(SymbolState& state) {
  Instrument instrument{.symbol = state.symbol};
  if (!levels_.empty() && map_.has_snapshot()) {
    GridFinder prices;
    GridFinder quantities;
    for (const FeedLevel& level : levels_) {
      prices.add(level.price_nanos);
      quantities.add(level.quantity_nanos);
    }
    instrument.price_tick_nanos = prices.step_nanos();
    instrument.quantity_step_nanos = quantities.step_nanos();
  }
  if (map_.price_tick_nanos > 0) instrument.price_tick_nanos = map_.price_tick_nanos;
  if (map_.quantity_step_nanos > 0) instrument.quantity_step_nanos = map_.quantity_step_nanos;
  state.instrument = add_instrument(std::move(instrument));
  state.is_open = true;
}

// Time is compared within one kind of message: the channels of one connection are not ordered
// against each other.
MarketEvent MappedDecoder::first_event(const Message& message) noexcept {
  MarketEvent event;
  event.exchange_time_ns = message.time_ns;
  event.receive_time_ns = receive_time_ns_ != 0 ? receive_time_ns_ : message.time_ns;
  event.record = counters_.records;
  event.instrument = message.state->instrument;
  std::int64_t& last_ns = message.state->last_time_ns[static_cast<std::size_t>(message.map->kind)];
  if (message.time_ns < last_ns) {
    ++counters_.time_backwards;
    event.quality |= Quality::kTimeBackwards;
  }
  last_ns = message.time_ns;
  return event;
}

void MappedDecoder::count_join(const SymbolState& state, const BookJoinFinding& finding) {
  counters_.gaps += finding.gap_count;
  counters_.duplicates += finding.duplicate_count;
  counters_.out_of_order += finding.out_of_order_count;
  counters_.ignored += finding.ignored_count;
  if (finding.gap_count > 0 && keeps_faults()) {
    add_fault(state.symbol + ": diffs are missing before update " +
              std::to_string(state.join.last_update_id()));
  }
}

// A record that cannot be decoded; what it would have changed is missing in its symbol's book, or,
// if nobody knows whose it was, in all.
void MappedDecoder::lose(Step step, SymbolState* state, MappedKind kind) {
  ++(step == Step::kBadQuantity ? counters_.bad_quantity : counters_.malformed);
  if (keeps_faults()) add_fault(fault_);
  if (kind == MappedKind::kTicker || step == Step::kNobodys) return;
  const Quality missing = kind == MappedKind::kTrade ? Quality::kTradeGap : Quality::kGap;
  if (state != nullptr) {
    state->owed_quality |= missing;
    return;
  }
  for (const auto& each : states_) each->owed_quality |= missing;
}

// Null past kSymbolsMax. All symbols that were not asked for share a state.
MappedDecoder::SymbolState* MappedDecoder::state_of(std::string_view symbol) {
  const auto found = state_by_symbol_.find(symbol);
  if (found != state_by_symbol_.end()) return found->second;
  if (!wants(symbol)) {
    has_unwanted_ = true;
    return &unwanted_;
  }
  if (states_.size() >= kSymbolsMax) return nullptr;
  auto state = std::make_unique<SymbolState>();
  state->symbol = symbol;
  state->wanted = true;
  SymbolState* raw = state.get();
  states_.push_back(std::move(state));
  state_by_symbol_.emplace(raw->symbol, raw);
  return raw;
}

void MappedDecoder::finish() {
  if (std::exchange(finished_, true)) return;
  for (const auto& state : states_) {
    counters_.ignored += state->join.held_count();
    if (!state->wanted || state->is_open || state->count_before_book == 0) continue;
    add_fault(state->symbol + ": no snapshot in the whole file, so that none of its " +
              std::to_string(state->count_before_book) + " messages yielded an event");
  }
}

std::vector<std::pair<std::string, std::uint64_t>> MappedDecoder::counts_by_type() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < kMappedKindCount; ++i) {
    if (counts_[i] > 0)
      counts.emplace_back(mapped_kind_name(static_cast<MappedKind>(i)), counts_[i]);
  }
  if (other_count_ > 0) counts.emplace_back("other", other_count_);
  return counts;
}

}  // namespace tocsin
