// `tocsin bench engines --model M`: every engine found on one model, checked and timed side by
// side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/option_values.h"
#include "cli/shape_file.h"
#include "cli/text_table.h"
#include "runtime/engine_bench.h"
#include "runtime/engine_bench_report.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr double kSeedMax = 9'007'199'254'740'991;  // exact in a double, as in JSON readers

struct EngineBenchArguments {
  std::string model;
  std::string shape;
  std::int64_t steps = 0;
  EngineBenchOptions options;
  double seconds = 1;
  double duration_s = 0;
  bool json = false;
  std::string html;
};

std::string error_cell(const EngineBenchRow& row) {
  const std::string error = row.max_abs_error == 0 ? "0" : fmt::format("{:.1e}", row.max_abs_error);
  if (row.agrees) return error;
  return fmt::format("{} WRONG, {:.1e} allowed", error, row.error_allowed);
}

void add_row(TextTable& table, const EngineBenchRow& row) {
  const Distribution& d = row.latency_ns;
  std::vector<std::string> cells = {row.engine, std::string(precision_name(row.precision)),
                                    std::to_string(row.batch), std::to_string(row.threads)};
  if (d.count == 0) {
    cells.insert(cells.end(), 7, "-");
  } else {
    for (const std::int64_t time_ns : {d.mean, d.p50, d.p90, d.p99, d.p999, d.max})
      cells.push_back(readable_duration(time_ns));
    cells.push_back(with_thousands(static_cast<std::uint64_t>(std::llround(row.windows_per_s))));
  }
  for (const std::int64_t bytes : {row.cold.rss_bytes, row.cold.device_bytes})
    cells.push_back(bytes == 0 ? "-"
                               : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576));
  cells.push_back(readable_duration(row.cold.cold_start_ns));
  cells.push_back(error_cell(row));
  table.add_row(std::move(cells));
}

// One line; what a vendor's library says may be pages, which are in the JSON.
std::string short_reason(const std::string& reason) {
  constexpr std::size_t kCharactersMax = 240;
  std::string text = reason.substr(0, reason.find('\n'));
  return text.size() <= kCharactersMax ? text : text.substr(0, kCharactersMax) + "...";
}

// Rows of which the same is to be said are one line.
std::string lines_about(const EngineBenchReport& report, std::string_view what,
                        std::string EngineBenchRow::*said) {
  std::map<std::pair<std::string, std::string>, std::string> rows;
  for (const EngineBenchRow& row : report.rows) {
    if ((row.*said).empty()) continue;
    std::string& list =
        rows[{row.engine + " " + std::string(precision_name(row.precision)), row.*said}];
    list += fmt::format("{}{}x{}", list.empty() ? "" : ", ", row.batch, row.threads);
  }
  std::string text;
  for (const auto& [key, list] : rows)
    text += fmt::format("  {}: {} ({}): {}\n", what, key.first, list, short_reason(key.second));
  return text;
}

std::string report_text(const EngineBenchReport& report) {
  const MachineFacts& machine = report.machine;
  std::string text = fmt::format("  {}{} on {}, {} CPUs, kernels {}\n", report.model,
                                 report.steps > 0 ? fmt::format(", {} steps", report.steps) : "",
                                 machine.cpu, machine.cpu_count, machine.isa);
  TextTable table({"engine", "precision", "batch", "threads", "mean", "p50", "p90", "p99", "p99.9",
                   "max", "windows/s", "memory", "on GPU", "cold start", "max error"});
  for (const EngineBenchRow& row : report.rows)
    if (row.skipped.empty()) add_row(table, row);
  text += table.text() + lines_about(report, "remark", &EngineBenchRow::remark) +
          lines_about(report, "not measured", &EngineBenchRow::skipped);
  if (!report.scales_origin.empty())
    text += fmt::format("  int8: scales of the activations from {}\n", report.scales_origin);
  const Distribution& jitter = report.jitter_ns;
  if (jitter.count > 0)
    text += fmt::format("  host jitter (the same loop doing nothing): p50 {}, p99.9 {}, max {}\n",
                        readable_duration(jitter.p50), readable_duration(jitter.p999),
                        readable_duration(jitter.max));
  return text;
}

ExitCode run_bench(EngineBenchArguments& arguments, const CommandContext& context) {
  ShapeFile file;
  Result<BenchModel> model = arguments.shape.empty()
                                 ? open_bench_model(arguments.model, arguments.steps)
                                 : file.write(arguments.shape, arguments.options.seed);
  if (!model.ok()) return report_error(model.error());
  const auto& precisions = arguments.options.precisions;
  if (precisions.empty() || std::ranges::find(precisions, Precision::kInt8) != precisions.end()) {
    const Status calibrated = calibrate_on_random_windows(*model, arguments.options.seed);
    if (!calibrated.ok()) return report_error(calibrated.error());
  }
  arguments.options.row_duration_ns = static_cast<std::int64_t>(arguments.seconds * 1e9);
  arguments.options.load_duration_ns = static_cast<std::int64_t>(arguments.duration_s * 1e9);
  ProgressBar bar(context.terminal_errors, context.clock, write_to_terminal);
  EngineBenchHooks hooks;
  hooks.stop = &watch_interruption();
  hooks.on_progress = [&](const Progress& progress) { bar.update(progress); };
  const Result<EngineBenchReport> report =
      bench_engines(*model, arguments.options, hooks, context.clock);
  bar.clear();
  if (!report.ok()) return report_error(report.error());
  if (!arguments.html.empty()) {
    const Status written = replace_file(arguments.html, engine_bench_html(*report));
    if (!written.ok()) return report_error(written.error());
  }
  const ExitCode printed =
      print_output(arguments.json ? engine_bench_json(*report) + "\n" : report_text(*report));
  if (printed != ExitCode::kDone) return printed;
  if (report->interrupted) return ExitCode::kInterrupted;
  if (!report->any_measured()) return ExitCode::kBadInput;
  return report->all_agree() ? ExitCode::kDone : ExitCode::kCheckFailed;
}

const std::vector<std::pair<std::string, Precision>>& precisions() {
  static const std::vector<std::pair<std::string, Precision>> kPrecisions = {
      {"float32", Precision::kFloat32},
      {"bfloat16", Precision::kBfloat16},
      {"float16", Precision::kFloat16},
      {"int8", Precision::kInt8}};
  return kPrecisions;
}

}  // namespace

void add_bench_engines_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<EngineBenchArguments>();
  CLI::App* command = bench.add_subcommand(
      "engines", "Every engine found on one model: answers checked, then timed in turns");
  EngineBenchOptions& options = arguments->options;
  CLI::Option_group* subject = command->add_option_group("", "What is measured");
  subject->add_option("--model", arguments->model, "A model package's folder, or an ONNX file");
  CLI::Option* shape = subject->add_option(
      "--shape", arguments->shape, "S2x100, S3x200 or S4x1000: LSTM stacks with random weights");
  subject->require_option(1);
  command->add_option("--batch", options.batches, "Windows a run (default: 1,32)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
  command->add_option("--threads", options.thread_counts, "Threads of an engine (default: 1)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--engines", options.engines, "Only these (default: all)")
      ->delimiter(',')
      ->check(engine_name());
  command
      ->add_option("--precision", options.precisions,
                   "float32, bfloat16, float16, int8 (default: all that an engine has)")
      ->delimiter(',')
      ->transform(named_number(numbers_of(precisions())));
  command->add_option("--steps", arguments->steps, "Window length, where the model leaves it open")
      ->check(CLI::Range(1, 4096))
      ->excludes(shape);
  CLI::Option* seconds =
      command->add_option("--seconds", arguments->seconds, "Time for each row (default: 1)")
          ->check(number_in(0.001, 3600.0));
  command
      ->add_option("--duration", arguments->duration_s,
                   "Hold a load for this many seconds over all rows, and keep what each turn saw")
      ->check(number_in(0.1, 86'400.0))
      ->excludes(seconds);
  command->add_option("--seed", options.seed, "Of the random inputs (default: 1)")
      ->check(number_in(0, kSeedMax));
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->add_option("--html", arguments->html, "Also write a page with charts to this file");
  command->footer(
      "Inputs are standard normal. Memory and cold start are those of a process of its own. A row\n"
      "whose answer is not that of the reference engine is marked and has no time (exit code 1).\n"
      "Exit code 3 if no engine could run the model.\n"
      "Example:\n  tocsin bench engines --model models/btcusdt_burst_lstm --batch 1,32 --threads "
      "1,2");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_bench(*arguments, context); };
  });
}

}  // namespace tocsin
