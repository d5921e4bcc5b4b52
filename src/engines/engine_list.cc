// The explicit list of engines: a new engine is one line here.
#include <array>
#include <utility>

#include "engines/cuda/cuda_engine.h"
#include "engines/engine.h"
#include "engines/native/native_engine.h"
#include "engines/onnxruntime/onnxruntime_cuda_engine.h"
#include "engines/onnxruntime/onnxruntime_engine.h"
#include "engines/onnxruntime/onnxruntime_openvino_engine.h"
#include "engines/openvino/openvino_engine.h"
#include "engines/reference/reference_engine.h"

namespace tocsin {
namespace {

struct EngineEntry {
  std::string_view name;
  std::unique_ptr<Engine> (*make)();
};

template <typename T>
std::unique_ptr<Engine> make() {
  return std::make_unique<T>();
}

constexpr std::array kEngines = {
    EngineEntry{"native", make<NativeEngine>},
    EngineEntry{"reference", make<ReferenceEngine>},
    EngineEntry{"cuda", make<CudaEngine>},
    EngineEntry{"onnxruntime", make<OnnxRuntimeEngine>},
    EngineEntry{"onnxruntime-cuda", make<OnnxRuntimeCudaEngine>},
    EngineEntry{"onnxruntime-openvino", make<OnnxRuntimeOpenVinoEngine>},
    EngineEntry{"openvino", make<OpenVinoEngine>},
};

}  // namespace

std::vector<std::string_view> engine_names() {
  std::vector<std::string_view> names;
  names.reserve(kEngines.size());
  for (const EngineEntry& entry : kEngines) names.push_back(entry.name);
  return names;
}

std::vector<std::unique_ptr<Engine>> make_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.reserve(kEngines.size());
  for (const EngineEntry& entry : kEngines) engines.push_back(entry.make());
  return engines;
}

// Only the engine that was named is made: the libraries of the others are not opened.
Result<std::unique_ptr<Engine>> make_engine(std::string_view name) {
  std::string names;
  for (const EngineEntry& entry : kEngines) {
    if (entry.name == name) {
      std::unique_ptr<Engine> engine = entry.make();
      const EngineInfo info = engine->info();
      if (info.found) return engine;
      return Error(ErrorCode::kUnavailable,
                   "engine '" + info.name + "' is not available here: " + info.reason);
    }
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return Error(ErrorCode::kNotFound,
               "no engine is named '" + std::string(name) + "'; the engines are " + names);
}

}  // namespace tocsin
