// One line, one record. Formats: Kraken, "WebSocket API v1" (book, trade), "WebSocket v2" (book,
// trade, instrument) and its guides on checksums.
#include "ingest/kraken_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ingest/decoders.h"
#include "ingest/grid_finder.h"
#include "ingest/line_stamp.h"

namespace tocsin {
namespace {

constexpr std::array<std::uint16_t, 5> kDepths = {10, 25, 100, 500, 1000};
constexpr std::size_t kSymbolSizeMax = 32;
constexpr int kDecimalsMax = 18;

std::size_t count_digits(std::string_view text) noexcept {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

bool is_connection_line(std::string_view line) noexcept {
  return line.starts_with("wss://") || line.starts_with("ws://") || line.starts_with("https://");
}

bool number_of(const JsonNode* node, int max, int& value) noexcept {
  if (node == nullptr || !node->is_number()) return false;
  const char* end = node->text.data() + node->text.size();
  int parsed = 0;
  const auto [after, error] = std::from_chars(node->text.data(), end, parsed);
  if (error != std::errc{} || after != end || parsed < 0 || parsed > max) return false;
  value = parsed;
  return true;
}

}  // namespace

bool looks_like_kraken(std::span<const std::byte> head) noexcept {
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (is_connection_line(text)) {
    return text.substr(0, text.find('\n')).find(".kraken.com") != std::string_view::npos;
  }
  if (take_line_stamp(text).empty()) return false;
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    const std::size_t digits = count_digits(text);
    if (digits == 0) return false;
    text.remove_prefix(digits);
    return text.starts_with(",{\"as\":") || text.starts_with(",{\"bs\":") ||
           text.starts_with(",{\"a\":") || text.starts_with(",{\"b\":") || text.starts_with(",[[");
  }
  constexpr std::array<std::string_view, 6> kOpenings = {
      "{\"channel\":\"",    "{\"event\":\"systemStatus\"", "{\"event\":\"subscriptionStatus\"",
      "{\"connectionID\":", "{\"event\":\"heartbeat\"",    "{\"channelID\":"};
  return std::any_of(kOpenings.begin(), kOpenings.end(),
                     [text](std::string_view opening) { return text.starts_with(opening); });
}

Result<std::unique_ptr<Source>> make_kraken_decoder(std::unique_ptr<ByteStream> stream,
                                                    const FileSourceOptions& options) {
  return std::unique_ptr<Source>(
      std::make_unique<KrakenDecoder>(std::move(stream), options.symbols));
}

KrakenDecoder::KrakenDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols)
    : FileDecoder(std::move(stream), std::move(symbols)) {
  constexpr std::size_t kLevelsReserved = 4096;
  levels_.reserve(kLevelsReserved);
}

SourceStatus KrakenDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  std::string_view line;
  if (!stream_->next_line(line)) {
    if (!std::exchange(finished_, true)) {
      for (const auto& state : states_) {
        if (!state->wanted || state->has_book || state->count_before_book == 0) continue;
        add_fault(state->symbol + ": no book snapshot in the whole file, so that none of its " +
                  std::to_string(state->count_before_book) + " messages yielded an event");
      }
    }
    return end_of_text();
  }
  ++counters_.records;
  decode_line(line, batch);
  return yield(batch);
}

void KrakenDecoder::decode_line(std::string_view line, EventBatch& batch) {
  if (line.empty() || is_connection_line(line)) {
    if (!line.empty()) ++counts_[kConnection];
    ++counters_.ignored;
    return;
  }
  if (!take_line_time_ns(line, receive_time_ns_)) {
    return lose(malformed("a local time, \"<seconds>: \" or \"<nanoseconds> \""), nullptr);
  }
  if (!tree_.parse(line)) {
    fault_ = "not JSON at byte " + std::to_string(tree_.fault_offset()) + " of the message: ";
    fault_ += tree_.fault();
    return lose(Step::kMalformed, nullptr);
  }
  const JsonNode& root = tree_.root();
  if (root.is_array()) return decode_version1(root, batch);
  if (root.is_object() && tree_.find(root, "channel") != nullptr) {
    return decode_version2(root, batch);
  }
  if (root.is_object()) return decode_control(root);
  lose(malformed("a JSON array or object"), nullptr);
}

// Answers to a subscription tell the depth; everything else is counted by kind.
void KrakenDecoder::decode_control(const JsonNode& root) {
  ++counters_.ignored;
  const JsonNode* event = tree_.find(root, "event");
  if (event != nullptr && event->text == "heartbeat") {
    ++counts_[kHeartbeat];
    return;
  }
  const bool is_answer = tree_.find(root, "method") != nullptr;
  ++counts_[event != nullptr || is_answer ? kStatus : kOther];
  const JsonNode* result = is_answer ? tree_.find(root, "result") : &root;
  if (result == nullptr) return;
  const JsonNode* symbol = tree_.find(*result, is_answer ? "symbol" : "pair");
  const JsonNode* place = is_answer ? result : tree_.find(root, "subscription");
  int depth = 0;
  if (symbol == nullptr || !symbol->is_string() || place == nullptr ||
      !number_of(tree_.find(*place, "depth"), kDepths.back(), depth)) {
    return;
  }
  SymbolState* state = state_of(symbol->text);
  if (state != nullptr) state->depth = static_cast<std::uint16_t>(depth);
}

// [channel id, content, (more content), channel name, pair]
void KrakenDecoder::decode_version1(const JsonNode& root, EventBatch& batch) {
  const JsonNode* pair = tree_.item(root, -1);
  const JsonNode* channel = tree_.item(root, -2);
  if (root.count < 4 || !pair->is_string() || !channel->is_string()) {
    return lose(malformed("[channel id, content, channel name, pair]"), nullptr);
  }
  const bool is_book = channel->text.starts_with("book-");
  if (!is_book && channel->text != "trade") {
    ++counts_[kOther];
    ++counters_.ignored;
    return;
  }
  SymbolState* state = state_of(pair->text);
  if (passes_over(state)) return;
  Step step = Step::kOk;
  BookMessage book;
  levels_.clear();
  if (is_book && state->depth == 0) {
    const std::string_view depth = channel->text.substr(5);
    std::from_chars(depth.data(), depth.data() + depth.size(), state->depth);
  }
  std::uint32_t at = root.first;
  for (std::uint32_t i = 1; i + 2 < root.count && step == Step::kOk; ++i) {
    at = tree_.at(at).next;
    const JsonNode& content = tree_.at(at);
    if (!is_book) {
      if (i == 1) ++counts_[kTrade];
      if (!content.is_array()) step = malformed("a list of trades");
      for (std::uint32_t trade = content.first; trade != 0 && step == Step::kOk;
           trade = tree_.at(trade).next) {
        step = take_trade1(tree_.at(trade), *state, batch);
      }
      continue;
    }
    for (const auto& [key, side] : {std::pair{"bs", Side::kBid}, std::pair{"as", Side::kAsk},
                                    std::pair{"b", Side::kBid}, std::pair{"a", Side::kAsk}}) {
      const JsonNode* list = tree_.find(content, key);
      if (list == nullptr || step != Step::kOk) continue;
      if (list->key.size() == 2) book.is_snapshot = true;
      step = take_levels1(list, side, book);
    }
    const JsonNode* checksum = tree_.find(content, "c");
    if (checksum != nullptr && step == Step::kOk) step = take_checksum(*checksum, book);
  }
  if (step != Step::kOk) {
    batch.clear();
    return lose(step, state, is_book ? Quality::kGap : Quality::kTradeGap);
  }
  if (is_book) return yield_book(*state, book, batch);
  if (!batch.empty()) batch.back().end_of_update = true;
}

void KrakenDecoder::decode_version2(const JsonNode& root, EventBatch& batch) {
  const std::string_view channel = tree_.find(root, "channel")->text;
  if (channel == "book") return decode_book2(root, batch);
  if (channel == "trade") return decode_trades2(root, batch);
  ++counters_.ignored;
  if (channel == "instrument") {
    ++counts_[kInstrument];
    return take_precisions(root);
  }
  ++counts_[channel == "heartbeat" ? kHeartbeat : channel == "status" ? kStatus : kOther];
}

void KrakenDecoder::decode_book2(const JsonNode& root, EventBatch& batch) {
  const JsonNode* data = tree_.find(root, "data");
  const JsonNode* type = tree_.find(root, "type");
  const JsonNode* content = data == nullptr ? nullptr : tree_.item(*data, 0);
  const JsonNode* symbol = content == nullptr ? nullptr : tree_.find(*content, "symbol");
  if (type == nullptr || symbol == nullptr || !symbol->is_string() || data->count != 1) {
    return lose(malformed("\"type\" and one book in \"data\" with its \"symbol\""), nullptr);
  }
  SymbolState* state = state_of(symbol->text);
  if (passes_over(state)) return;
  BookMessage book;
  book.is_snapshot = type->text == "snapshot";
  levels_.clear();
  Step step = take_levels2(tree_.find(*content, "bids"), Side::kBid);
  if (step == Step::kOk) step = take_levels2(tree_.find(*content, "asks"), Side::kAsk);
  const JsonNode* checksum = tree_.find(*content, "checksum");
  if (checksum != nullptr && step == Step::kOk) step = take_checksum(*checksum, book);
  const JsonNode* time = tree_.find(*content, "timestamp");
  if (time != nullptr && step == Step::kOk && !parse_iso_time_ns(time->text, book.time_ns)) {
    step = malformed("a time like 2023-10-06T17:35:55.440295Z", time->text);
  }
  if (step != Step::kOk) return lose(step, state);
  yield_book(*state, book, batch);
}

void KrakenDecoder::decode_trades2(const JsonNode& root, EventBatch& batch) {
  ++counts_[kTrade];
  const JsonNode* data = tree_.find(root, "data");
  if (data == nullptr || !data->is_array()) {
    return lose(malformed("a list of trades in \"data\""), nullptr, Quality::kTradeGap);
  }
  bool any_wanted = data->count == 0;
  for (std::uint32_t at = data->first; at != 0; at = tree_.at(at).next) {
    const JsonNode& trade = tree_.at(at);
    const JsonNode* symbol = tree_.find(trade, "symbol");
    SymbolState* state =
        symbol == nullptr || !symbol->is_string() ? nullptr : state_of(symbol->text);
    Step step = state == nullptr ? malformed("a trade with its \"symbol\"") : Step::kOk;
    if (step == Step::kOk && !state->wanted) continue;
    any_wanted = true;
    if (step == Step::kOk) step = take_trade2(trade, *state, batch);
    if (step != Step::kOk) {
      batch.clear();
      return lose(step, state, Quality::kTradeGap);
    }
    const bool is_last_of_symbol =
        tree_.at(at).next == 0 || tree_.find(tree_.at(tree_.at(at).next), "symbol") == nullptr ||
        tree_.find(tree_.at(tree_.at(at).next), "symbol")->text != state->symbol;
    if (is_last_of_symbol && !batch.empty()) batch.back().end_of_update = true;
  }
  if (!any_wanted) ++counters_.filtered;
}

// What the instrument channel says of decimals holds for books opened from now on.
void KrakenDecoder::take_precisions(const JsonNode& root) {
  const JsonNode* data = tree_.find(root, "data");
  const JsonNode* pairs = data == nullptr ? nullptr : tree_.find(*data, "pairs");
  if (pairs == nullptr || !pairs->is_array()) return;
  for (std::uint32_t at = pairs->first; at != 0; at = tree_.at(at).next) {
    const JsonNode& pair = tree_.at(at);
    const JsonNode* symbol = tree_.find(pair, "symbol");
    if (symbol == nullptr || !symbol->is_string()) continue;
    SymbolState* state = state_of(symbol->text);
    if (state == nullptr) return;
    number_of(tree_.find(pair, "price_precision"), kDecimalsMax, state->price_decimals);
    number_of(tree_.find(pair, "qty_precision"), kDecimalsMax, state->quantity_decimals);
  }
}

void KrakenDecoder::yield_trade(SymbolState& state, MarketEvent event, EventBatch& batch) {
  if (levels_.empty()) return;  // its price was out of range
  event.quality |= check_time(event.exchange_time_ns, state.last_trade_time_ns);
  if (!state.has_book) {
    ++state.count_before_book;
    ++counters_.ignored;
    return;
  }
  event.kind = EventKind::kTrade;
  event.side = levels_.front().side;
  event.price_nanos = levels_.front().price.nanos;
  event.quantity_nanos = levels_.front().quantity.nanos;
  batch.push_back(event);
}

void KrakenDecoder::yield_book(SymbolState& state, BookMessage& book, EventBatch& batch) {
  ++counts_[book.is_snapshot ? kSnapshot : kUpdate];
  if (book.is_snapshot) open_book(state);
  if (!state.has_book || state.awaits_snapshot) {
    ++state.count_before_book;
    ++counters_.ignored;
    return;
  }
  // A message of nothing but old levels has no time of its own.
  if (book.time_ns == 0) book.time_ns = std::max(state.last_book_time_ns, std::int64_t{0});
  if (book.time_ns == 0) book.time_ns = receive_time_ns_;
  MarketEvent event = first_event(state, book.time_ns);
  event.quality |= check_time(book.time_ns, state.last_book_time_ns);
  event.quality |= std::exchange(state.owed_quality, {});
  if (book.is_snapshot) {
    event.quality = Quality::kSnapshot;
    event.kind = EventKind::kClear;
    batch.push_back(event);
  }
  event.kind = EventKind::kSetLevel;
  for (const Level& level : levels_) {
    event.side = level.side;
    event.price_nanos = level.price.nanos;
    event.quantity_nanos = level.quantity.nanos;
    batch.push_back(event);
  }
  event.side = Side::kNone;
  event.price_nanos = event.quantity_nanos = 0;
  if (state.depth > 0) {
    event.kind = EventKind::kTrimDepth;
    event.level_index = state.depth;
    batch.push_back(event);
    event.level_index = 0;
  }
  if (book.has_checksum) {
    event.kind = EventKind::kExpectChecksum;
    event.order_id = book.checksum;
    batch.push_back(event);
  }
  if (!batch.empty()) batch.back().end_of_update = true;
}

// The grid, the decimals and the depth of a symbol's book, told by its first snapshot where no
// message has told them.
void KrakenDecoder::open_book(SymbolState& state) {
  state.awaits_snapshot = false;
  if (state.has_book) return;
  GridFinder prices;
  GridFinder quantities;
  int price_decimals = 0;
  int quantity_decimals = 0;
  std::array<std::size_t, 2> counts{};
  for (const Level& level : levels_) {
    prices.add(level.price.nanos);
    quantities.add(level.quantity.nanos);
    price_decimals = std::max(price_decimals, level.price.decimals);
    quantity_decimals = std::max(quantity_decimals, level.quantity.decimals);
    ++counts[level.side == Side::kAsk ? 1 : 0];
  }
  if (state.depth == 0) {
    const auto* depth =
        std::lower_bound(kDepths.begin(), kDepths.end(), *std::ranges::max_element(counts));
    if (depth != kDepths.end()) state.depth = *depth;
  }
  Instrument instrument{state.symbol, prices.step_nanos(), quantities.step_nanos()};
  instrument.price_decimals = static_cast<std::int8_t>(
      state.price_decimals >= 0 ? state.price_decimals : std::min(price_decimals, kDecimalsMax));
  instrument.quantity_decimals = static_cast<std::int8_t>(
      state.quantity_decimals >= 0 ? state.quantity_decimals
                                   : std::min(quantity_decimals, kDecimalsMax));
  state.instrument = add_instrument(std::move(instrument));
  state.has_book = true;
}

void KrakenDecoder::interrupt() noexcept {
  for (const auto& state : states_) state->awaits_snapshot = true;
}

MarketEvent KrakenDecoder::first_event(const SymbolState& state, std::int64_t time_ns) noexcept {
  MarketEvent event;
  event.exchange_time_ns = time_ns;
  event.receive_time_ns = receive_time_ns_;
  event.record = counters_.records;
  event.instrument = state.instrument;
  return event;
}

// Within one channel of one symbol.
QualityFlags KrakenDecoder::check_time(std::int64_t time_ns, std::int64_t& last_time_ns) noexcept {
  QualityFlags quality;
  if (time_ns < last_time_ns) {
    ++counters_.time_backwards;
    quality = Quality::kTimeBackwards;
  }
  last_time_ns = time_ns;
  return quality;
}

// Null past kSymbolsMax, or for a name of absurd length.
KrakenDecoder::SymbolState* KrakenDecoder::state_of(std::string_view symbol) {
  const auto found = state_by_symbol_.find(symbol);
  if (found != state_by_symbol_.end()) return found->second;
  if (states_.size() >= kSymbolsMax || symbol.size() > kSymbolSizeMax) return nullptr;
  auto state = std::make_unique<SymbolState>();
  state->symbol = symbol;
  state->wanted = wants(symbol);
  SymbolState* raw = state.get();
  states_.push_back(std::move(state));
  state_by_symbol_.emplace(raw->symbol, raw);
  return raw;
}

// Counts the record if it is left out: of a symbol that nobody asked for, or of one too many.
bool KrakenDecoder::passes_over(SymbolState* state) noexcept {
  if (state == nullptr) {
    lose(malformed("at most 10000 symbols of at most 32 characters"), nullptr);
    return true;
  }
  if (!state->wanted) ++counters_.filtered;
  return !state->wanted;
}

void KrakenDecoder::lose(Step step, SymbolState* state, Quality what_is_missing) {
  ++(step == Step::kBadQuantity ? counters_.bad_quantity : counters_.malformed);
  if (keeps_faults()) add_fault(fault_);
  if (state != nullptr) {
    state->owed_quality |= what_is_missing;
    return;
  }
  for (const auto& each : states_) each->owed_quality |= what_is_missing;
}

std::vector<std::pair<std::string, std::uint64_t>> KrakenDecoder::counts_by_type() const {
  static constexpr std::array<std::string_view, kKindCount> kNames = {
      "snapshot", "update", "trade", "instrument", "heartbeat", "status", "connection", "other"};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < kKindCount; ++i) {
    if (counts_[i] > 0) counts.emplace_back(kNames[i], counts_[i]);
  }
  return counts;
}

}  // namespace tocsin
