// `tocsin engines [--model M]`: what was found on this machine, where, and why the rest is missing;
// with a model, what of its windows each can compute ahead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/option_values.h"
#include "cli/text_table.h"
#include "engines/engine.h"
#include "runtime/stream_probe.h"

namespace tocsin {
namespace {

struct EnginesArguments {
  std::optional<std::string> model;
  std::int64_t steps = 0;
  double seconds = 0.5;
  bool json = false;
};

struct EngineEntry {
  EngineInfo info;  // its reason says, too, why there is no stream
  std::optional<StreamProbe> stream;
};

std::vector<std::string> precision_names(const EngineInfo& info) {
  std::vector<std::string> names;
  for (const Precision precision : info.precisions) names.emplace_back(precision_name(precision));
  return names;
}

// The error is the model's: an engine that only lacks the ability is an entry without a stream.
Result<EngineEntry> probe(Engine& engine, const BenchModel& model,
                          const EnginesArguments& arguments, const Clock& clock) {
  EngineEntry entry{engine.info(), {}};
  if (!entry.info.found) return entry;
  const auto duration_ns = static_cast<std::int64_t>(arguments.seconds * 1e9);
  const Result<StreamProbe> stream =
      probe_stream(engine, model, {.duration_ns = duration_ns}, clock);
  if (stream.ok())
    entry.stream = *stream;
  else if (stream.error().code() == ErrorCode::kUnimplemented)
    entry.info.reason = stream.error().message();
  else
    return stream.error();
  return entry;
}

Result<std::vector<EngineEntry>> list_entries(const EnginesArguments& arguments,
                                              const Clock& clock) {
  std::vector<EngineEntry> entries;
  if (!arguments.model) {
    for (const auto& engine : make_engines()) entries.push_back({engine->info(), {}});
    return entries;
  }
  TOCSIN_ASSIGN_OR_RETURN(const BenchModel model,
                          open_bench_model(*arguments.model, arguments.steps));
  for (const auto& engine : make_engines()) {
    TOCSIN_ASSIGN_OR_RETURN(EngineEntry entry, probe(*engine, model, arguments, clock));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string entries_json(const std::vector<EngineEntry>& entries, bool with_streams) {
  nlohmann::json root = nlohmann::json::array();
  for (const EngineEntry& entry : entries) {
    const EngineInfo& info = entry.info;
    nlohmann::json item = {{"name", info.name},
                           {"found", info.found},
                           {"version", info.version},
                           {"path", info.path},
                           {"reason", info.reason},
                           {"precisions", precision_names(info)},
                           {"determinism", determinism_name(info.determinism)}};
    if (with_streams) {
      const auto& stream = entry.stream;
      item["last_step_share"] = stream ? nlohmann::json(stream->last_step_share) : nullptr;
      item["bytes_per_key"] = stream ? nlohmann::json(stream->bytes_per_key) : nullptr;
      item["events_per_s_max"] = stream ? nlohmann::json(stream->events_per_s_max) : nullptr;
    }
    root.push_back(std::move(item));
  }
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string engines_text(const std::vector<EngineEntry>& entries) {
  TextTable table({"engine", "found", "version", "precisions", "determinism", "where, or why not"});
  for (const auto& [info, stream] : entries)
    table.add_row({info.name, info.found ? "yes" : "no", info.version,
                   fmt::format("{}", fmt::join(precision_names(info), " ")),
                   std::string(determinism_name(info.determinism)),
                   info.found ? info.path : info.reason});
  return table.text();
}

std::string streams_text(const std::vector<EngineEntry>& entries) {
  TextTable table(
      {"engine", "version", "last step", "memory a key", "events/s", "why nothing is ahead"});
  for (const auto& [info, stream] : entries) {
    std::vector<std::string> cells = {info.name, info.version, "-", "-", "-", info.reason};
    if (stream)
      cells = {info.name,
               info.version,
               fmt::format("{:.2f}%", 100 * stream->last_step_share),
               fmt::format("{:.1f} KiB", static_cast<double>(stream->bytes_per_key) / 1024),
               with_thousands(static_cast<std::uint64_t>(std::llround(stream->events_per_s_max))),
               ""};
    table.add_row(std::move(cells));
  }
  return table.text();
}

ExitCode run_engines(const EnginesArguments& arguments, const Clock& clock) {
  const bool with_streams = arguments.model.has_value();
  const Result<std::vector<EngineEntry>> entries = list_entries(arguments, clock);
  if (!entries.ok()) return report_error(entries.error());
  if (arguments.json) return print_output(entries_json(*entries, with_streams));
  return print_output(with_streams ? streams_text(*entries) : engines_text(*entries));
}

}  // namespace

void add_engines_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<EnginesArguments>();
  CLI::App* command = app.add_subcommand("engines", "What can compute a model on this machine");
  CLI::Option* model =
      command->add_option("--model", arguments->model,
                          "A model package's folder, or an ONNX file: what each engine can compute "
                          "of its windows before their last frame");
  command->add_option("--steps", arguments->steps, "Window length, where the model leaves it open")
      ->check(CLI::Range(1, 4096))
      ->needs(model);
  command
      ->add_option("--seconds", arguments->seconds,
                   "How long events are pushed through each engine (default: 0.5)")
      ->check(number_in(0.001, 60.0))
      ->needs(model);
  command->add_flag("--json", arguments->json, "Print JSON and nothing else");
  command->footer(
      "With --model: the last step is the share of a window's multiply-adds that is left when its\n"
      "last frame arrives; events/s is what one thread sustains, its work ahead included.\n"
      "Example:\n  tocsin engines --model models/btcusdt_burst_lstm");
  command->callback([arguments, &context] {
    context.action = [arguments, &context] { return run_engines(*arguments, context.clock); };
  });
}

}  // namespace tocsin
