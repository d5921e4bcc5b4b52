// The turns of one setting: two engines loaded in this process, each on a thread of its own.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "runtime/doctor/contention.h"

namespace tocsin {

// Trivially copyable: it comes from another process.
struct ContentionTimes {
  int pool_threads = 0;
  Distribution alone_ns;
  Distribution together_ns;
};

// Loads both engines, in order, and takes all turns. The error names the engine.
Result<std::array<ContentionTimes, 2>> take_contention_turns(const BenchModel& model,
                                                             const EngineShares& shares,
                                                             const ContentionOptions& options,
                                                             const Clock& clock);

}  // namespace tocsin
