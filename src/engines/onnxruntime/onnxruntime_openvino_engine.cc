// What the engine "onnxruntime-openvino" says of itself, and the way to its sessions.
#include "engines/onnxruntime/onnxruntime_openvino_engine.h"

#include "engines/onnxruntime/onnxruntime_session.h"

namespace tocsin {
namespace {

Result<OpenVinoProvider> open_provider(const LibraryLocations& runtime,
                                       const LibraryLocations& provider) {
  TOCSIN_ASSIGN_OR_RETURN(auto library, OnnxRuntimeLibrary::open(runtime));
  return OpenVinoProvider::open(std::move(library), provider);
}

}  // namespace

OnnxRuntimeOpenVinoEngine::OnnxRuntimeOpenVinoEngine(const LibraryLocations& runtime,
                                                     const LibraryLocations& provider)
    : provider_(open_provider(runtime, provider)) {}

EngineInfo OnnxRuntimeOpenVinoEngine::info() const {
  EngineInfo info;
  info.name = "onnxruntime-openvino";
  info.precisions = {Precision::kFloat32};
  info.determinism = DeterminismClass::kTolerance;
  info.found = provider_.ok();
  if (info.found) {
    info.version = provider_->library()->version();
    info.path = provider_->path();
  } else {
    info.reason = provider_.error().message();
  }
  return info;
}

Result<std::unique_ptr<Session>> OnnxRuntimeOpenVinoEngine::load(const std::string& onnx_path,
                                                                 const SessionOptions& options) {
  if (!provider_.ok()) return provider_.error().within("engine 'onnxruntime-openvino' is missing");
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  return OnnxRuntimeSession::load(provider_->library(), onnx_path, options, &*provider_);
}

}  // namespace tocsin
