// `tocsin replay ID`: proves one recorded decision again from the input, bit for bit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>

#include "cli/command.h"
#include "cli/ledger_search.h"
#include "cli/text_table.h"
#include "runtime/replay.h"
#include "sinks/sink.h"
#include "telemetry/progress_bar.h"

namespace tocsin {
namespace {

struct ReplayArguments {
  std::string id;
  std::string where = "runs";
  ReplayOptions options;
  bool json = false;
};

std::string score_text(float score) {
  return fmt::format("{:.9g} (0x{:08x})", score, std::bit_cast<std::uint32_t>(score));
}

std::string report_text(const FoundDecision& found, const ReplayReport& report) {
  const DecisionRecord& decision = found.decision.decision;
  const auto word = [](bool equal) { return std::string(equal ? "equal" : "DIFFERENT"); };
  TextTable table({"", ""});
  table.add_row({"decision", fmt::format("{} {}, record {} of {}", format_alert_id(decision.id),
                                         found.decision.symbol, decision.frame.position.record,
                                         found.run.source_name)});
  table.add_row({"engine", fmt::format("{}, class {}", found.run.engine,
                                       determinism_name(decision.determinism))});
  table.add_row({"recorded score", score_text(decision.score)});
  table.add_row({"replayed score", score_text(report.replayed_score)});
  table.add_row({"frame", word(report.frame_equal)});
  table.add_row({"window", word(report.window_equal)});
  table.add_row({"score bits", word(report.score_equal)});
  if (decision.determinism != DeterminismClass::kExact)
    table.add_row(
        {"promise", fmt::format("{} within {:g}: {}", determinism_name(decision.determinism),
                                report.tolerance, report.agrees ? "kept" : "BROKEN")});
  return table.text();
}

ExitCode run_replay(const ReplayArguments& arguments, CommandContext& context) {
  const Result<FoundDecision> found = search_decision(arguments.where, arguments.id);
  if (!found.ok()) return report_error(found.error());
  ProgressBar progress(context.terminal_errors, context.clock, write_to_terminal);
  const Result<ReplayReport> report =
      replay_decision(*found, arguments.options, context.clock,
                      [&](const Progress& done) { progress.update(done); });
  progress.clear();
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed = print_output(arguments.json ? decision_json(*found, &*report) + "\n"
                                                       : report_text(*found, *report));
  return report->agrees ? printed : ExitCode::kCheckFailed;
}

}  // namespace

void add_replay_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand(
      "replay", "Read the events of a recorded decision again and compare its score bit for bit");
  command->add_option("ID", arguments->id, "Alert id, or its first digits where that is unique")
      ->required();
  command->add_option("--in", arguments->where,
                      "Ledger, run folder or folder of runs (default: runs)");
  command->add_option("--source", arguments->options.source_path,
                      "The input, if it is not where the run read it");
  command->add_option("--model", arguments->options.package_path,
                      "The model package, if it is not where the run found it");
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->footer(
      "Exit code 1 if the decision does not come out as recorded.\n"
      "Example:\n  tocsin replay tocsin:0123abcd --in runs/btcusdt");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_replay(*arguments, context); };
  });
}

}  // namespace tocsin
