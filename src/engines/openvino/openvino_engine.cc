// What the engine "openvino" says of itself, and the way to its sessions.
#include "engines/openvino/openvino_engine.h"

#include "engines/openvino/openvino_session.h"

namespace tocsin {

OpenVinoEngine::OpenVinoEngine(const LibraryLocations& locations)
    : library_(OpenVinoLibrary::open(locations)) {}

EngineInfo OpenVinoEngine::info() const {
  EngineInfo info;
  info.name = "openvino";
  info.precisions = {Precision::kFloat32};
  info.determinism = DeterminismClass::kTolerance;
  info.found = library_.ok();
  if (info.found) {
    info.version = (*library_)->version();
    info.path = (*library_)->path();
    info.precisions = (*library_)->precisions();
  } else {
    info.reason = library_.error().message();
  }
  return info;
}

Result<std::unique_ptr<Session>> OpenVinoEngine::load(const std::string& onnx_path,
                                                      const SessionOptions& options) {
  if (!library_.ok()) return library_.error().within("engine 'openvino' is missing");
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  return OpenVinoSession::load(*library_, onnx_path, options);
}

}  // namespace tocsin
