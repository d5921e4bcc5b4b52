// `tocsin doctor contention`: do two engines in one process hinder each other, and what helps?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/command.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "runtime/doctor/contention.h"

namespace tocsin {
namespace {

struct ContentionArguments {
  std::string model = "models/btcusdt_burst_lstm";
  std::int64_t steps = 0;
  double seconds = 3;
  ContentionOptions options;
  bool json = false;
};

void add_rows(TextTable& table, std::string_view name, const ContentionSetting& setting) {
  for (const ContentionLoad& load : setting.loads)
    table.add_row({std::string(name), load.share.engine, std::to_string(load.share.threads),
                   std::to_string(load.pool_threads), cpu_list_text(load.share.cpus),
                   readable_duration(load.alone_ns.mean), readable_duration(load.alone_ns.p99),
                   readable_duration(load.together_ns.mean),
                   readable_duration(load.together_ns.p99),
                   fmt::format("{:.2f}", load.slow_down())});
}

std::string report_text(const ContentionReport& report) {
  std::string text = fmt::format("  {}, batch {}, CPUs {}\n", report.model, report.batch,
                                 cpu_list_text(report.usable));
  TextTable table({"setting", "engine", "threads", "pool", "CPUs", "alone", "p99", "together",
                   "p99", "slow-down"});
  add_rows(table, "as it is", report.found);
  if (report.advised) add_rows(table, "as advised", *report.advised);
  text += table.text();
  if (report.ok())
    text += fmt::format("  ok: no run takes more than {} times as long beside the other engine\n",
                        ContentionReport::kSlowDownMax);
  for (const std::string& line : report.advice) text += fmt::format("  {}\n", line);
  if (!report.advised) return text;
  const auto per_second = [&](const ContentionSetting& setting) {
    return with_thousands(
        static_cast<std::uint64_t>(std::llround(setting.windows_per_s(report.batch))));
  };
  return text + fmt::format(
                    "  as advised: slow-down {:.2f} instead of {:.2f}, both together {} windows/s "
                    "instead of {}{}\n",
                    report.advised->slow_down(), report.found.slow_down(),
                    per_second(*report.advised), per_second(report.found),
                    report.proved() ? "" : " (no gain was measured)");
}

ExitCode run_contention(ContentionArguments& arguments, const Clock& clock) {
  const Result<BenchModel> model = open_bench_model(arguments.model, arguments.steps);
  if (!model.ok()) return report_error(model.error());
  ContentionOptions& options = arguments.options;
  if (options.engines.size() == 2 && options.engines[0] == options.engines[1])
    return report_error(Error(
        ErrorCode::kInvalidArgument,
        "--engines: two different engines are compared, found '" + options.engines[0] + "' twice"));
  // A setting has three turns a round.
  options.turn_duration_ns =
      static_cast<std::int64_t>(arguments.seconds * 1e9 / (3.0 * options.round_count));
  const Result<ContentionReport> report = measure_contention(*model, options, HostFiles(), clock);
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed =
      print_output(arguments.json ? contention_json(*report) + "\n" : report_text(*report));
  if (printed != ExitCode::kDone) return printed;
  return report->ok() ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_doctor_contention_command(CLI::App& doctor, CommandContext& context) {
  auto arguments = std::make_shared<ContentionArguments>();
  ContentionOptions& options = arguments->options;
  CLI::App* command = doctor.add_subcommand(
      "contention", "What two engines in one process do to each other, and what to set");
  command->add_option("--model", arguments->model,
                      "A model package's folder, or an ONNX file (default: "
                      "models/btcusdt_burst_lstm)");
  command
      ->add_option("--engines", options.engines,
                   "The two (default: of onnxruntime, openvino, native the first two found)")
      ->delimiter(',')
      ->check(engine_name());
  command->add_option("--threads", options.threads, "Of each engine as it is (default: 2)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--batch", options.batch, "Windows a run (default: 32)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--steps", arguments->steps, "Window length, where the model leaves it open")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--seconds", arguments->seconds,
                   "How long each of the two settings is measured (default: 3)")
      ->check(number_in(0.01, 3600.0));
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->footer(
      "Each engine runs alone, then both at once; then the same with the CPUs divided. Exit code "
      "1\n"
      "if they hinder each other as they are, 4 if fewer than two engines are here.\n"
      "Example:\n  tocsin doctor contention --model models/btcusdt_burst_lstm --threads 2");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_contention(*arguments, context.clock); };
  });
}

}  // namespace tocsin
