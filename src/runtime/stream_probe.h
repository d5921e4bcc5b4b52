// What an engine's work ahead on sliding windows comes to for one model, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "engines/engine.h"
#include "runtime/bench_model.h"

namespace tocsin {

struct StreamProbeOptions {
  std::int64_t duration_ns = 500'000'000;  // of the timed loop
  std::uint64_t seed = 1;                  // of the frames
};

struct StreamProbe {
  double last_step_share = 0;     // of a window's multiply-adds, left when its last frame is there
  std::size_t bytes_per_key = 0;  // of memory
  // With nothing else to do: each event is taken in, scored, and followed by all the work ahead.
  double events_per_s_max = 0;
};

// FP32, one key, standard normal frames. kUnimplemented, with the reason, where the engine or the
// model has nothing to compute ahead.
Result<StreamProbe> probe_stream(Engine& engine, const BenchModel& model,
                                 const StreamProbeOptions& options, const Clock& clock);

}  // namespace tocsin
