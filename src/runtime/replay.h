// Proves a recorded decision again: reads the events up to it, rebuilds book, features and window,
// scores, and compares bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sinks/ledger_reader.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct ReplayOptions {
  std::string source_path;   // empty: where the run read it
  std::string package_path;  // empty: where the run found it
};

struct ReplayReport {
  float replayed_score = 0.0F;
  bool frame_equal = false;   // all feature values, bit for bit
  bool window_equal = false;  // hash of the whole window
  bool score_equal = false;   // bits of the score
  bool agrees = false;        // what the engine's class promises holds: exact: all bits; tolerance:
                              // the score within the package's tolerance
  float tolerance = 0.0F;     // the package's, for engines that are not exact
  bool equal() const noexcept { return frame_equal && window_equal && score_equal; }
};

// Errors: the source or the package is missing, is not the one recorded, or does not reach the
// decision's position.
Result<ReplayReport> replay_decision(const FoundDecision& found, const ReplayOptions& options,
                                     Clock& clock,
                                     const std::function<void(const Progress&)>& on_progress);

// {"id", "recorded_bits", "replayed_bits", "equal", "determinism", ...}; without `report` the
// decision's record alone, as `tocsin audit show --json` prints it.
std::string decision_json(const FoundDecision& found, const ReplayReport* report);

}  // namespace tocsin
