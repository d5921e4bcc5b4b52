// What the engine "onnxruntime" says of itself, and the way to its sessions.
#include "engines/onnxruntime/onnxruntime_engine.h"

#include "engines/onnxruntime/onnxruntime_session.h"

namespace tocsin {

OnnxRuntimeEngine::OnnxRuntimeEngine(const LibraryLocations& locations)
    : library_(OnnxRuntimeLibrary::open(locations)) {}

EngineInfo OnnxRuntimeEngine::info() const {
  EngineInfo info;
  info.name = "onnxruntime";
  info.precisions = {Precision::kFloat32};
  info.determinism = DeterminismClass::kTolerance;
  info.found = library_.ok();
  if (info.found) {
    info.version = (*library_)->version();
    info.path = (*library_)->path();
  } else {
    info.reason = library_.error().message();
  }
  return info;
}

Result<std::unique_ptr<Session>> OnnxRuntimeEngine::load(const std::string& onnx_path,
                                                         const SessionOptions& options) {
  if (!library_.ok()) return library_.error().within("engine 'onnxruntime' is missing");
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  return OnnxRuntimeSession::load(*library_, onnx_path, options);
}

}  // namespace tocsin
