// `tocsin bench`, and of it `bench pipeline FILE`: decode, book and features, messages a second on
// one core.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/file_options.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "runtime/pipeline_bench.h"

namespace tocsin {
namespace {

struct BenchArguments {
  FileArguments file;
  double seconds = 2;
  bool all_features = false;
  bool json = false;
};

std::string report_text(const PipelineBenchReport& report) {
  TextTable figures({"", ""});
  figures.add_row({"features", with_thousands(report.features)});
  figures.add_row({"messages", with_thousands(report.messages)});
  figures.add_row({"frames", with_thousands(report.frames)});
  figures.add_row({"passes", with_thousands(report.passes)});
  figures.add_row({"messages/s, decode + book + features",
                   with_thousands(static_cast<std::uint64_t>(report.messages_per_s))});
  figures.add_row({"messages/s, decode alone",
                   with_thousands(static_cast<std::uint64_t>(report.decode_messages_per_s))});
  figures.add_row({"messages/s, book + features alone",
                   with_thousands(static_cast<std::uint64_t>(report.book_messages_per_s))});
  figures.add_row({"allocations a message, second half",
                   fmt::format("{:.6f}", report.allocations_per_message)});
  TextTable stages({"stage, per message", "p50", "p99", "p99.9", "max"});
  for (const Stage stage : {Stage::kDecode, Stage::kBook, Stage::kFeatures}) {
    const Distribution& d = report.stages_ns[static_cast<std::size_t>(stage)];
    stages.add_row({std::string(stage_name(stage)), readable_duration(d.p50),
                    readable_duration(d.p99), readable_duration(d.p999), readable_duration(d.max)});
  }
  return figures.text() + "\n" + stages.text();
}

ExitCode run_bench(const BenchArguments& arguments, const CommandContext& context) {
  const auto file = arguments.file.source_options();
  if (!file.ok()) return report_error(file.error());
  PipelineBenchOptions options;
  options.file = *file;
  options.duration_ns = static_cast<std::int64_t>(arguments.seconds * 1e9);
  if (arguments.all_features) options.schema = FeatureSchema::whole_catalogue();
  const auto report = bench_pipeline(options, context.clock);
  if (!report.ok()) return report_error(report.error());
  return print_output(arguments.json ? pipeline_bench_json(*report) + "\n" : report_text(*report));
}

}  // namespace

void add_bench_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "Measure parts of the data path");
  command->require_subcommand(1);
  command->footer(
      "Example:\n  tocsin bench pipeline data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz");
  add_bench_engines_command(*command, context);
  add_bench_last_step_command(*command, context);
  CLI::App* pipeline =
      command->add_subcommand("pipeline", "Decode, book and features over FILE, on one core");
  arguments->file.add_to(*pipeline);
  pipeline->add_option("--seconds", arguments->seconds, "How long to repeat passes (default: 2)")
      ->check(number_in(0.0, 3600.0));
  pipeline->add_flag("--all-features", arguments->all_features,
                     "Also those with a state of their own (default: the standard ones)");
  pipeline->add_flag("--json", arguments->json, "Print JSON and nothing else");
  pipeline->footer(
      "Example:\n  tocsin bench pipeline data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz");
  pipeline->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_bench(*arguments, context); };
  });
}

}  // namespace tocsin
