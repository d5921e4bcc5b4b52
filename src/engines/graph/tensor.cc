// Tensors: memory and shapes.
#include "engines/graph/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace tocsin {
namespace {

constexpr std::size_t kElementCountMax = std::size_t{1} << 40U;

std::shared_ptr<std::byte> allocate_zeros(std::size_t size_bytes) {
  const auto alignment = std::align_val_t(kTensorAlignmentBytes);
  const std::size_t rounded = std::max(size_bytes, std::size_t{1});
  auto* memory = static_cast<std::byte*>(::operator new(rounded, alignment));
  std::memset(memory, 0, rounded);
  return {memory, [alignment](std::byte* bytes) { ::operator delete(bytes, alignment); }};
}

}  // namespace

std::optional<std::size_t> checked_element_count(std::span<const std::int64_t> shape) noexcept {
  // A zero anywhere makes the tensor empty, but must not hide a nonsensical dimension beside it.
  std::size_t count = 1;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    if (dimension == 0) {
      empty = true;
      continue;
    }
    if (static_cast<std::size_t>(dimension) > kElementCountMax / count) return std::nullopt;
    count *= static_cast<std::size_t>(dimension);
  }
  return empty ? 0 : count;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += shape[i] == kFreeDimension ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

Tensor::Tensor(DataType type, Shape shape)
    : type_(type), shape_(std::move(shape)), element_count_(0) {
  const std::optional<std::size_t> count = checked_element_count(shape_);
  TOCSIN_ASSERT(count.has_value() && data_type_size_bytes(type) > 0);
  element_count_ = *count;
  memory_ = allocate_zeros(size_bytes());
}

Tensor Tensor::with_shape(Shape shape) const {
  TOCSIN_ASSERT(checked_element_count(shape) == element_count_);
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

}  // namespace tocsin
