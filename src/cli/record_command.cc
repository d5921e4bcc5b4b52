// `tocsin record FILE --output FOLDER`: any source into a recording of Tocsin's own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/file_options.h"
#include "cli/interruption.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "ingest/segment_source.h"
#include "runtime/recorder.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

// Every segment begins with all the books: smaller ones would hold little else.
constexpr std::uint64_t kSegmentBytesLeast = std::uint64_t{64} << 10;
constexpr std::uint64_t kSegmentBytesMost = std::uint64_t{1} << 40;

struct RecordArguments {
  FileArguments file;
  std::string config;
  std::string output;
  std::uint64_t segment_bytes = SegmentWriterOptions().segment_bytes_max;
  bool json = false;
};

std::string report_text(const RecordReport& report) {
  TextTable table({"", ""});
  table.add_row({"events", with_thousands(report.written.events)});
  table.add_row({"records read", with_thousands(report.source.records)});
  table.add_row({"instruments", with_thousands(report.instruments)});
  table.add_row({"segments, blocks", fmt::format("{}, {}", with_thousands(report.written.segments),
                                                 with_thousands(report.written.blocks))});
  table.add_row({"bytes written, read", fmt::format("{}, {}", with_thousands(report.written.bytes),
                                                    with_thousands(report.source.bytes))});
  return table.text();
}

// A file by its arguments, or the source of a run's configuration, which may be a live one.
Result<SourceConfig> source_of(const RecordArguments& arguments) {
  if (!arguments.config.empty()) {
    TOCSIN_ASSIGN_OR_RETURN(const RunConfig config, read_run_config(arguments.config));
    return config.source;
  }
  if (arguments.file.path.empty())
    return Error(ErrorCode::kInvalidArgument, "name a FILE, or a --config whose source to record");
  SourceConfig source;
  TOCSIN_ASSIGN_OR_RETURN(source.file, arguments.file.source_options());
  return source;
}

Result<RecordReport> record(const RecordArguments& arguments, const CommandContext& context,
                            const RecordHooks& hooks) {
  TOCSIN_ASSIGN_OR_RETURN(const SourceConfig config, source_of(arguments));
  SegmentWriterOptions options;
  options.folder = arguments.output;
  options.segment_bytes_max = arguments.segment_bytes;
  options.source_name = source_name_of(config.file.path);
  options.format = "live";
  if (!config.is_live()) {
    TOCSIN_ASSIGN_OR_RETURN(const FeedFormat format, feed_format_of(config.file));
    options.format = feed_format_name(format);
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_source(config, context.clock));
  TOCSIN_ASSIGN_OR_RETURN(RecordReport report,
                          record_source(*source, options, context.clock, hooks));
  warn_of_absent_symbols(config.file, report.source);
  return report;
}

ExitCode run_record(const RecordArguments& arguments, const CommandContext& context) {
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  RecordHooks hooks;
  hooks.on_progress = [&progress](const Progress& done) { progress.update(done); };
  hooks.stop = &watch_interruption();
  const Result<RecordReport> report = record(arguments, context, hooks);
  progress.clear();
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed =
      print_output(arguments.json ? record_json(*report) + "\n" : report_text(*report));
  if (!report->end.ok()) return report_error(report->end.error());
  return report->interrupted ? ExitCode::kInterrupted : printed;
}

}  // namespace

void add_record_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* command = app.add_subcommand("record", "Record a source in Tocsin's own format");
  arguments->file.add_to(*command);
  command->get_option("FILE")->required(false);
  command->add_option("--config", arguments->config,
                      "A run's configuration: its source is recorded, also a live one");
  command->add_option("-o,--output", arguments->output, "Folder for the recording")->required();
  command
      ->add_option("--segment-bytes", arguments->segment_bytes,
                   "A segment ends behind so many bytes (default: 64 MiB)")
      ->check(number_in(kSegmentBytesLeast, kSegmentBytesMost));
  command->add_flag("--json", arguments->json, "Print the report as JSON and nothing else");
  command->footer(
      "Example:\n  tocsin record data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz --output "
      "/tmp/recording\n  tocsin inspect /tmp/recording");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_record(*arguments, context); };
  });
}

}  // namespace tocsin
