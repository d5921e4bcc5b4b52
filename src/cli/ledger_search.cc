// Looks for folders that hold a ledger: the folder itself, then one and two levels below.
#include "cli/ledger_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "sinks/ledger_store.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;

bool is_ledger(const fs::path& folder) {
  std::error_code ignored;
  // Either may be what is missing: a ledger still, that does not verify.
  return fs::exists(ledger_segment_path(folder.string(), 1), ignored) ||
         fs::exists(ledger_head_path(folder.string()), ignored);
}

std::vector<std::string> ledgers_below(const std::string& where) {
  std::vector<std::string> found;
  if (const auto direct = ledger_folder(where); direct.ok()) return {*direct};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(where, ignored))
    if (const auto ledger = ledger_folder(entry.path().string()); ledger.ok())
      found.push_back(*ledger);
  std::sort(found.begin(), found.end());
  return found;
}

// A damaged ledger is read up to its fault only, which the reader of the message has to know.
Error not_found(const std::vector<std::string>& ledgers, const std::string& id) {
  std::string text = fmt::format("no decision '{}' in {}", id, fmt::join(ledgers, ", "));
  ErrorCode code = ErrorCode::kNotFound;
  for (const std::string& ledger : ledgers) {
    FolderLedgerStore store(ledger);
    const Result<LedgerReport> report = verify_ledger(store);
    if (!report.ok() || report->ok()) continue;
    code = ErrorCode::kDataLoss;
    text += fmt::format("; {} does not verify and was read up to the fault: {}", ledger,
                        format_ledger_fault(*report->fault));
  }
  return {code, text};
}

}  // namespace

Result<std::string> ledger_folder(const std::string& path) {
  if (is_ledger(path)) return path;
  if (is_ledger(fs::path(path) / "ledger")) return (fs::path(path) / "ledger").string();
  return Error(ErrorCode::kNotFound,
               path + ": no ledger here; expected 000001.ledger in it or in its folder 'ledger'");
}

Result<FoundDecision> search_decision(const std::string& where, const std::string& id) {
  const std::vector<std::string> ledgers = ledgers_below(where);
  if (ledgers.empty())
    return Error(ErrorCode::kNotFound, where +
                                           ": no ledger here or one level below; name the run's "
                                           "output folder with --in");
  std::optional<FoundDecision> found;
  for (const std::string& ledger : ledgers) {
    FolderLedgerStore store(ledger);
    Result<FoundDecision> decision = find_decision(store, id);
    if (!decision.ok() && decision.error().code() == ErrorCode::kNotFound) continue;
    if (!decision.ok()) return decision.error().within(ledger);
    if (found && found->decision.decision.id != decision->decision.decision.id)
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' stands for alerts in several ledgers below {}; name the run's "
                               "output folder with --in",
                               id, where));
    found = std::move(decision).value();
  }
  return found ? Result<FoundDecision>(std::move(*found)) : not_found(ledgers, id);
}

}  // namespace tocsin
