// Checks of tensors at the border to a vendor's library.
#include "engines/tensor_check.h"

#include <algorithm>
#include <cstring>

#include "engines/graph/tensor.h"

namespace tocsin {
namespace {

// Why `view` cannot be bound to `spec`; nullopt if it can.
std::optional<std::string> misfit(const TensorView& view, const TensorSpec& spec) {
  if (spec.type == DataType::kString) return "text tensors are not supported";
  if (view.type != spec.type) {
    return "expected " + std::string(data_type_name(spec.type)) + ", found " +
           std::string(data_type_name(view.type));
  }
  bool fits = view.shape.size() == spec.shape.size();
  std::size_t size_bytes = data_type_size_bytes(view.type);
  for (std::size_t i = 0; fits && i < view.shape.size(); ++i) {
    const std::int64_t dimension = view.shape[i];
    fits = dimension > 0 && (spec.shape[i] == kFreeDimension || spec.shape[i] == dimension);
    size_bytes *= static_cast<std::size_t>(dimension);
  }
  if (!fits)
    return "expected shape " + shape_text(spec.shape) + ", found " + shape_text(view.shape);
  if (view.size_bytes != size_bytes || view.data == nullptr) {
    return "shape " + shape_text(view.shape) + " needs " + std::to_string(size_bytes) +
           " bytes, found " + std::to_string(view.data == nullptr ? 0 : view.size_bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> misfit(std::span<const TensorView> views, std::span<const TensorSpec> specs,
                            const char* what) {
  if (views.size() != specs.size()) {
    return Error(ErrorCode::kInvalidArgument, "the model has " + std::to_string(specs.size()) +
                                                  " " + what + "s, found " +
                                                  std::to_string(views.size()));
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (const auto reason = misfit(views[i], specs[i]); reason.has_value())
      return Error(ErrorCode::kInvalidArgument,
                   std::string(what) + " '" + specs[i].name + "': " + *reason);
  }
  return std::nullopt;
}

std::vector<TensorSpec> window_specs(std::vector<TensorSpec> specs, std::int64_t batch,
                                     std::int64_t steps) {
  for (TensorSpec& spec : specs) {
    if (!spec.shape.empty() && spec.shape[0] == kFreeDimension) spec.shape[0] = batch;
    if (spec.shape.size() == 3 && spec.shape[1] == kFreeDimension && steps > 0)
      spec.shape[1] = steps;
  }
  return specs;
}

bool is_open(const TensorSpec& spec) {
  return spec.type == DataType::kString ||
         std::ranges::any_of(spec.shape, [](std::int64_t size) { return size < 1; });
}

Status check_counts(const SessionOptions& options) {
  if (options.thread_count >= 1 && options.batch_max >= 1 && options.steps >= 0) return {};
  return Error(ErrorCode::kInvalidArgument,
               "expected thread_count and batch_max of 1 or more and steps of 0 or more, found " +
                   std::to_string(options.thread_count) + ", " + std::to_string(options.batch_max) +
                   " and " + std::to_string(options.steps));
}

AlignedBuffer make_aligned_buffer(std::size_t size_bytes) {
  auto* memory =
      static_cast<std::byte*>(::operator new(size_bytes, std::align_val_t(kCacheLineBytes)));
  std::memset(memory, 0, size_bytes);
  return AlignedBuffer(memory);
}

}  // namespace tocsin
