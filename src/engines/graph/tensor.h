// A dense row-major tensor with its memory, and the arithmetic of shapes. Copies share the memory,
// so a tensor is written only while nobody else holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/assert.h"
#include "engines/engine.h"

namespace tocsin {

using Shape = std::vector<std::int64_t>;

inline constexpr std::size_t kTensorAlignmentBytes = 64;

// The product of the dimensions; nothing if one is negative or the product exceeds 2^40.
std::optional<std::size_t> checked_element_count(std::span<const std::int64_t> shape) noexcept;

// "[2,3]"
std::string shape_text(std::span<const std::int64_t> shape);

template <typename T>
constexpr DataType data_type_of() noexcept {
  if constexpr (std::is_same_v<T, float>) return DataType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DataType::kFloat64;
  if constexpr (std::is_same_v<T, std::int64_t>) return DataType::kInt64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DataType::kInt32;
  if constexpr (std::is_same_v<T, bool>) return DataType::kBool;
  if constexpr (std::is_same_v<T, std::int8_t>) return DataType::kInt8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DataType::kUint8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DataType::kInt16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DataType::kUint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DataType::kUint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DataType::kUint64;
}

class Tensor {
 public:
  Tensor() : Tensor(DataType::kFloat32, {0}) {}
  // Zeros. The shape must pass checked_element_count, the type must have a fixed size.
  Tensor(DataType type, Shape shape);

  template <typename T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor tensor(data_type_of<T>(), std::move(shape));
    TOCSIN_ASSERT(values.size() == tensor.element_count_);
    for (std::size_t i = 0; i < values.size(); ++i) tensor.mutable_values<T>()[i] = values[i];
    return tensor;
  }

  // The same memory under another shape with as many elements.
  Tensor with_shape(Shape shape) const;

  DataType type() const noexcept { return type_; }
  const Shape& shape() const noexcept { return shape_; }
  std::size_t element_count() const noexcept { return element_count_; }
  std::size_t size_bytes() const noexcept { return element_count_ * data_type_size_bytes(type_); }
  const void* data() const noexcept { return memory_.get(); }  // aligned to kTensorAlignmentBytes
  void* mutable_data() noexcept { return memory_.get(); }

  // The values as T, which must be the tensor's type; they live as long as a copy of the tensor.
  template <typename T>
  std::span<const T> values() const noexcept {
    TOCSIN_ASSERT(type_ == data_type_of<T>());
    return {static_cast<const T*>(data()), element_count_};
  }
  template <typename T>
  std::span<T> mutable_values() noexcept {
    TOCSIN_ASSERT(type_ == data_type_of<T>());
    return {static_cast<T*>(mutable_data()), element_count_};
  }

 private:
  DataType type_;
  Shape shape_;
  std::size_t element_count_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace tocsin
