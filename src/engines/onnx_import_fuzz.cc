// Any bytes as an ONNX model: imported, planned and run in both of our engines' ways, under limits
// that bound the work. Nothing but an error may come of it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engines/graph/onnx_import.h"
#include "engines/reference/reference_session.h"

namespace {

constexpr std::int64_t kSteps = 3;
constexpr std::int64_t kBatch = 2;
constexpr std::size_t kElementsMax = std::size_t{1} << 14U;

using Tensors = std::vector<tocsin::Tensor>;

// Zeros for each of them; nothing where they are large.
std::optional<Tensors> tensors_for(const std::vector<tocsin::TensorSpec>& specs,
                                   std::int64_t batch) {
  Tensors tensors;
  for (const tocsin::TensorSpec& spec : specs) {
    tocsin::Shape shape = spec.shape;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == tocsin::kFreeDimension) shape[i] = i == 0 ? batch : kSteps;
    const auto count = tocsin::checked_element_count(shape);
    if (!count || *count > kElementsMax) return std::nullopt;
    tensors.emplace_back(spec.type, std::move(shape));
  }
  return tensors;
}

// Some numbers, so that what compares and selects has something to choose from.
void fill(tocsin::Tensor& tensor) {
  if (tensor.type() == tocsin::DataType::kFloat32) {
    float next = -1.5F;
    for (float& value : tensor.mutable_values<float>())
      value = next = next > 4.0F ? -3.0F : next + 0.75F;
  } else if (tensor.type() == tocsin::DataType::kInt64) {
    std::int64_t next = 0;
    for (std::int64_t& value : tensor.mutable_values<std::int64_t>()) value = next++ % 4 - 1;
  } else if (tensor.type() == tocsin::DataType::kBool) {
    bool next = false;
    for (bool& value : tensor.mutable_values<bool>()) value = next = !next;
  }
}

std::vector<tocsin::TensorView> views_of(Tensors& tensors) {
  std::vector<tocsin::TensorView> views;
  views.reserve(tensors.size());
  for (tocsin::Tensor& tensor : tensors)
    views.push_back({tensor.type(), tensor.shape(), tensor.mutable_data(), tensor.size_bytes()});
  return views;
}

// A window and a batch of windows, each twice: what runs must give the same bits again.
void run(tocsin::Session& session) {
  for (const std::int64_t batch : {std::int64_t{1}, kBatch}) {
    auto inputs = tensors_for(session.signature().inputs, batch);
    auto first = tensors_for(session.signature().outputs, batch);
    auto second = tensors_for(session.signature().outputs, batch);
    if (!inputs || !first || !second) return;
    for (tocsin::Tensor& input : *inputs) fill(input);
    if (!session.run(views_of(*inputs), views_of(*first))) {
      static_cast<void>(session.error());
      continue;
    }
    TOCSIN_ASSERT(session.run(views_of(*inputs), views_of(*second)));
    for (std::size_t i = 0; i < first->size(); ++i)
      TOCSIN_ASSERT(
          (*first)[i].size_bytes() == 0 ||
          std::memcmp((*first)[i].data(), (*second)[i].data(), (*first)[i].size_bytes()) == 0);
  }
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
  limits.node_plans_max = 5'000;
  limits.loop_steps_max = 32;
  tocsin::SessionOptions options;
  options.steps = kSteps;
  options.batch_max = kBatch;
  for (const tocsin::Precision precision :
       {tocsin::Precision::kFloat32, tocsin::Precision::kInt8}) {
    options.precision = precision;
    options.activation_scales = std::make_shared<const tocsin::ActivationScales>(
        tocsin::ActivationScales{{"x", 0.02F}, {"h", 0.01F}});
    auto session = tocsin::ReferenceSession::load(*graph, options, limits);
    if (session.ok()) run(**session);
  }
  return 0;
}
