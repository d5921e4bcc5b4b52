// The decoder reads from a queue of one line, and is asked only when a line is there.
#include "ingest/websocket_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "ingest/byte_stream.h"
#include "ingest/decoders.h"

namespace tocsin {

// One line at a time, as a stream that never ends.
class LineQueue final : public ByteStream {
 public:
  explicit LineQueue(std::string name) : name_(std::move(name)) {}

  // Valid until the line was taken.
  void push(std::string_view line) noexcept {
    line_ = line;
    is_there_ = true;
  }

  std::span<const std::byte> peek(std::size_t) noexcept override { return {}; }
  void consume(std::size_t) noexcept override {}
  bool next_line(std::string_view& line) noexcept override {
    if (!std::exchange(is_there_, false)) return false;
    line = line_;
    offset_bytes_ += line.size() + 1;
    return true;
  }
  const Status& status() const noexcept override { return status_; }
  std::uint64_t offset_bytes() const noexcept override { return offset_bytes_; }
  double progress() const noexcept override { return -1.0; }
  const std::string& path() const noexcept override { return name_; }

 private:
  std::string name_;
  std::string_view line_;
  bool is_there_ = false;
  std::uint64_t offset_bytes_ = 0;
  Status status_;
};

namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string filled_in(std::string url, std::string_view symbol) {
  const std::string lower = lower_case(symbol);
  for (const auto& [mark, text] :
       {std::pair<std::string_view, std::string_view>{"{symbol}", symbol},
        {"{symbol_lower}", lower}}) {
    for (std::size_t at = url.find(mark); at != std::string::npos; at = url.find(mark, at))
      url.replace(at, mark.size(), text);
  }
  return url;
}

}  // namespace

Result<std::unique_ptr<Source>> WebSocketSource::create(const WebSocketSourceOptions& options,
                                                        Clock& clock) {
  if (!options.snapshot_url.empty() && options.feed.symbols.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "snapshots are fetched symbol by symbol: name the symbols");
  }
  TOCSIN_ASSIGN_OR_RETURN(auto connection, WebSocketConnection::create(options.connection));
  std::unique_ptr<WebSocketSource> source(
      new WebSocketSource(options, clock, std::move(connection)));
  TOCSIN_RETURN_IF_ERROR(source->open_decoder());
  return std::unique_ptr<Source>(std::move(source));
}

WebSocketSource::WebSocketSource(const WebSocketSourceOptions& options, Clock& clock,
                                 std::unique_ptr<WebSocketConnection> connection)
    : options_(options),
      clock_(clock),
      connection_(std::move(connection)),
      stale_(clock, options.stale),
      fetches_(options.feed.symbols.size()),
      connect_time_ns_(clock.monotonic_time_ns()) {
  faults_.reserve(kMaxFaults);
}

WebSocketSource::~WebSocketSource() = default;

Status WebSocketSource::open_decoder() {
  auto lines = std::make_unique<LineQueue>(options_.connection.url);
  lines_ = lines.get();
  TOCSIN_ASSIGN_OR_RETURN(decoder_, make_line_decoder(std::move(lines), options_.feed));
  return {};
}

SourceStatus WebSocketSource::next(EventBatch& batch) noexcept {
  batch.clear();
  decode_ns_ = 0;
  if (error_.code() != ErrorCode::kOk) return SourceStatus::kError;
  if (stale_.append_stale(counters_.records + 1, batch) > 0) {
    give_notice(batch);
    return SourceStatus::kEvents;
  }
  if (waits_to_connect()) return SourceStatus::kEvents;
  if (wants_reconnect_) {
    connection_->close();
    on_break("diffs are missing, and only a new connection brings a snapshot", batch);
    return SourceStatus::kEvents;
  }
  start_fetches();
  const Event event = seen_ != Event::kNothing
                          ? std::exchange(seen_, Event::kNothing)
                          : connection_->poll(std::chrono::nanoseconds(kWaitMaxNs));
  return on_event(event, batch);
}

bool WebSocketSource::is_due() noexcept {
  if (!is_connecting_) return false;
  if (seen_ == Event::kNothing) seen_ = connection_->poll(std::chrono::nanoseconds(0));
  return seen_ != Event::kNothing;
}

// Sleeps a piece of the pause before the next attempt, or makes it.
bool WebSocketSource::waits_to_connect() noexcept {
  if (is_connecting_) return false;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  if (now_ns < connect_time_ns_) {
    clock_.sleep_until(std::min(connect_time_ns_, now_ns + kWaitMaxNs));
    return true;
  }
  connection_->open();
  is_connecting_ = true;
  return false;
}

SourceStatus WebSocketSource::on_event(Event event, EventBatch& batch) {
  switch (event) {
    case Event::kNothing:
      break;
    case Event::kOpened:
      for (const std::string& symbol : options_.feed.symbols) want_snapshot(symbol, 0);
      break;
    case Event::kMessage:
      failures_ = 0;
      decode(connection_->text(), batch);
      connection_->release();
      break;
    case Event::kFetched:
      if (!is_of_before(connection_->tag())) decode_snapshot(batch);
      break;
    case Event::kFetchFailed: {
      if (is_of_before(connection_->tag())) break;
      const std::size_t place = connection_->tag() % fetches_.size();
      Fetch& fetch = fetches_[place];
      const std::string& symbol = options_.feed.symbols[place];
      add_fault(symbol + ": no snapshot: " + std::string(connection_->text()));
      fetch.under_way = false;
      want_snapshot(symbol, pause_ns(++fetch.failures) / kNanosPerMilli);
      break;
    }
    case Event::kClosed:
      on_break(std::string(connection_->text()), batch);
      if (options_.attempts_max > 0 &&
          failures_ >= static_cast<std::uint64_t>(options_.attempts_max)) {
        error_ = Error(ErrorCode::kUnavailable,
                       options_.connection.url + ": gave up after " + std::to_string(failures_) +
                           " failures in a row, the last: " + std::string(connection_->text()));
        return SourceStatus::kError;
      }
      break;
  }
  return SourceStatus::kEvents;
}

void WebSocketSource::decode(std::string_view text, EventBatch& batch) {
  line_.clear();
  std::array<char, 24> stamp{};
  const auto end = std::to_chars(stamp.data(), stamp.data() + stamp.size(), clock_.unix_time_ns());
  line_.append(stamp.data(), end.ptr);
  line_ += ' ';
  line_ += text;
  lines_->push(line_);
  const std::int64_t start_ns = clock_.monotonic_time_ns();
  decoder_->next(batch);
  decode_ns_ = clock_.monotonic_time_ns() - start_ns;
  for (MarketEvent& event : batch) event.record += notice_count_;
  stale_.on_batch(batch);
  look_for_gaps(batch);
  count();
}

// A page names no symbol: it is wrapped as the venue wraps the streams of many symbols.
void WebSocketSource::decode_snapshot(EventBatch& batch) {
  const std::size_t place = connection_->tag() % fetches_.size();
  fetches_[place] = {};
  ++fetch_count_;
  if (options_.feed.format != FeedFormat::kBinanceUsdm) return decode(connection_->text(), batch);
  std::string wrapped = "{\"stream\":\"";
  wrapped += lower_case(options_.feed.symbols[place]);
  wrapped += "@snapshot\",\"data\":";
  wrapped += connection_->text();
  wrapped += '}';
  decode(wrapped, batch);
}

// From here on nothing joins what came before: every book is broken until its snapshot.
void WebSocketSource::on_break(const std::string& reason, EventBatch& batch) {
  ++break_count_;
  ++failures_;
  is_connecting_ = false;
  wants_reconnect_ = false;
  seen_ = Event::kNothing;
  connect_time_ns_ = clock_.monotonic_time_ns() + pause_ns(failures_);
  std::ranges::fill(fetches_, Fetch{});
  stale_.on_disconnect();
  decoder_->interrupt();
  add_fault("the connection broke: " + reason);
  for (std::size_t id = 0; id < decoder_->instruments().size(); ++id) {
    MarketEvent event;
    event.kind = EventKind::kEndOfUpdate;
    event.quality = Quality::kGap;
    event.instrument = static_cast<InstrumentId>(id);
    event.receive_time_ns = event.exchange_time_ns = clock_.unix_time_ns();
    event.record = counters_.records + 1;
    batch.push_back(event);
  }
  if (!batch.empty()) give_notice(batch);
}

void WebSocketSource::give_notice(EventBatch& batch) {
  ++notice_count_;
  notice_event_count_ += batch.size();
  count();
}

void WebSocketSource::look_for_gaps(const EventBatch& batch) {
  for (const MarketEvent& event : batch) {
    if (event.quality.has(Quality::kGap)) resynchronise(event.instrument);
  }
}

void WebSocketSource::resynchronise(InstrumentId instrument) noexcept {
  if (options_.snapshot_url.empty()) {
    wants_reconnect_ = is_connecting_;
    return;
  }
  want_snapshot(decoder_->instruments()[instrument].symbol, options_.pause_min_ms);
}

void WebSocketSource::want_snapshot(std::string_view symbol, std::int64_t pause_ms) {
  if (options_.snapshot_url.empty()) return;
  const auto& symbols = options_.feed.symbols;
  const auto found = std::find(symbols.begin(), symbols.end(), symbol);
  if (found == symbols.end()) return;
  Fetch& fetch = fetches_[static_cast<std::size_t>(found - symbols.begin())];
  if (fetch.due_ns == 0) {
    fetch.due_ns =
        std::max<std::int64_t>(1, clock_.monotonic_time_ns() + pause_ms * kNanosPerMilli);
  }
}

void WebSocketSource::start_fetches() {
  if (options_.snapshot_url.empty()) return;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  for (std::size_t i = 0; i < fetches_.size(); ++i) {
    Fetch& fetch = fetches_[i];
    if (fetch.due_ns == 0 || fetch.under_way || fetch.due_ns > now_ns) continue;
    fetch.due_ns = 0;
    fetch.under_way = true;
    connection_->fetch(filled_in(options_.snapshot_url, options_.feed.symbols[i]),
                       break_count_ * fetches_.size() + i);
  }
}

bool WebSocketSource::is_of_before(std::uint64_t tag) const noexcept {
  return tag / fetches_.size() != break_count_;
}

std::int64_t WebSocketSource::pause_ns(std::uint64_t failures) const noexcept {
  const std::uint64_t doublings = std::min<std::uint64_t>(failures == 0 ? 0 : failures - 1, 20);
  const std::int64_t pause_ms = std::min(options_.pause_min_ms << doublings, options_.pause_max_ms);
  return pause_ms * kNanosPerMilli;
}

void WebSocketSource::count() {
  counters_ = decoder_->counters();
  counters_.records += notice_count_;
  counters_.events += notice_event_count_;
  const auto decoder_faults = decoder_->faults();
  for (; decoder_faults_seen_ < decoder_faults.size(); ++decoder_faults_seen_)
    add_fault(decoder_faults[decoder_faults_seen_].message);
}

void WebSocketSource::add_fault(std::string message) {
  if (faults_.size() < kMaxFaults) faults_.push_back({counters_.records, std::move(message)});
}

std::vector<std::pair<std::string, std::uint64_t>> WebSocketSource::counts_by_type() const {
  auto counts = decoder_->counts_by_type();
  if (break_count_ > 0) counts.emplace_back("broken connections", break_count_);
  if (fetch_count_ > 0) counts.emplace_back("fetched snapshots", fetch_count_);
  if (stale_.stale_count() > 0) counts.emplace_back("stale feeds", stale_.stale_count());
  return counts;
}

}  // namespace tocsin
