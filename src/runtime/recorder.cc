// Events go to the writer and to books of the recorder's own, which only the segments' starts need.
#include "runtime/recorder.h"

#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

#include "features/book_oracle.h"
#include "features/order_book.h"
#include "runtime/book_events.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kRecordsBetweenProgress = 1024;

// The books that a pipeline would have: an oracle may add to them what no event tells.
class RecordedBooks {
 public:
  void apply(const EventBatch& batch, std::span<const Instrument> instruments) {
    for (const MarketEvent& event : batch) {
      while (books_.size() <= event.instrument) books_.emplace_back(instruments[books_.size()]);
      Entry& entry = books_[event.instrument];
      entry.book.apply(event);
      entry.oracle.on_event(event, entry.book);
      entry.last = event;
      entry.seen = true;
      last_record_ = event.record;
    }
  }
  std::vector<MarketEvent> events() const {
    std::vector<MarketEvent> events;
    for (const Entry& entry : books_) {
      if (!entry.seen) continue;
      MarketEvent shared = entry.last;
      shared.record = last_record_;
      append_book_events(entry.book, shared, events);
    }
    return events;
  }

 private:
  struct Entry {
    explicit Entry(const Instrument& instrument)
        : book({.modify_priority = instrument.modify_priority}), oracle(instrument) {}
    OrderBook book;
    BookOracle oracle;
    MarketEvent last;
    bool seen = false;
  };
  std::deque<Entry> books_;  // by instrument
  std::uint64_t last_record_ = 0;
};

SourceAccount account_of(const Source& source) {
  SourceAccount account;
  account.counters = source.counters();
  account.by_type = source.counts_by_type();
  account.faults.assign(source.faults().begin(), source.faults().end());
  return account;
}

class Recording {
 public:
  Recording(Source& source, SegmentWriter writer, const Clock& clock)
      : source_(source), writer_(std::move(writer)), clock_(clock) {}

  Status take(const EventBatch& batch) {
    if (!batch.empty()) {
      TOCSIN_RETURN_IF_ERROR(make_room());
      if (!writer_.has_open_block()) opened_time_ns_ = clock_.monotonic_time_ns();
      writer_.append(batch, source_.instruments());
      books_.apply(batch, source_.instruments());
    }
    const bool stands_long = writer_.has_open_block() &&
                             clock_.monotonic_time_ns() - opened_time_ns_ >= kBlockDurationNsMax;
    return stands_long ? close_block() : Status();
  }
  Status finish(const Status& end) {
    TOCSIN_RETURN_IF_ERROR(close_block());
    return writer_.finish(account_of(source_), source_.instruments(),
                          end.ok() ? std::string_view() : end.error().message());
  }
  void remove_if_empty() noexcept { writer_.remove_if_empty(); }
  const SegmentWriterCounters& written() const { return writer_.counters(); }

 private:
  // Closes the block that is full, and the segment if that is full then.
  Status make_room() {
    if (writer_.block_is_full()) TOCSIN_RETURN_IF_ERROR(close_block());
    if (writer_.has_open_block() || !writer_.segment_is_full()) return {};
    return writer_.begin_segment(account_of(source_), source_.instruments(), books_.events());
  }
  Status close_block() {
    if (!writer_.has_open_block()) return {};
    return writer_.close_block(account_of(source_), source_.instruments());
  }

  Source& source_;
  SegmentWriter writer_;
  const Clock& clock_;
  RecordedBooks books_;
  std::int64_t opened_time_ns_ = 0;
};

}  // namespace

Result<RecordReport> record_source(Source& source, const SegmentWriterOptions& options,
                                   const Clock& clock, const RecordHooks& hooks) {
  TOCSIN_ASSIGN_OR_RETURN(SegmentWriter writer, SegmentWriter::create(options));
  Recording recording(source, std::move(writer), clock);
  RecordReport report;
  EventBatch batch;
  Status written;
  for (std::uint64_t reads = 1; written.ok(); ++reads) {
    if (hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed)) {
      report.interrupted = true;
      break;
    }
    const SourceStatus status = source.next(batch);
    if (status == SourceStatus::kError) report.end = source.error();
    if (status != SourceStatus::kEvents) break;
    written = recording.take(batch);
    if (hooks.on_progress && reads % kRecordsBetweenProgress == 0)
      hooks.on_progress({source.progress(), source.counters().events});
  }
  if (written.ok()) written = recording.finish(report.end);
  if (!written.ok()) {
    report.end = written;
    recording.remove_if_empty();
  }
  report.written = recording.written();
  report.source = source.counters();
  report.instruments = source.instruments().size();
  return report;
}

std::string record_json(const RecordReport& report) {
  const nlohmann::json root = {
      {"segments", report.written.segments},
      {"blocks", report.written.blocks},
      {"events", report.written.events},
      {"bytes", report.written.bytes},
      {"records", report.source.records},
      {"source_bytes", report.source.bytes},
      {"instruments", report.instruments},
      {"gaps", report.source.gaps},
      {"malformed", report.source.malformed},
      {"bad_quantity", report.source.bad_quantity},
      {"interrupted", report.interrupted},
      {"error", report.end.ok() ? nlohmann::json() : nlohmann::json(report.end.error().message())},
  };
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
