// `tocsin inspect FILE`: what a file is, and whether the rebuilt book agrees with the feed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/readable_time.h"
#include "cli/command.h"
#include "cli/file_options.h"
#include "cli/interruption.h"
#include "cli/terminal_chart.h"
#include "cli/text_table.h"
#include "runtime/inspector.h"
#include "telemetry/progress_bar.h"

namespace tocsin {
namespace {

struct InspectOptions {
  FileArguments file;
  std::string at;
  bool json = false;
};

void add_snapshot_rows(const SnapshotCounters& snapshots, TextTable& table) {
  if (snapshots.compared == 0) return;
  table.add_row({"snapshots", equal_of_compared(snapshots.equal, snapshots.compared)});
  table.add_row(
      {"  of auctions", equal_of_compared(snapshots.auction_equal, snapshots.auction_compared)});
  for (std::size_t i = 0; i < kSnapshotMismatchCount; ++i) {
    if (snapshots.mismatches[i] == 0) continue;
    const auto kind = static_cast<SnapshotMismatch>(i);
    table.add_row({fmt::format("  {}", snapshot_mismatch_name(kind)),
                   with_thousands(snapshots.mismatches[i])});
  }
}

constexpr std::size_t kChartWidth = 60;

std::string rates_text(const RateSeries& rates) {
  if (rates.counts().empty()) return "";
  const std::uint64_t greatest = *std::max_element(rates.counts().begin(), rates.counts().end());
  const auto per_second = static_cast<std::uint64_t>(static_cast<double>(greatest) * 1e9 /
                                                     static_cast<double>(rates.bucket_ns()));
  return fmt::format(
      "\n  messages by time, each of {} columns up to {}; at most {} a second\n  [{}]\n",
      std::min(rates.counts().size(), kChartWidth),
      readable_duration(
          rates.bucket_ns() *
          static_cast<std::int64_t>((rates.counts().size() + kChartWidth - 1) / kChartWidth)),
      with_thousands(per_second), sparkline(rates.counts(), kChartWidth, terminal_character_set()));
}

std::string picture_text(const InspectReport& report) {
  if (!report.picture) return "";
  const BookPicture& picture = *report.picture;
  return fmt::format("\n  {} at {}{}\n", picture.symbol, readable_time(picture.time_ns),
                     picture.trusted ? "" : " (not to be trusted)") +
         ladder_text(picture, terminal_character_set());
}

std::string report_text(const InspectReport& report) {
  const SourceCounters& source = report.source;
  TextTable table({"", ""});
  table.add_row({"format", std::string(feed_format_name(report.format))});
  if (!report.recorded_source.empty()) {
    table.add_row(
        {"recorded", fmt::format("{} ({})", report.recorded_source, report.recorded_format)});
  }
  table.add_row({"venue", report.venue});
  std::string symbols;
  for (std::size_t i = 0; i < report.symbols.size() && i < 8; ++i)
    symbols += (i > 0 ? ", " : "") + report.symbols[i];
  if (report.symbols.size() > 8) symbols += fmt::format(" and {} more", report.symbols.size() - 8);
  table.add_row({"symbols", symbols});
  table.add_row({"first event", readable_time(report.first_time_ns)});
  table.add_row({"last event", readable_time(report.last_time_ns)});
  table.add_row({"messages", with_thousands(source.records)});
  for (const auto& [type, count] : report.by_type)
    table.add_row({"  " + type, with_thousands(count)});
  table.add_row({"gaps", fmt::format("{} ({} missing)", source.gaps, source.missing)});
  table.add_row({"duplicates", with_thousands(source.duplicates)});
  table.add_row({"out of order", with_thousands(source.out_of_order)});
  table.add_row({"time backwards", with_thousands(source.time_backwards)});
  table.add_row({"malformed", with_thousands(source.malformed)});
  table.add_row({"bad quantity", with_thousands(source.bad_quantity + report.books.bad_quantity)});
  table.add_row({"crossed", with_thousands(report.books.crossed)});
  table.add_row({"unknown orders", with_thousands(report.books.unknown_orders)});
  table.add_row({"frames", with_thousands(report.frames)});
  const OracleCounters& oracle = report.oracle;
  if (oracle.rows_compared > 0) {
    table.add_row({"book rows", equal_of_compared(oracle.rows_equal, oracle.rows_compared)});
    table.add_row({"book levels", equal_of_compared(oracle.levels_equal, oracle.levels_compared)});
    table.add_row({"levels not knowable", with_thousands(oracle.levels_adopted)});
  }
  if (oracle.top_compared > 0)
    table.add_row({"top of book", equal_of_compared(oracle.top_equal, oracle.top_compared)});
  if (oracle.checksums_compared > 0)
    table.add_row(
        {"checksums", equal_of_compared(oracle.checksums_equal, oracle.checksums_compared)});
  add_snapshot_rows(oracle.snapshots, table);
  table.add_row({"book memory", fmt::format("{} bytes for {} instruments, {} orders, {} levels",
                                            with_thousands(report.memory.book_bytes),
                                            with_thousands(report.memory.instruments),
                                            with_thousands(report.memory.orders),
                                            with_thousands(report.memory.levels))});
  std::string text = table.text() + rates_text(report.rates) + picture_text(report);
  for (const InputFault& fault : report.faults)
    text += fmt::format("  record {}: {}\n", fault.record, fault.message);
  return text;
}

ExitCode run_inspect(const InspectOptions& options, const CommandContext& context) {
  auto file = options.file.source_options();
  if (!file.ok()) return report_error(file.error());
  InspectRequest request;
  request.file = *file;
  request.stop = &watch_interruption();
  if (!options.at.empty()) {
    const Result<PictureTime> time = parse_picture_time(options.at);
    if (!time.ok())
      return report_error(Error(time.error().code(), "--at: " + time.error().message()));
    request.picture = *time;
  }
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  const Result<InspectReport> report =
      inspect_file(request, context.clock, [&](const Progress& done) { progress.update(done); });
  progress.clear();
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed =
      print_output(options.json ? inspect_json(*report) + "\n" : report_text(*report));
  if (!report->end.ok()) return report_error(report->end.error());
  return printed;
}

}  // namespace

void add_inspect_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Tell what a market-data file is");
  options->file.add_to(*command);
  command->add_option(
      "--at", options->at,
      "Draw the busiest book at TIME: 09:30:00.5, 2024-08-08T23:57:24 or nanoseconds");
  command->add_flag("--json", options->json, "Print the report as JSON and nothing else");
  command->footer(
      "Example:\n  tocsin inspect data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz --at "
      "23:57:24");
  command->callback([options, &context] {
    context.action = [options, &context] { return run_inspect(*options, context); };
  });
}

}  // namespace tocsin
