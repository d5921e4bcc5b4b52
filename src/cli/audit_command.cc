// `tocsin audit verify|show`: is the ledger whole, and why was an alert given?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/ledger_search.h"
#include "runtime/replay.h"
#include "sinks/ledger_reader.h"
#include "sinks/ledger_text.h"

namespace tocsin {
namespace {

struct AuditArguments {
  std::string path;
  std::string head;
  std::string id;
  std::string where = "runs";
  bool json = false;
};

nlohmann::json report_json(const LedgerReport& report) {
  nlohmann::json root = {
      {"records", report.records},   {"segments", report.segments},     {"ok", report.ok()},
      {"head", to_hex(report.head)}, {"torn_bytes", report.torn_bytes}, {"fault", nullptr}};
  if (report.fault)
    root["fault"] = {{"segment", report.fault->segment},
                     {"record", report.fault->record},
                     {"byte", report.fault->byte},
                     {"kind", ledger_fault_kind_name(report.fault->kind)},
                     {"detail", report.fault->detail}};
  return root;
}

std::string report_text(const std::string& folder, const LedgerReport& report) {
  std::string text = fmt::format("{}: {} records in {} segments, head {}\n", folder, report.records,
                                 report.segments, to_hex(report.head));
  if (report.torn_bytes > 0)
    text += fmt::format(
        "an unfinished record of {} bytes stands at the end: the mark of a stopped "
        "writer, cut off when it goes on\n",
        report.torn_bytes);
  if (!report.fault) return text + "good: every record is where it was written and as it was\n";
  return text + "NOT good: " + format_ledger_fault(*report.fault) + "\n";
}

ExitCode run_verify(const AuditArguments& arguments) {
  const Result<std::string> folder = ledger_folder(arguments.path);
  if (!folder.ok()) return report_error(folder.error());
  std::optional<LedgerAnchor> anchor;
  if (!arguments.head.empty()) {
    const Result<Digest> head = digest_from_hex(arguments.head);
    if (!head.ok()) return report_error(head.error());
    anchor = LedgerAnchor{.hash = *head, .records = {}};
  }
  FolderLedgerStore store(*folder);
  const Result<LedgerReport> report = verify_ledger(store, anchor);
  if (!report.ok()) return report_error(report.error());
  const ExitCode printed =
      print_output(arguments.json ? report_json(*report).dump(
                                        2, ' ', false, nlohmann::json::error_handler_t::replace) +
                                        "\n"
                                  : report_text(*folder, *report));
  return report->ok() ? printed : ExitCode::kCheckFailed;
}

ExitCode run_show(const AuditArguments& arguments) {
  const Result<FoundDecision> found = search_decision(arguments.where, arguments.id);
  if (!found.ok()) return report_error(found.error());
  return print_output(arguments.json ? decision_json(*found, nullptr) + "\n"
                                     : explain_decision(*found));
}

}  // namespace

void add_audit_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<AuditArguments>();
  CLI::App* command = app.add_subcommand("audit", "Verify a ledger, or explain one decision of it");
  command->require_subcommand(1);
  command->footer(
      "Example:\n  tocsin audit verify runs/btcusdt\n  tocsin audit show tocsin:0123abcd --in "
      "runs/btcusdt");
  CLI::App* verify = command->add_subcommand(
      "verify", "Find any changed, missing, added, swapped or cut off record and name its place");
  verify->add_option("PATH", arguments->path, "Ledger, or a run's output folder")->required();
  verify->add_option("--head", arguments->head,
                     "A head hash noted earlier: the ledger must have gone through it");
  verify->add_flag("--json", arguments->json, "Print JSON and nothing else");
  verify->footer("Exit code 1 if a fault is found.\nExample:\n  tocsin audit verify runs/btcusdt");
  verify->callback(
      [arguments, &context] { context.action = [arguments] { return run_verify(*arguments); }; });
  CLI::App* show = command->add_subcommand("show", "Explain one decision in words");
  show->add_option("ID", arguments->id, "Alert id, or its first digits where that is unique")
      ->required();
  show->add_option("--in", arguments->where,
                   "Ledger, run folder or folder of runs (default: runs)");
  show->add_flag("--json", arguments->json, "Print JSON and nothing else");
  show->footer("Example:\n  tocsin audit show tocsin:0123abcd --in runs/btcusdt");
  show->callback(
      [arguments, &context] { context.action = [arguments] { return run_show(*arguments); }; });
}

}  // namespace tocsin
