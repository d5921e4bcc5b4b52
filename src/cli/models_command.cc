// `tocsin models list|verify|show`: the packages of a repository and whether they can be trusted.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/text_table.h"
#include "engines/engine.h"
#include "kernels/isa.h"
#include "runtime/model_report.h"

namespace tocsin {
namespace {

struct ModelArguments {
  std::string path = "models";
  std::string engine = "reference";
  bool json = false;
};

Result<std::vector<ModelReport>> reports_of(const ModelArguments& arguments, bool run_samples) {
  if (run_samples) {
    // A wrong name is the caller's mistake, not that of every package.
    TOCSIN_ASSIGN_OR_RETURN([[maybe_unused]] const Isa isa, requested_isa());
    TOCSIN_ASSIGN_OR_RETURN([[maybe_unused]] const auto engine, make_engine(arguments.engine));
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::string> folders, model_folders(arguments.path));
  std::vector<ModelReport> reports;
  reports.reserve(folders.size());
  for (const std::string& folder : folders)
    reports.push_back(report_model(folder, run_samples ? arguments.engine : std::string()));
  return reports;
}

std::string lengths_text(const ModelPackage& package) {
  return fmt::format("{} of {}", package.steps, fmt::join(package.steps_allowed, "/"));
}

std::string list_text(const std::vector<ModelReport>& reports) {
  TextTable table({"model", "ok", "steps", "features", "threshold", "description"});
  std::string problems;
  for (const ModelReport& report : reports) {
    if (!report.ok) problems += fmt::format("  {}: {}\n", report.folder, report.reason);
    if (!report.package) {
      table.add_row({report.folder, "no", "-", "-", "-", ""});
      continue;
    }
    const ModelPackage& package = *report.package;
    table.add_row({fmt::format("{}/{}", package.name, package.version), report.ok ? "yes" : "no",
                   lengths_text(package), std::to_string(package.features.size()),
                   fmt::format("{:.4f}", package.threshold), package.description});
  }
  return table.text() + problems;
}

std::string verify_text(const std::vector<ModelReport>& reports) {
  TextTable table({"package", "result", "samples run", "worst error"});
  for (const ModelReport& report : reports)
    table.add_row({report.folder, report.ok ? "good" : "refused: " + report.reason,
                   report.ok ? std::to_string(report.samples_run) : "-",
                   report.ok ? fmt::format("{:.3g}", report.worst_sample_error) : "-"});
  return table.text();
}

// What a low precision rests on; nothing for a package in FP32.
void add_precision(TextTable& table, const ModelPackage& package) {
  if (!package.precision) return;
  const PackagePrecision& precision = *package.precision;
  const GuardBand& band = precision.band;
  table.add_row({"precision", precision.activation_scales.empty()
                                  ? precision.name
                                  : fmt::format("{}, {} scales by {} of {} windows, weights {}",
                                                precision.name, precision.activation_scales.size(),
                                                precision.method, precision.calibration_samples,
                                                precision.weight_scale_per_output ? "per output"
                                                                                  : "per matrix")});
  table.add_row(
      {"guard band",
       fmt::format("{:.6f}: at least {:.2f}% of windows differ by no more, with {:.1f}% confidence "
                   "({} windows)",
                   band.width, 100 * band.quantile, 100 * band.confidence, band.sample_count)});
}

std::string show_text(const ModelReport& report) {
  if (!report.package) return fmt::format("  {}: {}\n", report.folder, report.reason);
  const ModelPackage& package = *report.package;
  TextTable table({"", ""});
  table.add_row({"model", fmt::format("{}/{}", package.name, package.version)});
  table.add_row({"description", package.description});
  table.add_row({"licence", package.licence});
  table.add_row({"checked", report.ok ? "good" : report.reason});
  table.add_row({"model.onnx sha256", to_hex(package.model_sha256)});
  table.add_row({"feature schema", to_hex(package.schema_hash)});
  for (const auto* tensors : {&package.inputs, &package.outputs})
    for (const PackageTensor& tensor : *tensors)
      table.add_row(
          {tensors == &package.inputs ? "input" : "output",
           fmt::format("{} {} [{}]", tensor.name, tensor.type, fmt::join(tensor.shape, ", "))});
  table.add_row({"window", lengths_text(package) + " steps"});
  table.add_row({"target", fmt::format("the mid moves by more than {} ticks within {} frames",
                                       package.target.move_ticks, package.target.horizon_frames)});
  table.add_row(
      {"threshold", fmt::format("{:.4f}, released below {:.4f}; {:.4f} alerts a frame on "
                                "validation data",
                                package.threshold, package.release_threshold, package.alert_rate)});
  add_precision(table, package);
  for (const SeenStretch& part : package.seen)
    table.add_row({part.part, fmt::format("{}, records {} to {}", part.source, part.first_record,
                                          part.last_record)});
  std::string data;
  for (const EvaluationFigure& figure : package.evaluation) {
    if (figure.data != data) table.add_row({"measured on", figure.data});
    data = figure.data;
    table.add_row({"  " + figure.name, fmt::format("{:.4f}", figure.value)});
  }
  for (std::size_t i = 0; i < package.features.size(); ++i)
    table.add_row({i == 0 ? "features" : "", package.features[i]});
  return table.text();
}

ExitCode run_models(const ModelArguments& arguments, bool run_samples,
                    std::string (*text)(const std::vector<ModelReport>&)) {
  const auto reports = reports_of(arguments, run_samples);
  if (!reports.ok()) return report_error(reports.error());
  const ExitCode printed =
      print_output(arguments.json ? model_reports_json(*reports) + "\n" : text(*reports));
  for (const ModelReport& report : *reports)
    if (!report.ok) return ExitCode::kCheckFailed;
  return printed;
}

}  // namespace

void add_models_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<ModelArguments>();
  CLI::App* command = app.add_subcommand("models", "List, verify and show model packages");
  command->require_subcommand(1);
  command->footer("Example:\n  tocsin models verify models");
  const auto add = [&](const char* name, const char* description, auto action) {
    CLI::App* sub = command->add_subcommand(name, description);
    sub->add_option("PATH", arguments->path,
                    "Model repository, <repository>/<name> or one version (default: models)");
    sub->add_flag("--json", arguments->json, "Print JSON and nothing else");
    sub->footer(
        fmt::format("Exit code 1 if a package is refused.\n"
                    "Example:\n  tocsin models {} models",
                    name));
    sub->callback([arguments, &context, action] {
      context.action = [arguments, action] { return action(*arguments); };
    });
    return sub;
  };
  add("list", "One line a package",
      [](const ModelArguments& a) { return run_models(a, false, list_text); });
  add("verify", "Check checksums, schema and signature, and run the samples through an engine",
      [](const ModelArguments& a) { return run_models(a, true, verify_text); })
      ->add_option("--engine", arguments->engine, "Engine for the samples (default: reference)");
  add("show", "Everything a package says of itself", [](const ModelArguments& a) {
    return run_models(a, false, [](const std::vector<ModelReport>& reports) {
      std::string text;
      for (const ModelReport& report : reports) text += show_text(report) + "\n";
      return text;
    });
  });
}

}  // namespace tocsin
