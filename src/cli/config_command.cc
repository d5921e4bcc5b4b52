// `tocsin config check|show FILE`: is a configuration good, and what is in effect?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "runtime/run_config.h"

namespace tocsin {
namespace {

struct ConfigOptions {
  std::string path;
  bool json = false;
};

ExitCode run_check(const ConfigOptions& options) {
  const Result<RunConfig> config = read_run_config(options.path);
  if (options.json) {
    const nlohmann::json root = {
        {"file", options.path},
        {"ok", config.ok()},
        {"reason", config.ok() ? "" : config.error().message()},
    };
    const ExitCode printed =
        print_output(root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return config.ok() ? printed : exit_code_of(config.error().code());
  }
  if (!config.ok()) return report_error(config.error());
  return print_output(fmt::format("{}: good\n", options.path));
}

ExitCode run_show(const ConfigOptions& options) {
  const Result<RunConfig> config = read_run_config(options.path);
  if (!config.ok()) return report_error(config.error());
  if (!options.json) return print_output(config->effective_yaml);
  const nlohmann::json root = {{"file", options.path}, {"effective", config->effective_yaml}};
  return print_output(root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_config_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = app.add_subcommand("config", "Check a configuration, or show it in effect");
  command->require_subcommand(1);
  command->footer("Example:\n  tocsin config check config/btcusdt.yaml");
  const auto add = [&](const char* name, const char* description, auto action) {
    CLI::App* sub = command->add_subcommand(name, description);
    sub->add_option("FILE", options->path, "Configuration (YAML)")->required();
    sub->add_flag("--json", options->json, "Print JSON and nothing else");
    sub->footer(fmt::format("Example:\n  tocsin config {} config/btcusdt.yaml", name));
    sub->callback([options, &context, action] {
      context.action = [options, action] { return action(*options); };
    });
  };
  add("check", "Say whether FILE is good; if not: file, line, key, what was expected", run_check);
  add("show", "Print every value in effect, defaults included", run_show);
}

}  // namespace tocsin
