// The explicit list of engines: a new engine is one line here.
#include <utility>

#include "engines/engine.h"
#include "engines/onnxruntime/onnxruntime_engine.h"
#include "engines/reference/reference_engine.h"

namespace tocsin {

std::vector<std::unique_ptr<Engine>> make_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::make_unique<ReferenceEngine>());
  engines.push_back(std::make_unique<OnnxRuntimeEngine>());
  return engines;
}

Result<std::unique_ptr<Engine>> make_engine(std::string_view name) {
  std::string names;
  for (std::unique_ptr<Engine>& engine : make_engines()) {
    const EngineInfo info = engine->info();
    if (info.name == name) {
      if (info.found) return std::move(engine);
      return Error(ErrorCode::kUnavailable,
                   "engine '" + info.name + "' is not available here: " + info.reason);
    }
    if (!names.empty()) names += ", ";
    names += info.name;
    if (!info.found) names += " (missing here: " + info.reason + ")";
  }
  return Error(ErrorCode::kNotFound,
               "no engine is named '" + std::string(name) + "'; the engines are " + names);
}

}  // namespace tocsin
