// `tocsin features list|export`: the catalogue, and the frames of a file for training. Exported
// frames come from the same code as live ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/file_options.h"
#include "cli/interruption.h"
#include "cli/text_table.h"
#include "features/feature_engine.h"
#include "runtime/frame_export.h"
#include "telemetry/progress_bar.h"

namespace tocsin {
namespace {

struct FeatureOptions {
  FileArguments file;
  std::string output;
  std::string format;
  std::vector<std::string> features;
  std::vector<std::string> leaders;
  bool json = false;
};

ExitCode run_list(const FeatureOptions& options) {
  if (options.json) {
    nlohmann::json root = nlohmann::json::array();
    for (const FeatureDescription& feature : feature_catalogue())
      root.push_back({{"name", feature.name},
                      {"group", feature_group(root.size())},
                      {"version", feature.version},
                      {"unit", feature.unit},
                      {"formula", feature.formula},
                      {"source", feature.source}});
    return print_output(root.dump(2) + "\n");
  }
  TextTable table({"feature", "unit", "formula", "source"});
  std::string_view group;
  for (std::size_t i = 0; i < feature_catalogue().size(); ++i) {
    const FeatureDescription& feature = feature_catalogue()[i];
    if (feature_group(i) != group) {
      group = feature_group(i);
      table.add_row({fmt::format("[{}]", group), "", "", ""});
    }
    table.add_row({"  " + std::string(feature.name), std::string(feature.unit),
                   std::string(feature.formula), std::string(feature.source)});
  }
  return print_output(table.text());
}

Result<std::vector<LeaderPair>> leader_pairs(const std::vector<std::string>& texts) {
  std::vector<LeaderPair> pairs;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
      return Error(ErrorCode::kInvalidArgument,
                   "--leader: expected SYMBOL:LEADER, found '" + text + "'");
    pairs.push_back({text.substr(0, colon), text.substr(colon + 1)});
  }
  return pairs;
}

ExitCode run_export(const FeatureOptions& options, const CommandContext& context) {
  const auto file = options.file.source_options();
  if (!file.ok()) return report_error(file.error());
  const auto leaders = leader_pairs(options.leaders);
  if (!leaders.ok()) return report_error(leaders.error());
  FrameExportOptions frames{.source = *file,
                            .output = {options.output, frame_file_format_of(options.output)},
                            .features = options.features,
                            .leaders = *leaders,
                            .stop = &watch_interruption()};
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (options.format.empty() && !ending.empty() && ending != ".csv" && ending != ".npz" &&
      ending != ".parquet" && !options.output.starts_with("/dev/"))
    return report_error(Error(ErrorCode::kInvalidArgument,
                              "--output: expected a name that ends in .csv, .npz or .parquet, or "
                              "--format, found '" +
                                  options.output + "'"));
  if (options.format == "csv") frames.output.format = FrameFileFormat::kCsv;
  if (options.format == "npz") frames.output.format = FrameFileFormat::kNpz;
  if (options.format == "parquet") frames.output.format = FrameFileFormat::kParquet;
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  const Result<FrameExportReport> report =
      export_frames(frames, context.clock, [&](const Progress& done) { progress.update(done); });
  progress.clear();
  if (!report.ok()) return report_error(report.error());
  const nlohmann::json root = {{"file", options.output},
                               {"format", frame_file_format_name(frames.output.format)},
                               {"frames", report->frames},
                               {"features", report->features}};
  const ExitCode printed = print_output(
      options.json ? root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                   : fmt::format("{}: {} frames of {} features\n", options.output,
                                 with_thousands(report->frames), report->features));
  return report->end.ok() ? printed : report_error(report->end.error());
}

}  // namespace

void add_features_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<FeatureOptions>();
  CLI::App* command =
      app.add_subcommand("features", "The feature catalogue, and frames for training");
  command->require_subcommand(1);
  command->footer("Example:\n  tocsin features list");
  CLI::App* list =
      command->add_subcommand("list", "Print name, unit, formula and source of every feature");
  list->add_flag("--json", options->json, "Print JSON and nothing else");
  list->footer("Example:\n  tocsin features list");
  list->callback(
      [options, &context] { context.action = [options] { return run_list(*options); }; });
  CLI::App* exporter = command->add_subcommand("export", "Write the frames of a file for training");
  options->file.add_to(*exporter, "--feed-format");
  exporter->add_option("-o,--output", options->output, "File to write: .csv, .npz or .parquet")
      ->required();
  exporter
      ->add_option("--format", options->format,
                   "csv, npz or parquet (default: what the output's name ends in, or csv)")
      ->check(CLI::IsMember({"csv", "npz", "parquet"}));
  exporter->add_option("--feature", options->features,
                       "Only these features, in this order (may be repeated; default: all)");
  exporter->add_option("--leader", options->leaders,
                       "SYMBOL:LEADER, for the features of leaders (may be repeated)");
  exporter->add_flag("--json", options->json, "Print JSON and nothing else");
  exporter->footer(
      "Example:\n  tocsin features export data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz "
      "--output /tmp/frames.csv");
  exporter->callback([options, &context] {
    context.action = [options, &context] { return run_export(*options, context); };
  });
}

}  // namespace tocsin
