// `tocsin precision audit MODEL`: what each precision does to the decisions of a model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/text_table.h"
#include "runtime/precision_audit.h"
#include "telemetry/progress_bar.h"

namespace tocsin {
namespace {

struct PrecisionArguments {
  std::string model;
  PrecisionAuditOptions options;
  bool json = false;
};

std::string optional_text(const std::optional<double>& value, double factor, const char* unit) {
  return value ? fmt::format("{:.4f}{}", factor * *value, unit) : "-";
}

std::string audit_text(const PrecisionAudit& audit) {
  TextTable table({"precision", "mean error", "worst", "flips", "missed", "false", "AUC", "change",
                   "with band", "again", "p50", "p99", "bytes"});
  for (const PrecisionAuditRow& row : audit.rows) {
    const double share = audit.windows == 0 ? 0.0
                                            : 100 * static_cast<double>(row.rescored) /
                                                  static_cast<double>(audit.windows);
    table.add_row({std::string(precision_name(row.precision)),
                   fmt::format("{:.2g}", row.mean_error), fmt::format("{:.2g}", row.worst_error),
                   fmt::format("{} + {}", row.alert_flips, row.release_flips),
                   with_thousands(row.missed), with_thousands(row.false_orders),
                   optional_text(row.auc, 1, ""), optional_text(row.auc_change, 100, " %"),
                   with_thousands(row.flips_with_band), fmt::format("{:.2f} %", share),
                   readable_duration(row.latency_ns.p50), readable_duration(row.latency_ns.p99),
                   with_thousands(row.weight_bytes)});
  }
  std::string text =
      table.text() +
      fmt::format(
          "  {}: {} windows of {}; flips at {:.4f} (alert) + {:.4f} (release); again: "
          "scored again in float32\n",
          audit.model, with_thousands(audit.windows), audit.origin, audit.alert_threshold,
          audit.release_threshold);
  text += audit.judged > 0
              ? fmt::format("  AUC over {} windows the model has not seen, {} of them bursts\n",
                            with_thousands(audit.judged), with_thousands(audit.bursts))
              : std::string("  no AUC: the windows have no outcomes\n");
  for (const PrecisionAuditRow& row : audit.rows)
    if (row.is_refused())
      text += fmt::format("  {} is refused: its AUC falls by more than {} %\n",
                          precision_name(row.precision), 100 * kAucFallMax);
  return text;
}

ExitCode run_audit(const PrecisionArguments& arguments, const CommandContext& context) {
  if (arguments.options.config_path.empty() == arguments.options.samples_path.empty())
    return report_error(Error(ErrorCode::kInvalidArgument,
                              "precision audit: expected one of --config and --samples"));
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  const auto audit = audit_precisions(arguments.model, arguments.options, context.clock,
                                      [&progress](const Progress& done) { progress.update(done); });
  progress.clear();
  if (!audit.ok()) return report_error(audit.error());
  const ExitCode printed =
      print_output(arguments.json ? precision_audit_json(*audit) + "\n" : audit_text(*audit));
  return audit->ok() ? printed : ExitCode::kCheckFailed;
}

}  // namespace

void add_precision_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<PrecisionArguments>();
  CLI::App* command = app.add_subcommand("precision", "What low precision does to decisions");
  command->require_subcommand(1);
  command->footer(
      "Example:\n  tocsin precision audit models/btcusdt_burst_lstm --config config/btcusdt.yaml");
  CLI::App* audit = command->add_subcommand(
      "audit", "Score every window in every precision: errors, flipped decisions, AUC, latency");
  audit->add_option("MODEL", arguments->model, "Package: <repository>/<name>[/<version>]")
      ->required();
  CLI::Option* config = audit->add_option("--config", arguments->options.config_path,
                                          "Configuration whose feed gives windows and outcomes");
  audit
      ->add_option("--samples", arguments->options.samples_path,
                   "Or an .npz file with normalised windows, inputs_<steps>")
      ->excludes(config);
  audit->add_flag("--json", arguments->json, "Print JSON and nothing else");
  audit->footer(
      "Exit code 1 if the AUC of a precision falls by more than 0.5 %.\n"
      "Example:\n  tocsin precision audit models/btcusdt_burst_lstm --config config/btcusdt.yaml");
  audit->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_audit(*arguments, context); };
  });
}

}  // namespace tocsin
