// `tocsin quantize MODEL`: a new version of a package in low precision, with its guard band.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cli/command.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "runtime/quantizer.h"
#include "telemetry/progress_bar.h"

namespace tocsin {
namespace {

struct QuantizeArguments {
  std::string model;
  QuantizeOptions options;
  bool json = false;
};

std::string report_text(const QuantizeReport& report) {
  const PackagePrecision& precision = report.precision;
  const GuardBand& band = precision.band;
  TextTable table({"", ""});
  table.add_row({"written", fmt::format("{}, from {}", report.folder, report.source)});
  table.add_row({"precision", precision.name});
  if (precision.method != "none")
    table.add_row(
        {"scales", fmt::format("{} values by {}, weights {}", precision.activation_scales.size(),
                               precision.method,
                               precision.weight_scale_per_output ? "per channel" : "per tensor")});
  table.add_row(
      {"samples",
       fmt::format("{} windows of {}",
                   with_thousands(static_cast<std::uint64_t>(precision.calibration_samples)),
                   report.samples_origin)});
  table.add_row(
      {"worst error", fmt::format("{:.3g}, searched at the thresholds too", band.worst_error)});
  table.add_row({"guard band",
                 fmt::format("{:.3g} around each threshold; {:.4f} of windows differ by no more "
                             "than the worst error, with confidence {}",
                             band.width, band.quantile, band.confidence)});
  table.add_row(
      {"weights", fmt::format("{} bytes, {} in float32", with_thousands(report.weight_bytes),
                              with_thousands(report.full_weight_bytes))});
  return table.text();
}

ExitCode run_quantize(const QuantizeArguments& arguments, const CommandContext& context) {
  if (arguments.options.config_path.empty() == arguments.options.samples_path.empty())
    return report_error(
        Error(ErrorCode::kInvalidArgument, "quantize: expected one of --config and --samples"));
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  const auto report = quantize(arguments.model, arguments.options, context.clock,
                               [&progress](const Progress& done) { progress.update(done); });
  progress.clear();
  if (!report.ok()) return report_error(report.error());
  return print_output(arguments.json ? quantize_report_json(*report) + "\n" : report_text(*report));
}

}  // namespace

void add_quantize_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<QuantizeArguments>();
  QuantizeOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "quantize", "A new version of a package in low precision, decisions as in full precision");
  command->add_option("MODEL", arguments->model, "Package: <repository>/<name>[/<version>]")
      ->required();
  CLI::Option* config = command->add_option("--config", options.config_path,
                                            "Configuration whose feed gives the sample windows");
  command
      ->add_option("--samples", options.samples_path,
                   "Or an .npz file with normalised windows, inputs_<steps>")
      ->excludes(config);
  static const std::vector<std::pair<std::string, Precision>> kPrecisions = {
      {"bfloat16", Precision::kBfloat16},
      {"float16", Precision::kFloat16},
      {"int8", Precision::kInt8}};
  command->add_option("--precision", options.choice.precision, "Precision (default: int8)")
      ->transform(named_number(numbers_of(kPrecisions)));
  static const std::vector<std::pair<std::string, CalibrationMethod>> kMethods = {
      {"entropy", CalibrationMethod::kEntropy},
      {"max", CalibrationMethod::kMax},
      {"percentile", CalibrationMethod::kPercentile}};
  command
      ->add_option("--method", options.choice.method,
                   "int8: where activations are cut off (default: entropy)")
      ->transform(named_number(numbers_of(kMethods)));
  static const std::vector<std::pair<std::string, bool>> kWeights = {{"per-channel", true},
                                                                     {"per-tensor", false}};
  command
      ->add_option("--weights", options.choice.weight_scale_per_output,
                   "int8: scales of the weights (default: per-channel)")
      ->type_name("ENUM")
      ->transform(named_number(numbers_of(kWeights)));
  command
      ->add_option("--sample-count", options.sample_count,
                   "Sample windows to take, 1,000 at least (default: 5000)")
      ->check(CLI::Range(1'000, 1'000'000));
  command
      ->add_option("-o,--output", options.output_folder,
                   "Folder to write: <repository>/<name>/<version>")
      ->required();
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->footer(
      "Example:\n  tocsin quantize models/btcusdt_burst_lstm/1 --config config/btcusdt.yaml "
      "-o /tmp/models/btcusdt_burst_lstm/2");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_quantize(*arguments, context); };
  });
}

}  // namespace tocsin
