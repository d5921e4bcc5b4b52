// Loading of models into the native engine.
#include "engines/native/native_engine.h"

#include <utility>

#include "engines/graph/onnx_import.h"
#include "engines/native/native_session.h"
#include "engines/native/native_stream.h"
#include "engines/reference/reference_engine.h"
#include "kernels/isa.h"

namespace tocsin {

EngineInfo NativeEngine::info() const {
  EngineInfo info = ReferenceEngine().info();
  info.name = "native";
  info.thread_count_max = 0;
  return info;
}

Result<std::unique_ptr<Session>> NativeEngine::load(const std::string& onnx_path,
                                                    const SessionOptions& options) {
  if (const Result<Isa> isa = requested_isa(); !isa.ok()) return isa.error();
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  Result<std::unique_ptr<Session>> session = NativeSession::load(std::move(graph), options);
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
