// What all subcommands share: where they report to and how they end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "cli/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace tocsin {

struct CommandContext {
  Clock& clock;
  bool terminal_output = false;  // standard output is a terminal: colours
  bool terminal_errors = false;  // standard error is a terminal: progress bars
  // Set by the subcommand that was chosen; run after the command line was read.
  std::function<ExitCode()> action;
};

// Each adds one subcommand, with an example in its help.
void add_audit_command(CLI::App& app, CommandContext& context);
void add_bench_command(CLI::App& app, CommandContext& context);
void add_config_command(CLI::App& app, CommandContext& context);
void add_doctor_command(CLI::App& app, CommandContext& context);
void add_engines_command(CLI::App& app, CommandContext& context);
void add_features_command(CLI::App& app, CommandContext& context);
void add_inspect_command(CLI::App& app, CommandContext& context);
void add_models_command(CLI::App& app, CommandContext& context);
void add_plot_command(CLI::App& app, CommandContext& context);
void add_precision_command(CLI::App& app, CommandContext& context);
void add_quantize_command(CLI::App& app, CommandContext& context);
void add_record_command(CLI::App& app, CommandContext& context);
void add_replay_command(CLI::App& app, CommandContext& context);
void add_run_command(CLI::App& app, CommandContext& context);
// Below `tocsin bench`.
void add_bench_engines_command(CLI::App& bench, CommandContext& context);
void add_bench_last_step_command(CLI::App& bench, CommandContext& context);
// Below `tocsin doctor`.
void add_doctor_contention_command(CLI::App& doctor, CommandContext& context);

// Prints "tocsin: <message>" to standard error and returns the exit code of its kind.
ExitCode report_error(const Error& error);
// Text to standard output, whole or with an error (a full disk, a closed pipe).
Status write_output(std::string_view text);
// The same, with the error reported.
ExitCode print_output(std::string_view text);
// Where progress bars and lines above them go: standard error, at once.
void write_to_terminal(std::string_view text);
// The text that --version prints: version, commit, compiler, instruction sets, engines.
std::string version_text();

}  // namespace tocsin
