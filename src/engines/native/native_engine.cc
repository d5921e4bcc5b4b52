// Loading of models into the native engine.
#include "engines/native/native_engine.h"

#include <utility>

#include "engines/graph/onnx_import.h"
#include "engines/native/native_stream.h"
#include "engines/reference/reference_session.h"
#include "kernels/isa.h"

namespace tocsin {

EngineInfo NativeEngine::info() const {
  EngineInfo info;
  info.name = "native";
  info.found = true;
  info.version = TOCSIN_VERSION;
  info.path = "built in";
  info.precisions = {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16,
                     Precision::kInt8};
  info.determinism = DeterminismClass::kExact;
  info.thread_count_max = 1;
  return info;
}

Result<std::unique_ptr<Session>> NativeEngine::load(const std::string& onnx_path,
                                                    const SessionOptions& options) {
  if (const Result<Isa> isa = requested_isa(); !isa.ok()) return isa.error();
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  Result<std::unique_ptr<Session>> session = ReferenceSession::load(std::move(graph), options);
  if (!session.ok()) return session.error().within(onnx_path);
  return session;
}

Result<std::unique_ptr<WindowStream>> NativeEngine::load_stream(const std::string& onnx_path,
                                                                const SessionOptions& options) {
  if (const Result<Isa> isa = requested_isa(); !isa.ok()) return isa.error();
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  Result<std::unique_ptr<WindowStream>> stream = NativeStream::load(std::move(graph), options);
  if (!stream.ok()) return stream.error().within(onnx_path);
  return stream;
}

}  // namespace tocsin
