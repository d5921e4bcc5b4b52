// Engines side by side on one model: every engine's answer is checked before it is timed, and all
// are timed in turns, so that the noise of the machine hits each of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engines/engine.h"
#include "runtime/bench_model.h"
#include "runtime/engine_probe.h"
#include "runtime/machine_facts.h"
#include "telemetry/histogram.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct EngineBenchOptions {
  std::vector<std::string> engines;  // empty: all there are
  std::vector<std::int64_t> batches = {1, 32};
  std::vector<int> thread_counts = {1};
  std::vector<Precision> precisions;  // empty: all that an engine has
  // How long each row is timed, in all its turns.
  std::int64_t row_duration_ns = 1'000'000'000;
  // Not 0: how long all turns of all rows take together, in place of row_duration_ns. Rows then
  // keep a series.
  std::int64_t load_duration_ns = 0;
  std::uint64_t seed = 1;  // of the inputs and of the order of turns
  MakeEngine make = make_engine;
};

// What one turn of a row saw.
struct EngineBenchTurn {
  std::int64_t offset_ns = 0;  // since the first turn of all
  std::uint64_t run_count = 0;
  std::int64_t mean_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};

struct EngineBenchRow {
  std::string engine;
  std::string version;
  DeterminismClass determinism = DeterminismClass::kExact;
  Precision precision = Precision::kFloat32;
  std::int64_t batch = 1;
  int threads = 1;
  std::string skipped;       // why there is nothing below; empty: it was measured
  std::string remark;        // of the engine, on how it ran; empty: nothing
  Distribution latency_ns;   // of one run
  double windows_per_s = 0;  // batch over mean latency
  EngineProbe cold;          // memory and cold start, from a process of its own
  double max_abs_error = 0;  // against `reference`, before and after the timing
  double error_allowed = 0;  // 0 for FP32 of an engine that promises the same bits
  bool agrees = false;       // max_abs_error is within error_allowed
  std::vector<EngineBenchTurn> series;
};

struct EngineBenchReport {
  std::string model;
  std::int64_t steps = 0;
  std::string scales_origin;  // of INT8; empty: there are none
  MachineFacts machine;
  std::vector<EngineBenchRow> rows;
  Distribution jitter_ns;  // the same loop with nothing in it
  bool interrupted = false;

  bool all_agree() const noexcept;  // of the rows that were measured
  bool any_measured() const noexcept;
};

struct EngineBenchHooks {
  std::function<void(const Progress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;  // turned true from outside: ends with what there is
};

// The error is of the model: it cannot be read, or `reference` cannot run it, so that there is no
// answer to compare with. Call it before this process has threads (see probe_engine).
Result<EngineBenchReport> bench_engines(const BenchModel& model, const EngineBenchOptions& options,
                                        const EngineBenchHooks& hooks, const Clock& clock);

}  // namespace tocsin
