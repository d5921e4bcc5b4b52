// `tocsin bench last-step`: what stands between a frame and its score when windows are worked
// ahead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/option_values.h"
#include "cli/shape_file.h"
#include "cli/text_table.h"
#include "runtime/last_step_bench.h"

namespace tocsin {
namespace {

struct LastStepArguments {
  std::string shape;
  std::string model;
  std::int64_t steps = 0;
  LastStepBenchOptions options;
  double seconds = 5;
  bool json = false;
};

std::string report_text(const LastStepBenchReport& report) {
  TextTable figures({"", ""});
  figures.add_row({"model", fmt::format("{}, {} steps, {} key(s)", report.model, report.steps,
                                        report.key_count)});
  figures.add_row({"engine", fmt::format("{}, {}, kernels {}", report.engine,
                                         precision_name(report.precision), report.isa)});
  figures.add_row(
      {"left for the last step", fmt::format("{:.2f} %", 100 * report.last_step_share)});
  figures.add_row({"memory per key", with_thousands(report.bytes_per_key) + " bytes"});
  figures.add_row({"offered", fmt::format("{:.0f} events/s", report.events_per_s_offered)});
  figures.add_row(
      {"sustained",
       with_thousands(static_cast<std::uint64_t>(report.events_per_s_sustained)) + " events/s"});
  TextTable times({"time", "p50", "p99", "p99.9", "p99.99", "max"});
  const auto add = [&times](const char* name, const Distribution& d) {
    times.add_row({name, readable_duration(d.p50), readable_duration(d.p99),
                   readable_duration(d.p999), readable_duration(d.p9999),
                   readable_duration(d.max)});
  };
  add("scheduled arrival to score", report.latency_ns);
  add("background, per event", report.background_ns);
  add("host jitter, nothing to do", report.jitter_ns);
  return figures.text() + "\n" + times.text();
}

Result<LastStepBenchReport> measure(LastStepArguments& arguments, const CommandContext& context) {
  arguments.options.stop = &watch_interruption();
  ShapeFile file;
  TOCSIN_ASSIGN_OR_RETURN(const BenchModel model,
                          arguments.model.empty()
                              ? file.write(arguments.shape, arguments.options.seed)
                              : open_bench_model(arguments.model, arguments.steps));
  return bench_last_step(model, arguments.options, context.clock);
}

}  // namespace

void add_bench_last_step_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<LastStepArguments>();
  CLI::App* command = bench.add_subcommand(
      "last-step", "From a frame's scheduled arrival to its score, windows worked ahead");
  CLI::Option* shape = command->add_option(
      "--shape", arguments->shape, "S2x100, S3x200 or S4x1000: LSTM stacks with random weights");
  command->add_option("--model", arguments->model, "A package's folder or an ONNX file instead")
      ->excludes(shape);
  command->add_option("--steps", arguments->steps, "Window length, where the model leaves it open")
      ->check(CLI::Range(1, 4096))
      ->excludes(shape);
  command->add_option("--engine", arguments->options.engine, "Engine (default: native)")
      ->check(engine_name());
  static const std::vector<std::pair<std::string, Precision>> kPrecisions = {
      {"float32", Precision::kFloat32},
      {"bfloat16", Precision::kBfloat16},
      {"float16", Precision::kFloat16},
      {"int8", Precision::kInt8}};
  command->add_option("--precision", arguments->options.precision, "Precision (default: float32)")
      ->transform(named_number(numbers_of(kPrecisions)));
  command->add_option("--keys", arguments->options.key_count, "Keys that take turns (default: 1)")
      ->check(CLI::Range(1U, 100'000U));
  command->add_option("--rate", arguments->options.events_per_s, "Events a second (default: 6000)")
      ->check(number_in(1.0, 1e6));
  command->add_option("--seconds", arguments->seconds, "How long the schedule runs (default: 5)")
      ->check(number_in(0.01, 3600.0));
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->footer("Example:\n  tocsin bench last-step --shape S2x100");
  command->callback([arguments, &context] {
    if (arguments->shape.empty() && arguments->model.empty()) arguments->shape = "S2x100";
    arguments->options.duration_ns = static_cast<std::int64_t>(arguments->seconds * 1e9);
    context.action = [arguments, &context] {
      const auto report = measure(*arguments, context);
      if (!report.ok()) return report_error(report.error());
      const ExitCode printed = print_output(arguments->json ? last_step_bench_json(*report) + "\n"
                                                            : report_text(*report));
      return printed == ExitCode::kDone && report->interrupted ? ExitCode::kInterrupted : printed;
    };
  });
}

}  // namespace tocsin
