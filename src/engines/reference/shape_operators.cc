// Operators that rename, reshape or state: their outputs are their inputs under another shape, or
// constants of the plan. None of them does any work when the model runs.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

Result<PlannedNode> alias_with(const NodeContext& context, Shape shape) {
  if (shape.size() > kRankMax) return unsupported("its output has more than 8 dimensions");
  const std::optional<std::size_t> count = checked_element_count(shape);
  if (!count || *count != context.input(0).element_count())
    return invalid("shape " + shape_text(context.input(0).shape) + " cannot become " +
                   shape_text(shape));
  PlannedNode planned;
  planned.outputs.push_back({context.input(0).type, std::move(shape), 0, {}});
  return planned;
}

PlannedNode constant_output(Tensor tensor) {
  PlannedNode planned;
  planned.outputs.push_back({tensor.type(), tensor.shape(), {}, std::move(tensor)});
  return planned;
}

// Axes from the attribute (up to opset 12) or from input 1.
Result<std::vector<std::int64_t>> squeeze_axes(const NodeContext& context) {
  if (context.opset() < 13) return context.ints_attribute("axes");
  if (!context.has_input(1)) return std::vector<std::int64_t>();
  return context.constant_ints(1, "axes");
}

Tensor int64_tensor(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), values);
}

}  // namespace

Result<PlannedNode> plan_identity(const NodeContext& context) {
  return alias_with(context, context.input(0).shape);
}

// In inference nothing is dropped.
Result<PlannedNode> plan_dropout(const NodeContext& context) {
  context.ignore_attribute("ratio");
  context.ignore_attribute("seed");
  if (context.has_input(2)) {
    const Operand& training = context.input(2);
    if (training.type != DataType::kBool || training.constant == nullptr ||
        training.element_count() != 1 || training.values<bool>()[0])
      return unsupported("training mode is not supported");
  }
  return alias_with(context, context.input(0).shape);
}

Result<PlannedNode> plan_reshape(const NodeContext& context) {
  const Shape& from = context.input(0).shape;
  TOCSIN_ASSIGN_OR_RETURN(Shape shape, context.constant_ints(1, "shape"));
  const bool zero_is_zero = context.int_attribute("allowzero", 0) != 0;
  std::optional<std::size_t> inferred;
  std::size_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= from.size())
        return invalid("dimension " + std::to_string(i) + " has nothing to copy");
      shape[i] = from[i];
    }
    if (shape[i] == -1) {
      if (inferred) return invalid("more than one dimension is -1 in " + shape_text(shape));
      inferred = i;
    } else if (shape[i] < 0) {
      return invalid("shape " + shape_text(shape) + " has a negative dimension");
    } else {
      const Shape so_far{static_cast<std::int64_t>(known), shape[i]};
      if (!checked_element_count(so_far))
        return invalid("shape " + shape_text(shape) + " is too large");
      known *= static_cast<std::size_t>(shape[i]);
    }
  }
  if (inferred) {
    const std::size_t count = context.input(0).element_count();
    if (known == 0 || count % known != 0)
      return invalid("shape " + shape_text(from) + " cannot become " + shape_text(shape));
    shape[*inferred] = static_cast<std::int64_t>(count / known);
  }
  return alias_with(context, std::move(shape));
}

Result<PlannedNode> plan_flatten(const NodeContext& context) {
  const Shape& from = context.input(0).shape;
  const std::int64_t axis = context.int_attribute("axis", 1);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank)
    return invalid("axis " + std::to_string(axis) + " is outside rank " + std::to_string(rank));
  const auto split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  Shape shape{1, 1};
  for (std::size_t i = 0; i < from.size(); ++i) shape[i < split ? 0 : 1] *= from[i];
  return alias_with(context, std::move(shape));
}

Result<PlannedNode> plan_squeeze(const NodeContext& context) {
  const Shape& from = context.input(0).shape;
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes, squeeze_axes(context));
  std::vector<bool> dropped(from.size(), false);
  for (const std::int64_t axis : axes) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t index, NodeContext::axis_of(axis, from.size()));
    if (from[index] != 1)
      return invalid("dimension " + std::to_string(index) + " of " + shape_text(from) +
                     " is not 1");
    dropped[index] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!(dropped[i] || (axes.empty() && from[i] == 1))) shape.push_back(from[i]);
  return alias_with(context, std::move(shape));
}

Result<PlannedNode> plan_unsqueeze(const NodeContext& context) {
  const Shape& from = context.input(0).shape;
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes, squeeze_axes(context));
  const std::size_t rank = from.size() + axes.size();
  if (rank > kRankMax) return unsupported("its output has more than 8 dimensions");
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : axes) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t index, NodeContext::axis_of(axis, rank));
    if (added[index]) return invalid("axis " + std::to_string(axis) + " is named twice");
    added[index] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : from[next++]);
  return alias_with(context, std::move(shape));
}

Result<PlannedNode> plan_shape(const NodeContext& context) {
  const Shape& from = context.input(0).shape;
  const auto rank = static_cast<std::int64_t>(from.size());
  const auto bounded = [rank](std::int64_t position) {
    return std::clamp<std::int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  const std::int64_t start = bounded(context.int_attribute("start", 0));
  const std::int64_t end = bounded(context.int_attribute("end", rank));
  std::vector<std::int64_t> values;
  for (std::int64_t i = start; i < end; ++i) values.push_back(from[static_cast<std::size_t>(i)]);
  const auto count = static_cast<std::int64_t>(values.size());
  return constant_output(int64_tensor({count}, values));
}

Result<PlannedNode> plan_size(const NodeContext& context) {
  const auto count = static_cast<std::int64_t>(context.input(0).element_count());
  return constant_output(int64_tensor({}, {count}));
}

Result<PlannedNode> plan_constant(const NodeContext& context) {
  if (const Tensor* value = context.tensor_attribute("value"); value != nullptr)
    return constant_output(*value);
  if (context.has_attribute("value_float"))
    return constant_output(
        Tensor::of<float>({}, std::vector<float>{context.float_attribute("value_float", 0)}));
  if (context.has_attribute("value_int"))
    return constant_output(int64_tensor({}, {context.int_attribute("value_int", 0)}));
  if (context.has_attribute("value_ints")) {
    const std::vector<std::int64_t> values = context.ints_attribute("value_ints");
    const auto count = static_cast<std::int64_t>(values.size());
    return constant_output(int64_tensor({count}, values));
  }
  const Attribute* floats = context.node().find_attribute("value_floats");
  if (floats != nullptr && std::holds_alternative<std::vector<float>>(floats->value)) {
    context.ignore_attribute("value_floats");
    const auto& values = std::get<std::vector<float>>(floats->value);
    return constant_output(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
  }
  return unsupported("it has no value of a supported kind");
}

Result<PlannedNode> plan_constant_of_shape(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const Shape shape, context.constant_ints(0, "shape"));
  const Tensor* value = context.tensor_attribute("value");
  const Tensor zero(DataType::kFloat32, {1});
  const Tensor& fill = value != nullptr ? *value : zero;
  const std::optional<std::size_t> count = checked_element_count(shape);
  if (!count || shape.size() > kRankMax)
    return invalid("shape " + shape_text(shape) + " is negative or too large");
  if (fill.element_count() != 1) return invalid("its value must have one element");
  // The values are not written here but by the kernel: the limits of the plan are checked in
  // between.
  PlannedNode planned;
  planned.outputs.push_back({fill.type(), shape, {}, {}});
  planned.kernel = [fill, count = *count](const Buffers& buffers) {
    const std::size_t size = data_type_size_bytes(fill.type());
    auto* y = buffers.output<std::byte>(0);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(static_cast<const std::byte*>(fill.data()), size, y + i * size);
  };
  return planned;
}

}  // namespace tocsin
