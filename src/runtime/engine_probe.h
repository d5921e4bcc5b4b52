// What an engine costs a process that has nothing else: measured in a process of its own each time,
// so that libraries are not yet open and memory not yet taken, and a crash is only a finding.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "engines/engine.h"
#include "runtime/bench_model.h"

namespace tocsin {

using MakeEngine = std::function<Result<std::unique_ptr<Engine>>(std::string_view name)>;

struct EngineProbeOptions {
  std::string engine;
  const BenchModel* model = nullptr;
  SessionOptions session;
  std::uint64_t seed = 0;  // of the inputs
  const std::atomic<bool>* stop = nullptr;
};

struct EngineProbe {
  std::int64_t cold_start_ns = 0;  // load and first inference; the library is already open
  std::int64_t rss_bytes = 0;      // growth of the resident set: library, load, first inference
  // Growth of the memory in use on all GPUs meanwhile: also what the driver keeps for a process.
  std::int64_t device_bytes = 0;
};

// Forks; call it before this process has threads. The error is the child's own, or says that the
// child crashed, took more than two minutes or was stopped (kCancelled).
Result<EngineProbe> probe_engine(const EngineProbeOptions& options, const MakeEngine& make,
                                 const Clock& clock);

// The engine's own account of itself, asked in a process of its own: only what stands here is
// filled in.
struct EngineSummary {
  std::string version;
  std::uint32_t precisions = 0;  // bit n: the Precision of value n
  DeterminismClass determinism = DeterminismClass::kExact;
  int thread_count_max = 0;

  bool has(Precision precision) const noexcept {
    return (precisions >> static_cast<unsigned>(precision) & 1U) != 0;
  }
};
Result<EngineSummary> summarise_engine(std::string_view name, const MakeEngine& make);

}  // namespace tocsin
