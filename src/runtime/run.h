// One run of a configuration: opens everything, runs the pipeline and the sinks' thread, closes
// everything, and says what happened.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/run_config.h"
#include "runtime/run_summary.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct RunHooks {
  // A line for every alert, with its end; called on the sinks' thread. Empty: alerts are not
  // printed.
  std::function<Status(std::string_view line)> alert_line;
  // About ten times a second, on the calling thread.
  std::function<void(const Progress&)> on_progress;
  bool colours = false;
  // Turned true from outside (ctrl-C): the run ends in order and is marked as interrupted.
  const std::atomic<bool>* stop = nullptr;
  std::string program_version;
  std::string program_commit;
};

// Runs to the end of the source, or until stopped. Errors are of opening: nothing was decided then.
// What happens later is in RunSummary::end and ::error, with all that was finished kept. The
// summary is also written to <output folder>/summary.json, whole or not at all.
Result<RunSummary> run(const RunConfig& config, const RunHooks& hooks, Clock& clock);

// The source of a configuration, paced if it asks for that.
Result<std::unique_ptr<Source>> open_source(const SourceConfig& config, Clock& clock);
// Warns if a whole file was left out because it holds none of the symbols that were asked for.
void warn_of_absent_symbols(const FileSourceOptions& file, const SourceCounters& counters);
// The configuration as a run's ledger record keeps it, and back: the text is self-contained.
std::string recorded_config(const RunConfig& config);
Result<RunConfig> config_from_record(const std::string& text);

}  // namespace tocsin
