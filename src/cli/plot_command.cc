// `tocsin plot RUN`: a run's summary as one HTML page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/command.h"
#include "runtime/html_report.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSummaryBytesMax = std::uint64_t{64} << 20;

struct PlotArguments {
  std::string run;
  std::string output;
};

ExitCode run_plot(const PlotArguments& arguments) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(arguments.run, ignored);
  const std::string summary_path = is_folder ? arguments.run + "/summary.json" : arguments.run;
  const Result<std::vector<std::byte>> bytes = read_whole_file(summary_path, kSummaryBytesMax);
  if (!bytes.ok()) {
    fmt::print(stderr,
               "tocsin: a run writes its summary when it ends; give the run's folder or the "
               "file of 'tocsin run --summary'\n");
    return report_error(bytes.error());
  }
  const Result<std::string> page =
      html_report(std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  if (!page.ok()) return report_error(page.error().within(summary_path));
  const std::string output = !arguments.output.empty() ? arguments.output
                             : is_folder
                                 ? arguments.run + "/report.html"
                                 : fs::path(arguments.run).replace_extension(".html").string();
  const Status written = replace_file(output, *page);
  if (!written.ok()) return report_error(written.error());
  return print_output(fmt::format("{}: open it in a browser; it needs no network\n", output));
}

}  // namespace

void add_plot_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<PlotArguments>();
  CLI::App* command = app.add_subcommand(
      "plot", "Write an HTML report of a run: mid price, score, alerts, latency");
  command->add_option("RUN", arguments->run, "A run's output folder, or its summary (JSON)")
      ->required();
  command->add_option("--output", arguments->output, "HTML file (default: report.html in RUN)");
  command->footer("Example:\n  tocsin plot runs/btcusdt");
  command->callback(
      [arguments, &context] { context.action = [arguments] { return run_plot(*arguments); }; });
}

}  // namespace tocsin
