// `tocsin doctor`, and of it `doctor host`: what this machine is and what to set on it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/command.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "runtime/doctor/host_report.h"

namespace tocsin {
namespace {

struct HostArguments {
  double seconds = 2;
  int cpu = -1;
  bool json = false;
};

std::string report_text(const HostReport& report) {
  TextTable findings({"", "", "found"});
  std::string advice;
  for (const HostFinding& finding : report.findings) {
    findings.add_row({finding.name, finding.ok ? "ok" : "NOT OK", finding.found});
    if (!finding.advice.empty()) advice += fmt::format("  {}: {}\n", finding.name, finding.advice);
  }
  TextTable gaps({"gap between two readings of the clock", "count", "time in them"});
  for (const JitterBand& band : report.jitter.bands) {
    const bool last = &band == &report.jitter.bands.back();
    gaps.add_row({last ? readable_duration(band.lower_ns) + " or more"
                       : fmt::format("below {}", readable_duration(band.upper_ns)),
                  with_thousands(band.count), readable_duration(band.total_ns)});
  }
  std::string text = findings.text();
  if (!advice.empty()) text += "\n  What to set:\n" + advice;
  return text + "\n" + gaps.text();
}

ExitCode run_host(const HostArguments& arguments) {
  HostReportOptions options;
  options.jitter_duration_ns = static_cast<std::int64_t>(arguments.seconds * 1e9);
  options.clock.span_ns = std::min(options.clock.span_ns, options.jitter_duration_ns);
  options.cpu = arguments.cpu;
  SystemClock clock;
  const Result<HostReport> report = examine_host(HostFiles(), options, clock);
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed =
      print_output(arguments.json ? host_report_json(*report) + "\n" : report_text(*report));
  if (printed != ExitCode::kDone) return printed;
  return report->ok() ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandContext& context) {
  CLI::App* doctor = app.add_subcommand("doctor", "Examine this machine, and say what to set");
  doctor->require_subcommand(1);
  doctor->footer("Example:\n  tocsin doctor host");
  auto arguments = std::make_shared<HostArguments>();
  CLI::App* host = doctor->add_subcommand(
      "host", "CPUs, memory, clocks and jitter: what was found, what to set");
  host->add_option("--seconds", arguments->seconds, "How long jitter is measured (default: 2)")
      ->check(number_in(0.01, 3600.0));
  host->add_option("--cpu", arguments->cpu,
                   "Where jitter is measured (default: the last that this process may use)")
      ->check(CLI::Range(0, 65'535));
  host->add_flag("--json", arguments->json, "Print JSON and nothing else");
  host->footer(
      "Exit code 1 if something found makes latency worse, or figures of it not to be trusted.\n"
      "Example:\n  tocsin doctor host --seconds 5");
  add_doctor_contention_command(*doctor, context);
  host->callback(
      [arguments, &context] { context.action = [arguments] { return run_host(*arguments); }; });
}

}  // namespace tocsin
