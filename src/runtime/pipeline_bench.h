// Measures decode, book and features over a file: messages a second on one core.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "events/decision.h"
#include "features/feature_engine.h"
#include "ingest/source.h"
#include "telemetry/histogram.h"

namespace tocsin {

struct PipelineBenchOptions {
  FileSourceOptions file;
  std::int64_t duration_ns = 2'000'000'000;  // whole passes are repeated until this is over
  FeatureSchema schema = FeatureSchema::standard();
};

struct PipelineBenchReport {
  std::uint64_t features = 0;  // of a frame
  std::uint64_t messages = 0;  // in one pass
  std::uint64_t frames = 0;    // in one pass
  std::uint64_t passes = 0;
  double messages_per_s = 0;           // decode (with decompression), book, features: median pass
  double decode_messages_per_s = 0;    // decode (with decompression) alone
  double book_messages_per_s = 0;      // book and features alone, over events already decoded
  double allocations_per_message = 0;  // over the second half of a pass
  // Per message; decode, book and features only, from a pass of its own with the clock running.
  std::array<Distribution, kStageCount> stages_ns{};
};

// Every pass must make the same frames, bit for bit; otherwise the error says so.
Result<PipelineBenchReport> bench_pipeline(const PipelineBenchOptions& options, const Clock& clock);

std::string pipeline_bench_json(const PipelineBenchReport& report);

}  // namespace tocsin
