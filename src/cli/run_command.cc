// `tocsin run CONFIG`: the main job, with a progress bar, alerts as they come and a closing table.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <mutex>

#include "build_info.h"
#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/text_table.h"
#include "runtime/run.h"
#include "sinks/file_io.h"
#include "telemetry/logger.h"

namespace tocsin {
namespace {

struct RunArguments {
  std::string config;
  std::string summary;
  bool json = false;
  bool quiet = false;
};

void add_stage_row(TextTable& table, std::string name, const Distribution& d) {
  table.add_row({std::move(name), with_thousands(d.count), readable_duration(d.p50),
                 readable_duration(d.p99), readable_duration(d.p999), readable_duration(d.max)});
}

std::string counts_text(const RunSummary& s) {
  TextTable table({"", ""});
  const double wall_s = static_cast<double>(s.wall_duration_ns) / 1e9;
  const auto rate =
      static_cast<std::uint64_t>(wall_s > 0 ? static_cast<double>(s.input.events) / wall_s : 0.0);
  table.add_row(
      {"events", fmt::format("{} in {:.2f} s, {} a second", with_thousands(s.input.events), wall_s,
                             with_thousands(rate))});
  table.add_row(
      {"gaps, duplicates, out of order",
       fmt::format("{}, {}, {}", s.input.gaps, s.input.duplicates, s.input.out_of_order)});
  table.add_row({"malformed, bad quantity, crossed",
                 fmt::format("{}, {}, {}", s.input.malformed,
                             s.input.bad_quantity + s.books.bad_quantity, s.books.crossed)});
  if (s.oracle.rows_compared > 0) {
    table.add_row({"book rows", equal_of_compared(s.oracle.rows_equal, s.oracle.rows_compared)});
    table.add_row(
        {"book levels", equal_of_compared(s.oracle.levels_equal, s.oracle.levels_compared)});
  }
  if (s.oracle.top_compared > 0)
    table.add_row({"top of book", equal_of_compared(s.oracle.top_equal, s.oracle.top_compared)});
  if (s.oracle.checksums_compared > 0)
    table.add_row(
        {"checksums", equal_of_compared(s.oracle.checksums_equal, s.oracle.checksums_compared)});
  table.add_row({"frames, windows scored", fmt::format("{}, {}", with_thousands(s.frames),
                                                       with_thousands(s.windows_scored))});
  table.add_row({"alerts", fmt::format("{} at threshold {:.4f}", s.alerts, s.threshold)});
  table.add_row(
      {"held back",
       fmt::format("{} held, {} in cooldown, {} from an untrusted book", with_thousands(s.held),
                   with_thousands(s.suppressed_cooldown), with_thousands(s.suppressed_untrusted))});
  if (s.precision != "float32")
    table.add_row({"scored again in float32",
                   fmt::format("{} of {} in {}, near a threshold", with_thousands(s.rescored),
                               with_thousands(s.windows_scored), s.precision)});
  if (s.failed_inferences > 0)
    table.add_row({"failed inferences", with_thousands(s.failed_inferences)});
  table.add_row({"engine", fmt::format("{} ({}), kernels {}, {} steps", s.engine,
                                       determinism_name(s.determinism), s.isa, s.steps)});
  table.add_row({"allocations after warm-up", with_thousands(s.allocations_after_warmup)});
  table.add_row(
      {"ledger", fmt::format("{}: {} records, head {}", readable_path(s.ledger_path),
                             with_thousands(s.ledger_records), s.ledger_head.substr(0, 16))});
  return table.text();
}

std::string outcomes_text(const RunSummary& s) {
  TextTable table({"outcomes, by what the model has seen", "frames", "base rate", "hits",
                   "false alerts", "undecided", "misses"});
  for (std::size_t i = 0; i < kSeenPartCount; ++i) {
    const OutcomeCounters& part = s.outcomes[i];
    if (part.frames + part.undecided == 0) continue;
    table.add_row({std::string(seen_part_name(static_cast<SeenPart>(i))),
                   with_thousands(part.frames), fmt::format("{:.2f}%", 100 * part.base_rate()),
                   with_thousands(part.hits), with_thousands(part.false_alerts),
                   with_thousands(part.undecided), with_thousands(part.misses)});
  }
  return table.text() +
         fmt::format(
             "  hit: the mid moved by more than {} ticks within the next {} frames; miss: a "
             "stretch of such frames without an alert\n",
             s.burst_move_ticks, s.burst_horizon_frames);
}

std::string stages_text(const RunSummary& s) {
  TextTable table({"stage", "count", "p50", "p99", "p99.9", "max"});
  for (std::size_t i = 0; i < kStageCount; ++i)
    add_stage_row(table, std::string(stage_name(static_cast<Stage>(i))), s.stages_ns[i]);
  add_stage_row(table, "event to decision", s.event_to_decision_ns);
  add_stage_row(table, "event to alert", s.event_to_alert_ns);
  return table.text();
}

std::string summary_text(const RunSummary& s) {
  std::string text = "\n" + counts_text(s) + "\n" + outcomes_text(s) + "\n" + stages_text(s);
  for (const InputFault& fault : s.faults)
    text += fmt::format("  record {}: {}\n", fault.record, fault.message);
  text += fmt::format("\n  next: tocsin plot {}   tocsin audit verify {}\n",
                      readable_path(s.folder), readable_path(s.ledger_path));
  return text;
}

ExitCode exit_code_of(const RunSummary& summary) {
  switch (summary.end) {
    case RunEnd::kComplete:
      return ExitCode::kDone;
    case RunEnd::kInterrupted:
      return ExitCode::kInterrupted;
    case RunEnd::kBadInput:
      return summary.error_code == ErrorCode::kUnavailable ? ExitCode::kEnvironment
                                                           : ExitCode::kBadInput;
    case RunEnd::kOutputFailed:
      return ExitCode::kEnvironment;
  }
  return ExitCode::kEnvironment;
}

// Before the run: that its last step would fail is not to be found out after hours.
Status check_summary_path(const std::string& path) {
  if (path.empty()) return {};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return file_error(path, "be written as a file", EISDIR);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    return file_error(path, "be written", errno);
  return {};
}

ExitCode run_config(const RunArguments& arguments, CommandContext& context) {
  const Result<RunConfig> config = read_run_config(arguments.config);
  if (!config.ok()) return report_error(config.error());
  if (const Status writable = check_summary_path(arguments.summary); !writable.ok())
    return report_error(writable.error());
  std::signal(SIGPIPE, SIG_IGN);  // a run goes on when nobody reads its alerts any more
  set_log_level(arguments.quiet || arguments.json ? LogLevel::kWarning : LogLevel::kInfo);
  // The bar is drawn by this thread, alerts are printed by the sinks' thread: one at a time.
  std::mutex terminal;
  ProgressBar progress(context.terminal_errors && !arguments.quiet, context.clock,
                       write_to_terminal);
  RunHooks hooks;
  hooks.stop = &watch_interruption();
  hooks.colours = context.terminal_output;
  hooks.program_version = TOCSIN_VERSION;
  hooks.program_commit = TOCSIN_COMMIT;
  hooks.on_progress = [&](const Progress& done) {
    const std::scoped_lock lock(terminal);
    progress.update(done);
  };
  if (!arguments.quiet && !arguments.json)
    hooks.alert_line = [&](std::string_view line) -> Status {
      const std::scoped_lock lock(terminal);
      progress.clear();
      return write_output(line);
    };
  const Result<RunSummary> summary = run(*config, hooks, context.clock);
  progress.clear();
  if (!summary.ok()) return report_error(summary.error());
  ExitCode code = exit_code_of(*summary);
  // A live feed is complete wherever it is interrupted.
  if (code == ExitCode::kDone && hooks.stop->load(std::memory_order_relaxed))
    code = ExitCode::kInterrupted;
  if (arguments.json || !arguments.quiet) {
    const ExitCode printed =
        print_output(arguments.json ? run_summary_json(*summary) + "\n" : summary_text(*summary));
    if (code == ExitCode::kDone) code = printed;
  }
  if (!summary->error.empty()) fmt::print(stderr, "tocsin: {}\n", summary->error);
  if (summary->end == RunEnd::kInterrupted)
    fmt::print(stderr,
               "tocsin: interrupted; what was done is complete, the same command goes on\n");
  if (!arguments.summary.empty()) {
    const Status written = replace_file(arguments.summary, run_summary_json(*summary) + "\n");
    if (!written.ok()) return report_error(written.error());
  }
  return code;
}

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand(
      "run", "Run a configuration: market data in, alerts out, every decision provable");
  command->add_option("CONFIG", arguments->config, "Configuration (YAML)")->required();
  command->add_option("--summary", arguments->summary,
                      "Also write the summary as JSON to this file");
  command->add_flag("--json", arguments->json, "Print the summary as JSON and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but warnings and errors");
  command->footer(
      "A run that was interrupted or killed is gone on with by the same command: nothing is lost\n"
      "and no alert is given twice.\n"
      "Example:\n  tocsin run config/btcusdt.yaml --summary summary.json");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_config(*arguments, context); };
  });
}

}  // namespace tocsin
