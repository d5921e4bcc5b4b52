// One pass through decoder, book and oracle; the JSON has the keys of the command reference.
#include "runtime/inspector.h"

#include <nlohmann/json.hpp>

#include "ingest/segment_source.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kRecordsBetweenProgress = 4096;

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

Result<InspectReport> inspect_file(const FileSourceOptions& options, const Clock& clock,
                                   const std::function<void(const Progress&)>& on_progress) {
  FileSourceOptions opened = options;
  TOCSIN_ASSIGN_OR_RETURN(opened.format, feed_format_of(options));
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
  std::vector<bool> instrument_seen;
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  while ((status = source->next(batch)) == SourceStatus::kEvents) {
    for (const MarketEvent& event : batch) {
      if (report.first_time_ns == 0) report.first_time_ns = event.exchange_time_ns;
      report.last_time_ns = event.exchange_time_ns;
      if (instrument_seen.size() <= event.instrument) instrument_seen.resize(event.instrument + 1);
      instrument_seen[event.instrument] = true;
    }
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);)
      ++report.frames;
    if (source->counters().records % kRecordsBetweenProgress == 0)
      on_progress({source->progress(), source->counters().events});
  }
  if (status == SourceStatus::kError) report.end = source->error();
  for (std::size_t i = 0; i < instrument_seen.size(); ++i)
    if (instrument_seen[i]) report.symbols.push_back(source->instruments()[i].symbol);
  report.by_type = source->counts_by_type();
  report.venue = source->venue();
  if (report.venue.empty()) report.venue = venue_name(report.format);
  report.source = source->counters();
  warn_of_absent_symbols(options, report.source);
  report.books = builder.counters();
  report.oracle = builder.oracle_counters();
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
      {"faults", faults},
      {"error", report.end.ok() ? json() : json(report.end.error().message())},
  };
  return root.dump(2);
}

}  // namespace tocsin
