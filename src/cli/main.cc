// The one program, `tocsin`: reads the command line and runs the subcommand that was asked for.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "base/clock.h"
#include "cli/command.h"

namespace {

constexpr const char* kDescription =
    "Event streams to alerts and decisions: microseconds, the same bits every time, with proof.";

constexpr const char* kFooter =
    "Examples:\n"
    "  tocsin run config/btcusdt.yaml            the main job on the bundled sample\n"
    "  tocsin inspect data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz\n"
    "  tocsin audit show tocsin:0123             why an alert was given\n"
    "Exit codes: 0 done; 1 the check that was asked for failed; 2 wrong usage or configuration;\n"
    "3 bad input, everything before it kept; 4 the environment lacks something; 130 interrupted.";

}  // namespace

int main(int argc, char** argv) {
  // A file at its size limit is an error of the write, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  tocsin::SystemClock clock;
  tocsin::CommandContext context{
      clock, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1, {}};
  CLI::App app(kDescription, "tocsin");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return tocsin::version_text(); });
  tocsin::add_run_command(app, context);
  tocsin::add_inspect_command(app, context);
  tocsin::add_record_command(app, context);
  tocsin::add_replay_command(app, context);
  tocsin::add_audit_command(app, context);
  tocsin::add_plot_command(app, context);
  tocsin::add_models_command(app, context);
  tocsin::add_precision_command(app, context);
  tocsin::add_quantize_command(app, context);
  tocsin::add_engines_command(app, context);
  tocsin::add_features_command(app, context);
  tocsin::add_config_command(app, context);
  tocsin::add_bench_command(app, context);
  tocsin::add_doctor_command(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return static_cast<int>(tocsin::ExitCode::kUsage);
    return static_cast<int>(std::cout.flush() ? tocsin::ExitCode::kDone
                                              : tocsin::ExitCode::kEnvironment);
  }
  return static_cast<int>(context.action());
}
