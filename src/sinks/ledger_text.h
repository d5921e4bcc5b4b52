// A decision of the ledger in words that a person can read.
#pragma once

#include <string>

#include "sinks/ledger_format.h"
#include "sinks/ledger_reader.h"

namespace tocsin {

// What `tocsin audit show` prints: verdict and why, input, window, model, the features that stand
// out with the rest below them, where the record stands, and a table of the time each stage took.
std::string explain_decision(const FoundDecision& found);

// The first fields in which two decisions differ, "score 0.91 (0x3f68f5c3) in the ledger, 0.92
// (...) now"; times are not compared. "nothing" if they agree.
std::string describe_difference(const LedgerDecision& recorded, const LedgerDecision& derived);

}  // namespace tocsin
