// A live crypto feed: messages of a WebSocket, decoded as if they were lines of a recording.
// Reconnects with a growing pause; a book is not trusted from a break until its new snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ingest/source.h"
#include "ingest/stale_feed_detector.h"
#include "ingest/websocket_connection.h"

namespace tocsin {

struct WebSocketSourceOptions {
  WebSocketConnectionOptions connection;
  FileSourceOptions feed;  // format (not told from the content), symbols, map; the path is not used
  // Where a symbol's snapshot is fetched from, for feeds that send none: "{symbol}" stands for it,
  // "{symbol_lower}" for the same in small letters. Empty: the feed sends it after subscribing.
  std::string snapshot_url;
  std::int64_t pause_min_ms = 500;  // before connecting anew; doubled by each failure
  std::int64_t pause_max_ms = 30'000;
  std::int64_t attempts_max = 10;  // failures in a row before the source gives up; 0: never
  StaleFeedOptions stale;
};

class LineQueue;

class WebSocketSource final : public Source {
 public:
  // One next() waits this long at most; the batch is empty if nothing came.
  static constexpr std::int64_t kWaitMaxNs = 50'000'000;

  // `clock` must outlive the source: it stamps messages and measures pauses and silences. Errors:
  // kInvalidArgument for a URL, a format that is not made of lines, or snapshots to be fetched
  // without symbols to fetch them for. That nobody answers is found out later.
  static Result<std::unique_ptr<Source>> create(const WebSocketSourceOptions& options,
                                                Clock& clock);
  ~WebSocketSource() override;

  SourceStatus next(EventBatch& batch) noexcept override;
  bool is_due() noexcept override;
  bool is_live() const noexcept override { return true; }
  bool is_paced() const noexcept override { return true; }
  std::optional<std::int64_t> decode_ns() const noexcept override { return decode_ns_; }
  void resynchronise(InstrumentId instrument) noexcept override;
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return faults_; }
  std::span<const Instrument> instruments() const noexcept override {
    return decoder_->instruments();
  }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;
  double progress() const noexcept override { return -1.0; }

 private:
  using Event = WebSocketConnection::Event;

  // A snapshot to be had, by the symbol's place among those asked for.
  struct Fetch {
    std::int64_t due_ns = 0;  // 0: nothing to fetch
    bool under_way = false;
    std::uint32_t failures = 0;
  };

  WebSocketSource(const WebSocketSourceOptions& options, Clock& clock,
                  std::unique_ptr<WebSocketConnection> connection);
  Status open_decoder();

  SourceStatus on_event(Event event, EventBatch& batch);
  void decode(std::string_view text, EventBatch& batch);
  void decode_snapshot(EventBatch& batch);
  void on_break(const std::string& reason, EventBatch& batch);
  void look_for_gaps(const EventBatch& batch);
  void want_snapshot(std::string_view symbol, std::int64_t pause_ms);
  void start_fetches();
  bool waits_to_connect() noexcept;
  void give_notice(EventBatch& batch);
  void count();
  void add_fault(std::string message);
  // Whether a page was asked for before the last break: what it holds joins nothing anymore.
  bool is_of_before(std::uint64_t tag) const noexcept;
  std::int64_t pause_ns(std::uint64_t failures) const noexcept;

  WebSocketSourceOptions options_;
  Clock& clock_;
  std::unique_ptr<WebSocketConnection> connection_;
  LineQueue* lines_ = nullptr;  // of the decoder
  std::unique_ptr<Source> decoder_;
  StaleFeedDetector stale_;
  std::vector<Fetch> fetches_;  // by place in options_.feed.symbols
  std::string line_;
  Event seen_ = Event::kNothing;  // what is_due() saw, for next()
  std::int64_t connect_time_ns_ = 0;
  std::int64_t decode_ns_ = 0;    // of the last batch
  bool is_connecting_ = false;    // or connected
  bool wants_reconnect_ = false;  // the book is broken and only a new connection mends it
  std::uint64_t failures_ = 0;    // in a row
  std::uint64_t break_count_ = 0;
  std::uint64_t fetch_count_ = 0;
  std::uint64_t notice_count_ = 0;  // records of the source's own: breaks, stale feeds
  std::uint64_t notice_event_count_ = 0;
  std::size_t decoder_faults_seen_ = 0;
  SourceCounters counters_;
  std::vector<InputFault> faults_;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
