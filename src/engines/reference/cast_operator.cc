// Cast between bool and the numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"
#include "kernels/half_float.h"

namespace tocsin {
namespace {

// Towards zero; fractions and NaN that the target cannot hold become its nearest, and 0. Integers
// keep their low bits.
template <typename From, typename To>
To cast_value(From value) noexcept {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Both bounds are powers of two, or 0: exact in any floating-point type.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kEnd = From(2) * static_cast<From>(kHalf);
    if (std::isnan(value)) return To(0);
    if (value <= kLow) return std::numeric_limits<To>::min();
    if (value >= kEnd) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
Result<PlannedNode> plan_cast_as(const NodeContext& context) {
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<To>(), context.input(0).shape, {}, {}});
  if constexpr (std::is_same_v<From, To>) {
    planned.outputs[0].alias_of_input = 0;
  } else {
    planned.kernel = [count](const Buffers& buffers) {
      const From* x = buffers.input<From>(0);
      To* y = buffers.output<To>(0);
      for (std::size_t i = 0; i < count; ++i) y[i] = cast_value<From, To>(x[i]);
    };
  }
  return planned;
}

template <typename From>
Result<PlannedNode> plan_cast_from(const NodeContext& context, DataType to) {
  if (to == DataType::kBool) return plan_cast_as<From, bool>(context);
  return with_number_type(to,
                          [&context]<typename To>() { return plan_cast_as<From, To>(context); });
}

// To FP16 or BF16, which are FP32 here: the values become those that 16 bits hold.
using Rounding = float (*)(float);

template <typename From>
Result<PlannedNode> plan_cast_and_round(const NodeContext& context, Rounding rounding) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, context.input(0).shape, {}, {}});
  planned.kernel = [rounding, count = context.input(0).element_count()](const Buffers& buffers) {
    const From* x = buffers.input<From>(0);
    float* y = buffers.output<float>(0);
    for (std::size_t i = 0; i < count; ++i) y[i] = rounding(cast_value<From, float>(x[i]));
  };
  return planned;
}

// Null for the other types.
Rounding rounding_of(std::int64_t onnx_type) {
  constexpr std::int64_t kFloat16 = 10;
  constexpr std::int64_t kBfloat16 = 16;
  if (onnx_type == kFloat16) return [](float value) { return from_float16(to_float16(value)); };
  if (onnx_type == kBfloat16) return [](float value) { return from_bfloat16(to_bfloat16(value)); };
  return nullptr;
}

Result<DataType> target_type(std::int64_t onnx_type) {
  switch (onnx_type) {  // TensorProto.DataType
    case 1:
      return DataType::kFloat32;
    case 2:
      return DataType::kUint8;
    case 3:
      return DataType::kInt8;
    case 4:
      return DataType::kUint16;
    case 5:
      return DataType::kInt16;
    case 6:
      return DataType::kInt32;
    case 7:
      return DataType::kInt64;
    case 9:
      return DataType::kBool;
    case 11:
      return DataType::kFloat64;
    case 12:
      return DataType::kUint32;
    case 13:
      return DataType::kUint64;
    default:
      return unsupported("ONNX element type " + std::to_string(onnx_type) + " is not supported");
  }
}

Result<PlannedNode> plan_cast_to(const NodeContext& context, DataType to) {
  const DataType from = context.input(0).type;
  if (from == DataType::kBool) return plan_cast_from<bool>(context, to);
  return with_number_type(
      from, [&context, to]<typename From>() { return plan_cast_from<From>(context, to); });
}

}  // namespace

Result<PlannedNode> plan_cast(const NodeContext& context) {
  context.ignore_attribute("saturate");    // concerns float8 alone
  context.ignore_attribute("round_mode");  // likewise
  const std::int64_t target = context.int_attribute("to", 0);
  if (const Rounding rounding = rounding_of(target); rounding != nullptr) {
    if (context.input(0).type == DataType::kBool)
      return plan_cast_and_round<bool>(context, rounding);
    return with_number_type(context.input(0).type, [&]<typename From>() {
      return plan_cast_and_round<From>(context, rounding);
    });
  }
  TOCSIN_ASSIGN_OR_RETURN(const DataType to, target_type(target));
  return plan_cast_to(context, to);
}

Result<PlannedNode> plan_cast_like(const NodeContext& context) {
  context.ignore_attribute("saturate");
  context.ignore_attribute("round_mode");
  return plan_cast_to(context, context.input(1).type);
}

}  // namespace tocsin
