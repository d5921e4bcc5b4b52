// Loading of models into the reference engine.
#include "engines/reference/reference_engine.h"

#include <utility>

#include "engines/graph/onnx_import.h"
#include "engines/reference/reference_session.h"
#include "kernels/isa.h"

namespace tocsin {

EngineInfo ReferenceEngine::info() const {
  EngineInfo info;
  info.name = "reference";
  info.found = true;
  info.version = TOCSIN_VERSION;
  info.path = "built in";
  info.precisions = {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16,
                     Precision::kInt8};
  info.determinism = DeterminismClass::kExact;
  info.thread_count_max = 1;
  return info;
}

Result<std::unique_ptr<Session>> ReferenceEngine::load(const std::string& onnx_path,
                                                       const SessionOptions& options) {
  if (const Result<Isa> isa = requested_isa(); !isa.ok()) return isa.error();
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  auto session = ReferenceSession::load(std::move(graph), options);
  if (!session.ok()) return session.error().within(onnx_path);
  return std::unique_ptr<Session>(std::move(*session));
}

}  // namespace tocsin
