// `tocsin engines`: what was found on this machine, where, and why the rest is missing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/text_table.h"
#include "engines/engine.h"

namespace tocsin {
namespace {

std::vector<std::string> precision_names(const EngineInfo& info) {
  std::vector<std::string> names;
  for (const Precision precision : info.precisions) names.emplace_back(precision_name(precision));
  return names;
}

ExitCode run_engines(bool as_json) {
  nlohmann::json root = nlohmann::json::array();
  TextTable table({"engine", "found", "version", "precisions", "determinism", "where, or why not"});
  for (const auto& engine : make_engines()) {
    const EngineInfo info = engine->info();
    root.push_back({{"name", info.name},
                    {"found", info.found},
                    {"version", info.version},
                    {"path", info.path},
                    {"reason", info.reason},
                    {"precisions", precision_names(info)},
                    {"determinism", determinism_name(info.determinism)}});
    table.add_row({info.name, info.found ? "yes" : "no", info.version,
                   fmt::format("{}", fmt::join(precision_names(info), " ")),
                   std::string(determinism_name(info.determinism)),
                   info.found ? info.path : info.reason});
  }
  return print_output(as_json ? root.dump(2) + "\n" : table.text());
}

}  // namespace

void add_engines_command(CLI::App& app, CommandContext& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("engines", "What can compute a model on this machine");
  command->add_flag("--json", *as_json, "Print JSON and nothing else");
  command->footer("Example:\n  tocsin engines");
  command->callback(
      [as_json, &context] { context.action = [as_json] { return run_engines(*as_json); }; });
}

}  // namespace tocsin
