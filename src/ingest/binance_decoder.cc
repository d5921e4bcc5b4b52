// One line, one record: parsed, checked, and turned into events by its kind.
#include "ingest/binance_decoder.h"

#include <algorithm>
#include <utility>

#include "ingest/decoders.h"
#include "ingest/grid_finder.h"
#include "ingest/kraken_decoder.h"

namespace tocsin {
bool looks_like_binance(std::span<const std::byte> head) noexcept {
  std::size_t digits = 0;
  while (digits < head.size() && head[digits] >= std::byte{'0'} && head[digits] <= std::byte{'9'}) {
    ++digits;
  }
  return digits > 0 && digits + 1 < head.size() && head[digits] == std::byte{' '} &&
         head[digits + 1] == std::byte{'{'} && !looks_like_kraken(head);
}

Result<std::unique_ptr<Source>> make_binance_decoder(std::unique_ptr<ByteStream> stream,
                                                     const FileSourceOptions& options) {
  return std::unique_ptr<Source>(
      std::make_unique<BinanceDecoder>(std::move(stream), options.symbols));
}

BinanceDecoder::BinanceDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols)
    : FileDecoder(std::move(stream), std::move(symbols)) {}

SourceStatus BinanceDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  std::string_view line;
  if (!stream_->next_line(line)) {
    finish();
    return end_of_text();
  }
  ++counters_.records;
  decode_line(line, batch);
  return yield(batch);
}

void BinanceDecoder::interrupt() noexcept {
  for (const auto& state : states_) counters_.ignored += state->join.restart();
}

void BinanceDecoder::decode_line(std::string_view line, EventBatch& batch) {
  if (line.empty()) {
    ++counters_.ignored;
    return;
  }
  const BinanceParseStatus status = parser_.parse(line);
  if (status != BinanceParseStatus::kOk) {
    ++(status == BinanceParseStatus::kBadQuantity ? counters_.bad_quantity : counters_.malformed);
    if (keeps_faults()) add_fault(std::string(parser_.fault()));
    return;
  }
  const BinanceMessage& message = parser_.message();
  ++counts_[static_cast<std::size_t>(message.kind)];
  if (message.kind == BinanceMessageKind::kOther) {
    ++counters_.ignored;
    return;
  }
  const bool is_snapshot = message.kind == BinanceMessageKind::kSnapshot;
  SymbolState* state = is_snapshot ? state_of_snapshot(message.symbol) : state_of(message.symbol);
  if (state == nullptr) {
    ++counters_.malformed;
    return;
  }
  if (!state->wanted) {
    ++counters_.filtered;
    return;
  }
  if (is_snapshot) return on_snapshot(*state, batch);
  if (message.kind == BinanceMessageKind::kDepthUpdate) return on_depth(*state, batch);
  if (message.kind == BinanceMessageKind::kBookTicker) return on_ticker(*state, batch);
  on_trade(*state, batch);
}

// Null past kSymbolsMax.
BinanceDecoder::SymbolState* BinanceDecoder::state_of(std::string_view symbol) {
  const auto found = state_by_symbol_.find(symbol);
  if (found != state_by_symbol_.end()) return found->second;
  if (states_.size() >= kSymbolsMax) {
    if (keeps_faults()) add_fault("more than " + std::to_string(kSymbolsMax) + " symbols");
    return nullptr;
  }
  auto state = std::make_unique<SymbolState>();
  state->symbol = symbol;
  state->wanted = wants(symbol);
  SymbolState* raw = state.get();
  states_.push_back(std::move(state));
  state_by_symbol_.emplace(raw->symbol, raw);
  return raw;
}

// A REST snapshot names no symbol: it is the only one of the file, or the only one asked for where
// the file has named none yet. Otherwise nobody can tell.
BinanceDecoder::SymbolState* BinanceDecoder::state_of_snapshot(std::string_view symbol) {
  if (!symbol.empty()) return state_of(symbol);
  if (states_.size() == 1) return states_.front().get();
  if (states_.empty() && asked_symbols().size() == 1) return state_of(asked_symbols().front());
  if (keeps_faults()) {
    add_fault("a depth snapshot that names no symbol, after messages of " +
              std::to_string(states_.size()) + " symbols: expected exactly one");
  }
  return nullptr;
}

// What all events of the message have in common. Time is compared within one kind of message: the
// streams of one connection are not ordered against each other.
MarketEvent BinanceDecoder::first_event(SymbolState& state) {
  const BinanceMessage& message = parser_.message();
  MarketEvent event;
  event.exchange_time_ns = message.exchange_time_ns;
  event.receive_time_ns = message.receive_time_ns;
  event.record = counters_.records;
  event.instrument = state.instrument;
  std::int64_t& last_ns = state.last_time_ns[static_cast<std::size_t>(message.kind)];
  if (message.exchange_time_ns < last_ns) {
    ++counters_.time_backwards;
    event.quality |= Quality::kTimeBackwards;
  }
  last_ns = message.exchange_time_ns;
  return event;
}

void BinanceDecoder::on_depth(SymbolState& state, EventBatch& batch) {
  const MarketEvent first = first_event(state);
  if (!state.has_book) ++state.count_before_book;
  const BinanceMessage& diff = parser_.message();
  const UpdateIds ids{diff.first_update_id, diff.last_update_id, diff.previous_update_id};
  count_join(state, state.join.on_diff(ids, diff.levels, first, batch));
}

void BinanceDecoder::on_snapshot(SymbolState& state, EventBatch& batch) {
  const BinanceMessage& snapshot = parser_.message();
  if (!state.has_book) {
    GridFinder prices;
    GridFinder quantities;
    for (const FeedLevel& level : snapshot.levels) {
      prices.add(level.price_nanos);
      quantities.add(level.quantity_nanos);
    }
    state.instrument = add_instrument({state.symbol, prices.step_nanos(), quantities.step_nanos()});
    state.has_book = true;
  }
  MarketEvent first;
  first.exchange_time_ns = snapshot.exchange_time_ns;
  first.receive_time_ns = snapshot.receive_time_ns;
  first.record = counters_.records;
  first.instrument = state.instrument;
  count_join(state, state.join.on_snapshot(snapshot.last_update_id, snapshot.levels, first, batch));
}

void BinanceDecoder::on_ticker(SymbolState& state, EventBatch& batch) {
  const BinanceMessage& ticker = parser_.message();
  MarketEvent event = first_event(state);
  if (ticker.last_update_id == state.last_ticker_id) {
    ++counters_.duplicates;
    event.quality |= Quality::kDuplicate;
  } else if (ticker.last_update_id < state.last_ticker_id) {
    ++counters_.out_of_order;
    event.quality |= Quality::kOutOfOrder;
  } else {
    state.last_ticker_id = ticker.last_update_id;
  }
  if (!state.has_book) return pass_over(state);
  event.kind = EventKind::kExpectTop;
  event.sequence = ticker.last_update_id;
  for (const FeedLevel& level : ticker.levels) {
    event.side = level.side;
    event.price_nanos = level.price_nanos;
    event.quantity_nanos = level.quantity_nanos;
    batch.push_back(event);
  }
}

// Trade ids of a symbol are dense. Those of the insurance fund and of automatic deleveraging stand
// in between, at prices off the market: they keep their place in the sequence and are no prints.
void BinanceDecoder::on_trade(SymbolState& state, EventBatch& batch) {
  const BinanceMessage& trade = parser_.message();
  MarketEvent event = first_event(state);
  const SequenceFinding finding = state.trades.check(trade.trade_id);
  QualityFlags quality = count_sequence(finding);
  if (quality.has(Quality::kGap)) {
    note_gap(state, "trades are missing before trade id ", trade.trade_id);
    // Trades are a stream of their own: the book needs none of them.
    quality.remove(Quality::kGap);
    quality |= Quality::kTradeGap;
  }
  event.quality |= quality;
  if (!state.has_book) return pass_over(state);
  if (!trade.market_trade) {
    ++counters_.ignored;
    return;
  }
  event.kind = EventKind::kTrade;
  event.sequence = trade.trade_id;
  event.order_id = trade.trade_id;
  event.side = trade.levels.front().side;
  event.price_nanos = trade.levels.front().price_nanos;
  event.quantity_nanos = trade.levels.front().quantity_nanos;
  event.end_of_update =
      !event.quality.has(Quality::kDuplicate) && !event.quality.has(Quality::kOutOfOrder);
  batch.push_back(event);
}

void BinanceDecoder::pass_over(SymbolState& state) noexcept {
  ++state.count_before_book;
  ++counters_.ignored;
}

void BinanceDecoder::count_join(const SymbolState& state, const BookJoinFinding& finding) {
  counters_.gaps += finding.gap_count;
  counters_.duplicates += finding.duplicate_count;
  counters_.out_of_order += finding.out_of_order_count;
  counters_.ignored += finding.ignored_count;
  if (finding.gap_count > 0) {
    note_gap(state, "depth diffs are missing before update id ", state.join.last_update_id());
  }
}

void BinanceDecoder::note_gap(const SymbolState& state, std::string_view what, std::uint64_t id) {
  if (!keeps_faults()) return;
  std::string message = state.symbol;
  message += ": ";
  message += what;
  message += std::to_string(id);
  add_fault(std::move(message));
}

// What was held for a snapshot that never came is counted, and said.
void BinanceDecoder::finish() {
  if (finished_) return;
  finished_ = true;
  for (const auto& state : states_) {
    counters_.ignored += state->join.held_count();
    if (!state->wanted || state->has_book || state->count_before_book == 0) continue;
    add_fault(state->symbol + ": no depth snapshot in the whole file, so that none of its " +
              std::to_string(state->count_before_book) + " messages yielded an event");
  }
}

std::vector<std::pair<std::string, std::uint64_t>> BinanceDecoder::counts_by_type() const {
  static constexpr std::array<std::string_view, kKindCount> kNames = {"depthUpdate", "bookTicker",
                                                                      "trade", "snapshot", "other"};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < kKindCount; ++i) {
    if (counts_[i] > 0) counts.emplace_back(kNames[i], counts_[i]);
  }
  return counts;
}

}  // namespace tocsin
