// One pass through decoder, book and oracle; the JSON has the keys of the command reference.
#include "runtime/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/decimal.h"
#include "base/readable_time.h"
#include "ingest/segment_source.h"
#include "runtime/memory_fields.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kRecordsBetweenProgress = 4096;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kDayNs = 86'400 * kNanosPerSecond;

// What a pass learns of its events, beside what books and source count.
class PassNotes {
 public:
  PassNotes(const InspectRequest& request, InspectReport& report)
      : wanted_(request.picture), report_(report) {}

  // Before the batch reaches the books, which may be drawn as they are.
  void take_in(const EventBatch& batch, const FrameBuilder& builder, const Source& source) {
    if (batch.empty()) return;
    const std::int64_t time_ns = batch.front().exchange_time_ns;
    if (report_.first_time_ns == 0) {
      report_.first_time_ns = time_ns;
      if (wanted_ && wanted_->of_day) wanted_->time_ns += time_ns - time_ns % kDayNs;
    }
    if (wanted_ && time_ns > wanted_->time_ns) {
      if (event_counts_.empty()) {
        refuse("before the first", time_ns);
      } else {
        draw(builder, source);
      }
    }
    report_.last_time_ns = batch.back().exchange_time_ns;
    report_.rates.add(time_ns, 1);
    for (const MarketEvent& event : batch) {
      if (event_counts_.size() <= event.instrument) event_counts_.resize(event.instrument + 1);
      ++event_counts_[event.instrument];
    }
  }

  void finish(const FrameBuilder& builder, const Source& source) {
    if (wanted_ && !event_counts_.empty() && wanted_->time_ns > report_.last_time_ns)
      refuse("after the last", report_.last_time_ns);
    if (wanted_) draw(builder, source);
    for (std::size_t i = 0; i < event_counts_.size(); ++i)
      if (event_counts_[i] > 0) report_.symbols.push_back(source.instruments()[i].symbol);
  }

 private:
  void refuse(std::string_view where, std::int64_t event_time_ns) {
    if (report_.end.ok()) {
      report_.end =
          Error(ErrorCode::kInvalidArgument,
                fmt::format("no book to draw at {}: that is {} event, {}",
                            readable_time(wanted_->time_ns), where, readable_time(event_time_ns)));
    }
    wanted_.reset();
  }
  void draw(const FrameBuilder& builder, const Source& source) {
    BookPicture picture;
    picture.time_ns = wanted_->time_ns;
    wanted_.reset();
    const auto busiest = std::max_element(event_counts_.begin(), event_counts_.end());
    if (busiest != event_counts_.end()) {
      const auto instrument = static_cast<InstrumentId>(busiest - event_counts_.begin());
      const OrderBook& book = builder.book(instrument);
      picture.symbol = source.instruments()[instrument].symbol;
      picture.trusted = book.trusted();
      const auto bids = book.top(Side::kBid);
      const auto asks = book.top(Side::kAsk);
      picture.bids.assign(bids.begin(), bids.end());
      picture.asks.assign(asks.begin(), asks.end());
    }
    report_.picture = std::move(picture);
  }

  std::optional<PictureTime> wanted_;  // until it is drawn
  InspectReport& report_;
  std::vector<std::uint64_t> event_counts_;  // by InstrumentId
};

nlohmann::json levels_json(const std::vector<BookLevel>& levels) {
  nlohmann::json list = nlohmann::json::array();
  for (const BookLevel& level : levels)
    list.push_back({{"price", format_decimal_nanos(level.price_nanos)},
                    {"quantity", format_decimal_nanos(level.quantity_nanos)},
                    {"orders", level.order_count}});
  return list;
}

nlohmann::json rates_json(const RateSeries& rates) {
  std::uint64_t greatest = 0;
  for (const std::uint64_t count : rates.counts()) greatest = std::max(greatest, count);
  const double seconds = static_cast<double>(rates.bucket_ns()) / 1e9;
  return {{"bucket_ns", rates.bucket_ns()},
          {"start_ns", rates.start_ns()},
          {"counts", rates.counts()},
          {"greatest_per_s", static_cast<double>(greatest) / seconds}};
}

// "HH:MM:SS" and up to nine digits behind a point; false if it is not that.
bool parse_clock(std::string_view text, std::int64_t& time_ns) {
  const auto two = [&](std::size_t at, std::int64_t limit, std::int64_t& value) {
    if (text.size() < at + 2) return false;
    const char high = text[at];
    const char low = text[at + 1];
    if (high < '0' || high > '9' || low < '0' || low > '9') return false;
    value = (high - '0') * 10 + (low - '0');
    return value < limit;
  };
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  std::int64_t seconds = 0;
  if (!two(0, 24, hours) || !two(3, 60, minutes) || !two(6, 60, seconds)) return false;
  if (text[2] != ':' || text[5] != ':') return false;
  std::int64_t nanos = 0;
  if (text.size() > 8) {
    const std::string fraction = "0" + std::string(text.substr(8));
    if (text[8] != '.' || text.size() == 9 ||
        parse_decimal_nanos(fraction, nanos) != DecimalStatus::kOk)
      return false;
  }
  time_ns = ((hours * 60 + minutes) * 60 + seconds) * kNanosPerSecond + nanos;
  return true;
}

}  // namespace

std::string_view venue_name(FeedFormat format) noexcept {
  switch (format) {
    case FeedFormat::kBinanceUsdm:
      return "Binance USD-M futures";
    case FeedFormat::kLobster:
      return "NASDAQ (LOBSTER)";
    case FeedFormat::kItch50:
      return "NASDAQ TotalView-ITCH 5.0";
    case FeedFormat::kMoldUdp64:
      return "NASDAQ TotalView-ITCH 5.0 (MoldUDP64)";
    case FeedFormat::kDbn:
      return "Databento";
    case FeedFormat::kIex:
      return "IEX";
    case FeedFormat::kPitch:
      return "Cboe PITCH";
    case FeedFormat::kMdp3:
      return "CME MDP 3.0";
    case FeedFormat::kKraken:
      return "Kraken";
    case FeedFormat::kJsonLines:
    case FeedFormat::kCsv:
      return "by map";
    case FeedFormat::kSseL2:
      return "Shanghai Stock Exchange, level 2";
    case FeedFormat::kSzseSnapshot:
      return "Shenzhen Stock Exchange, 10-level snapshots";
    case FeedFormat::kRecording:
      return "a recording";
  }
  return "";
}

Result<PictureTime> parse_picture_time(std::string_view text) {
  const Error error(ErrorCode::kInvalidArgument,
                    fmt::format("expected a time (09:30:00.5, 2024-08-08T23:57:24 or nanoseconds), "
                                "found '{}'",
                                text));
  std::string_view rest = text;
  if (rest.ends_with('Z')) rest.remove_suffix(1);
  PictureTime time;
  if (parse_clock(rest, time.time_ns)) {
    time.of_day = true;
    return time;
  }
  constexpr std::size_t kDateLength = 10;
  std::int64_t clock_ns = 0;
  if (rest.size() > kDateLength && (rest[kDateLength] == 'T' || rest[kDateLength] == ' ')) {
    std::tm date{};
    std::istringstream stream{std::string(rest.substr(0, kDateLength))};
    stream >> std::get_time(&date, "%Y-%m-%d");
    const bool whole = !stream.fail() && stream.peek() == std::istringstream::traits_type::eof();
    if (!whole || date.tm_year < 70 || date.tm_year > 300) return error;
    if (!parse_clock(rest.substr(kDateLength + 1), clock_ns)) return error;
    time.time_ns = static_cast<std::int64_t>(::timegm(&date)) * kNanosPerSecond + clock_ns;
    return time;
  }
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), time.time_ns);
  if (failure != std::errc() || end != text.data() + text.size() || time.time_ns < 0) return error;
  return time;
}

Result<InspectReport> inspect_file(const InspectRequest& request, const Clock& clock,
                                   const std::function<void(const Progress&)>& on_progress) {
  FileSourceOptions opened = request.file;
  TOCSIN_ASSIGN_OR_RETURN(opened.format, feed_format_of(request.file));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(opened));
  InspectReport report;
  report.format = *opened.format;
  if (report.format == FeedFormat::kRecording) {
    TOCSIN_ASSIGN_OR_RETURN(const RecordingHeader recorded, read_recording_header(opened.path));
    report.recorded_source = recorded.source_name;
    report.recorded_format = recorded.format;
  }
  // Which frames there are does not depend on the features in them.
  const std::vector<std::string> cheapest = {"mid"};
  TOCSIN_ASSIGN_OR_RETURN(const FeatureSchema schema, FeatureSchema::from_names(cheapest));
  FrameBuilder builder(schema, *source, clock);
  PassNotes notes(request, report);
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  const auto stopped = [&request] {
    return request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
  };
  while (!stopped() && (status = source->next(batch)) == SourceStatus::kEvents) {
    notes.take_in(batch, builder, *source);
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);)
      ++report.frames;
    if (source->counters().records % kRecordsBetweenProgress == 0)
      on_progress({source->progress(), source->counters().events});
  }
  if (status == SourceStatus::kError) report.end = source->error();
  if (status == SourceStatus::kEvents)
    report.end = Error(ErrorCode::kCancelled, "interrupted; this is what was read up to here");
  notes.finish(builder, *source);
  report.by_type = source->counts_by_type();
  report.venue = source->venue();
  if (report.venue.empty()) report.venue = venue_name(report.format);
  report.source = source->counters();
  warn_of_absent_symbols(request.file, report.source);
  report.books = builder.counters();
  report.oracle = builder.oracle_counters();
  report.memory = builder.memory();
  report.faults.assign(source->faults().begin(), source->faults().end());
  return report;
}

namespace {

nlohmann::json snapshots_json(const SnapshotCounters& counters) {
  nlohmann::json by_kind = nlohmann::json::object();
  for (std::size_t i = 0; i < kSnapshotMismatchCount; ++i) {
    by_kind[snapshot_mismatch_name(static_cast<SnapshotMismatch>(i))] = counters.mismatches[i];
  }
  return {{"compared", counters.compared},
          {"equal", counters.equal},
          {"auction_compared", counters.auction_compared},
          {"auction_equal", counters.auction_equal},
          {"mismatches_by_kind", by_kind}};
}

}  // namespace

std::string inspect_json(const InspectReport& report) {
  using nlohmann::json;
  const SourceCounters& source = report.source;
  json by_type = json::object();
  for (const auto& [type, count] : report.by_type) by_type[type] = count;
  json faults = json::array();
  for (const InputFault& fault : report.faults)
    faults.push_back({{"record", fault.record}, {"message", fault.message}});
  json root = {
      {"format", feed_format_name(report.format)},
      {"venue", report.venue},
      {"recorded_source", report.recorded_source},
      {"recorded_format", report.recorded_format},
      {"messages", source.records},
      {"events", source.events},
      {"by_type", by_type},
      {"symbols", report.symbols},
      {"first_time", report.first_time_ns},
      {"last_time", report.last_time_ns},
      {"gaps", source.gaps},
      {"missing", source.missing},
      {"duplicates", source.duplicates},
      {"out_of_order", source.out_of_order},
      {"time_backwards", source.time_backwards},
      {"malformed", source.malformed},
      {"bad_quantity", source.bad_quantity + report.books.bad_quantity},
      {"ignored", source.ignored},
      {"filtered", source.filtered},
      {"crossed", report.books.crossed},
      {"unknown_orders", report.books.unknown_orders},
      {"frames", report.frames},
      {"book",
       {{"rows_compared", report.oracle.rows_compared},
        {"rows_equal", report.oracle.rows_equal},
        {"levels_compared", report.oracle.levels_compared},
        {"levels_equal", report.oracle.levels_equal},
        {"levels_adopted", report.oracle.levels_adopted}}},
      {"top_of_book",
       {{"compared", report.oracle.top_compared}, {"equal", report.oracle.top_equal}}},
      {"checksums",
       {{"compared", report.oracle.checksums_compared}, {"equal", report.oracle.checksums_equal}}},
      {"snapshots", snapshots_json(report.oracle.snapshots)},
      {"memory", memory_fields(report.memory)},
      {"rates", rates_json(report.rates)},
      {"faults", faults},
      {"error", report.end.ok() ? json() : json(report.end.error().message())},
  };
  if (report.picture)
    root["picture"] = {{"symbol", report.picture->symbol},
                       {"time", report.picture->time_ns},
                       {"trusted", report.picture->trusted},
                       {"bids", levels_json(report.picture->bids)},
                       {"asks", levels_json(report.picture->asks)}};
  return root.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace tocsin
