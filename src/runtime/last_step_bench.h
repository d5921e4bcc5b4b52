// What stands between a frame and its score when windows are worked ahead, measured open loop:
// frames arrive on a schedule, and a late answer counts from the scheduled time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engines/engine.h"
#include "runtime/bench_model.h"
#include "telemetry/histogram.h"

namespace tocsin {

struct LastStepBenchOptions {
  std::string engine = "native";
  Precision precision = Precision::kFloat32;
  std::uint32_t key_count = 1;
  double events_per_s = 6'000;  // the schedule
  std::int64_t duration_ns = 5'000'000'000;
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;  // turned true from outside: ends with what there is
};

struct LastStepBenchReport {
  std::string model;
  std::string engine;
  Precision precision = Precision::kFloat32;
  std::int64_t steps = 0;
  std::uint32_t key_count = 1;
  double last_step_share = 0;
  std::size_t bytes_per_key = 0;
  double events_per_s_offered = 0;
  Distribution latency_ns;            // scheduled arrival to score
  Distribution background_ns;         // what follows: all windows of a key take one step
  double events_per_s_sustained = 0;  // events and their background work back to back
  Distribution jitter_ns;  // how late the same loop sees its scheduled time with nothing to do
  std::string isa;
  bool interrupted = false;  // figures are of what was done until then
};

// First the answers: every score of a window's length of frames is compared with a whole window's,
// bit for bit where the engine is exact. An error says which one differs.
// kCancelled: stopped before anything was measured.
Result<LastStepBenchReport> bench_last_step(const BenchModel& model,
                                            const LastStepBenchOptions& options,
                                            const Clock& clock);

std::string last_step_bench_json(const LastStepBenchReport& report);

}  // namespace tocsin
