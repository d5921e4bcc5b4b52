// Any bytes as an ONNX model: imported, planned and run once in the reference engine, under small
// limits. Nothing but an error may come of it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engines/graph/onnx_import.h"
#include "engines/reference/reference_session.h"

namespace {

void run_once(tocsin::Session& session) {
  std::vector<tocsin::Tensor> tensors;
  for (const auto* specs : {&session.signature().inputs, &session.signature().outputs}) {
    for (const tocsin::TensorSpec& spec : *specs) {
      tocsin::Shape shape = spec.shape;
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == tocsin::kFreeDimension) shape[i] = i == 0 ? 1 : 3;
      const auto count = tocsin::checked_element_count(shape);
      if (!count || *count > (1U << 16U)) return;
      tensors.emplace_back(spec.type, std::move(shape));
    }
  }
  std::vector<tocsin::TensorView> views;
  views.reserve(tensors.size());
  for (tocsin::Tensor& tensor : tensors)
    views.push_back({tensor.type(), tensor.shape(), tensor.mutable_data(), tensor.size_bytes()});
  const std::span<const tocsin::TensorView> all = views;
  const std::size_t input_count = session.signature().inputs.size();
  if (!session.run(all.first(input_count), all.subspan(input_count)))
    static_cast<void>(session.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tocsin::ImportLimits import_limits;
  import_limits.file_bytes_max = 1U << 20U;
  import_limits.node_count_max = 200;
  auto graph = tocsin::import_onnx(std::as_bytes(std::span(data, size)), "", import_limits);
  if (!graph.ok()) return 0;
  tocsin::ReferenceLimits limits;
  limits.memory_bytes_max = 1U << 18U;
  tocsin::SessionOptions options;
  options.steps = 3;
  auto session = tocsin::ReferenceSession::load(std::move(*graph), options, limits);
  if (session.ok()) run_once(**session);
  return 0;
}
