// QuantizeLinear, DequantizeLinear (per tensor, per axis, in blocks) and DynamicQuantizeLinear.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "engines/reference/element_types.h"
#include "engines/reference/integer_types.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

// The tensor as [outer, length, inner]: which of the scales belongs to an element.
struct ScaleMap {
  enum class Kind { kTensor, kAxis, kBlocks };
  Kind kind = Kind::kTensor;
  std::size_t outer = 1, length = 1, inner = 1;
  std::size_t block = 1, blocks = 1;  // values of the axis to a scale, scales along the axis

  std::size_t scale_of(std::size_t o, std::size_t l, std::size_t i) const noexcept {
    if (kind == Kind::kTensor) return 0;
    if (kind == Kind::kAxis) return l;
    return (o * blocks + l / block) * inner + i;
  }
};

Result<ScaleMap> scale_map(const NodeContext& context) {
  const Operand& x = context.input(0);
  const Operand& scale = context.input(1);
  ScaleMap map;
  const std::int64_t block = context.int_attribute("block_size", 0);
  const std::int64_t axis_attribute = context.int_attribute("axis", 1);
  if (scale.rank() == 0 || (scale.rank() == 1 && scale.shape[0] == 1 && block == 0)) {
    map.outer = x.element_count();
    return map;
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis, NodeContext::axis_of(axis_attribute, x.rank()));
  for (std::size_t d = 0; d < x.rank(); ++d) {
    const auto size = static_cast<std::size_t>(x.shape[d]);
    (d < axis ? map.outer : d == axis ? map.length : map.inner) *= size;
  }
  if (block == 0) {
    map.kind = ScaleMap::Kind::kAxis;
    if (scale.shape != Shape{x.shape[axis]})
      return invalid("scale " + shape_text(scale.shape) + " does not fit axis " +
                     std::to_string(axis) + " of " + shape_text(x.shape));
    return map;
  }
  if (block < 1) return invalid("block_size is " + std::to_string(block));
  map.kind = ScaleMap::Kind::kBlocks;
  map.block = static_cast<std::size_t>(block);
  map.blocks = (map.length + map.block - 1) / map.block;
  Shape expected = x.shape;
  expected[axis] = static_cast<std::int64_t>(map.blocks);
  if (scale.shape != expected)
    return invalid("scale is " + shape_text(scale.shape) + ", expected " + shape_text(expected));
  return map;
}

Status check_scale(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  if (context.has_input(2) && context.input(2).shape != context.input(1).shape &&
      context.input(2).element_count() != context.input(1).element_count())
    return invalid("its zero point does not fit its scale");
  return {};
}

template <typename Element>
void for_each_element(const ScaleMap& map, Element&& element) {
  std::size_t index = 0;
  for (std::size_t o = 0; o < map.outer; ++o)
    for (std::size_t l = 0; l < map.length; ++l)
      for (std::size_t i = 0; i < map.inner; ++i) element(index++, map.scale_of(o, l, i));
}

template <typename T>
Result<PlannedNode> plan_quantize_as(const NodeContext& context, const ScaleMap& map) {
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<T>(), context.input(0).shape, {}, {}});
  const bool has_zero_point = context.has_input(2);
  planned.kernel = [map, has_zero_point](const Buffers& buffers) {
    const float* x = buffers.input<float>(0);
    const float* scale = buffers.input<float>(1);
    const T* zero_point = has_zero_point ? buffers.input<T>(2) : nullptr;
    T* y = buffers.output<T>(0);
    for_each_element(map, [&](std::size_t index, std::size_t s) {
      y[index] = quantized<T>(x[index] / scale[s], zero_point != nullptr ? zero_point[s] : 0);
    });
  };
  return planned;
}

template <typename T>
Result<PlannedNode> plan_dequantize_as(const NodeContext& context, const ScaleMap& map) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, context.input(0).shape, {}, {}});
  const bool has_zero_point = context.has_input(2);
  planned.kernel = [map, has_zero_point](const Buffers& buffers) {
    const T* x = buffers.input<T>(0);
    const float* scale = buffers.input<float>(1);
    const T* zero_point = has_zero_point ? buffers.input<T>(2) : nullptr;
    float* y = buffers.output<float>(0);
    for_each_element(map, [&](std::size_t index, std::size_t s) {
      const std::int64_t zero = zero_point != nullptr ? zero_point[s] : 0;
      y[index] = static_cast<float>(static_cast<std::int64_t>(x[index]) - zero) * scale[s];
    });
  };
  return planned;
}

// The type of the zero point, or of output_dtype where there is none.
Result<DataType> quantized_type(const NodeContext& context) {
  const std::int64_t output_type = context.int_attribute("output_dtype", 0);
  if (context.has_input(2)) return context.input(2).type;
  switch (output_type) {  // TensorProto.DataType
    case 0:
    case 2:
      return DataType::kUint8;
    case 3:
      return DataType::kInt8;
    case 4:
      return DataType::kUint16;
    case 5:
      return DataType::kInt16;
    default:
      return unsupported("output_dtype " + std::to_string(output_type) + " is not supported");
  }
}

}  // namespace

Result<PlannedNode> plan_quantize_linear(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(check_scale(context));
  context.ignore_attribute("saturate");  // concerns float8 alone
  context.require_int("precision", 0);
  TOCSIN_ASSIGN_OR_RETURN(const ScaleMap map, scale_map(context));
  TOCSIN_ASSIGN_OR_RETURN(const DataType type, quantized_type(context));
  return with_number_type(type, [&]<typename T>() -> Result<PlannedNode> {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) return plan_quantize_as<T>(context, map);
    return unsupported_type(data_type_of<T>());
  });
}

Result<PlannedNode> plan_dequantize_linear(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(check_scale(context));
  const DataType type = context.input(0).type;
  if (context.has_input(2) && context.input(2).type != type)
    return invalid("its zero point must have the type of its input");
  context.require_int("output_dtype", 0);
  TOCSIN_ASSIGN_OR_RETURN(const ScaleMap map, scale_map(context));
  return with_number_type(type, [&]<typename T>() -> Result<PlannedNode> {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4)
      return plan_dequantize_as<T>(context, map);
    return unsupported_type(data_type_of<T>());
  });
}

// The range is widened to hold 0, so that 0 has an exact integer.
Result<PlannedNode> plan_dynamic_quantize_linear(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned;
  planned.outputs.push_back({DataType::kUint8, context.input(0).shape, {}, {}});
  planned.outputs.push_back({DataType::kFloat32, {}, {}, {}});
  planned.outputs.push_back({DataType::kUint8, {}, {}, {}});
  planned.kernel = [count](const Buffers& buffers) {
    const float* x = buffers.input<float>(0);
    float least = 0;
    float most = 0;
    for (std::size_t i = 0; i < count; ++i) {
      least = x[i] < least ? x[i] : least;
      most = x[i] > most ? x[i] : most;
    }
    const float scale = (most - least) / 255.0F;
    const auto zero_point = quantized<std::uint8_t>(scale > 0.0F ? -least / scale : 0.0F, 0);
    if (buffers.outputs[0] != nullptr)
      for (std::size_t i = 0; i < count; ++i)
        buffers.output<std::uint8_t>(0)[i] =
            quantized<std::uint8_t>(scale > 0.0F ? x[i] / scale : 0.0F, zero_point);
    if (buffers.outputs.size() > 1 && buffers.outputs[1] != nullptr)
      *buffers.output<float>(1) = scale;
    if (buffers.outputs.size() > 2 && buffers.outputs[2] != nullptr)
      *buffers.output<std::uint8_t>(2) = zero_point;
  };
  return planned;
}

}  // namespace tocsin
