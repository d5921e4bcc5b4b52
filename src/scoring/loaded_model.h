// A model package in an engine, ready to score: signature, feature schema and samples are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "engines/engine.h"
#include "features/feature_engine.h"
#include "models/model_package.h"
#include "scoring/normaliser.h"

namespace tocsin {

struct LoadOptions {
  std::int64_t steps = 0;  // window length, one of the package's steps_allowed; 0: its default
  std::int64_t batch_max = 1;
  int thread_count = 1;
  bool ahead = true;            // with a stream, where engine and graph allow it
  bool full_precision = false;  // FP32, whatever the package asks for
  bool full_ahead = false;      // with `full_stream`, where there is a `full_session`
};

struct LoadedModel {
  ModelPackage package;
  FeatureSchema schema;
  Normaliser normaliser;
  std::unique_ptr<Session> session;
  std::unique_ptr<WindowStream> stream{};  // null: windows are run whole, see whole_reason
  // In FP32 and for whole windows, where `session` and `stream` are in a low precision; else null.
  std::unique_ptr<Session> full_session{};
  std::unique_ptr<WindowStream> full_stream{};  // with its bits; null unless it is asked for
  Precision precision = Precision::kFloat32;    // of `session` and `stream`
  std::string whole_reason{};
  EngineInfo engine;
  LoadOptions options;           // in effect: steps is never 0
  std::size_t sample_count = 0;  // samples that the engine was checked with
  float worst_sample_error = 0;  // largest absolute difference among them, of `session`

  std::size_t steps() const noexcept { return static_cast<std::size_t>(options.steps); }
  std::size_t feature_count() const noexcept { return package.features.size(); }
  std::size_t output_columns() const noexcept {
    return static_cast<std::size_t>(package.outputs.front().shape.back());
  }
  // "btcusdt_burst_lstm/1"
  std::string title() const { return package.name + "/" + package.version; }
};

// The schema of the package's features, if this program means the same by it: else an error that
// names both hashes and the first feature that differs.
Result<FeatureSchema> check_feature_schema(const ModelPackage& package);

// Refused with kFailedPrecondition and the reason: a schema that is not this program's, a graph
// whose inputs and outputs are not those declared, samples that come out as NaN or off by more than
// the package's tolerance ("sample 3: output is NaN"); in low precision P(event) may be off by the
// width of the guard band. kInvalidArgument: options that the package
// does not allow. Errors of the engine are passed on, as is kUnimplemented where `full_ahead` asks
// for a stream that the graph does not allow.
Result<LoadedModel> load_model(ModelPackage package, Engine& engine, const LoadOptions& options);

}  // namespace tocsin
