// What the engine "onnxruntime-cuda" says of itself, and the way to its sessions.
#include "engines/onnxruntime/onnxruntime_cuda_engine.h"

#include "engines/onnxruntime/onnxruntime_session.h"

namespace tocsin {

OnnxRuntimeCudaEngine::OnnxRuntimeCudaEngine(const LibraryLocations& locations)
    : provider_(CudaProvider::open(locations)) {}

EngineInfo OnnxRuntimeCudaEngine::info() const {
  EngineInfo info;
  info.name = "onnxruntime-cuda";
  info.precisions = {Precision::kFloat32};
  info.determinism = DeterminismClass::kTolerance;
  info.found = provider_.ok();
  if (info.found) {
    info.version = provider_->library()->version();
    info.path = provider_->library()->path();
  } else {
    info.reason = provider_.error().message();
  }
  return info;
}

Result<std::unique_ptr<Session>> OnnxRuntimeCudaEngine::load(const std::string& onnx_path,
                                                             const SessionOptions& options) {
  if (!provider_.ok()) return provider_.error().within("engine 'onnxruntime-cuda' is missing");
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(const CudaProvider provider, provider_->started());
  return OnnxRuntimeSession::load(provider.library(), onnx_path, options, &provider);
}

}  // namespace tocsin
