// Finds a decision by its id in the ledgers below a folder: people name an alert, not a ledger.
#pragma once

#include <string>

#include "base/result.h"
#include "sinks/ledger_reader.h"

namespace tocsin {

// `where` is a ledger, a run's output folder, or a folder of such (by default "runs"). kNotFound
// says where it looked; an id that is not unique is an error that names the candidates.
Result<FoundDecision> search_decision(const std::string& where, const std::string& id);

// The ledger at `path`: the folder itself, or "ledger" below it.
Result<std::string> ledger_folder(const std::string& path);

}  // namespace tocsin
