// Softmax, LogSoftmax, LayerNormalization and BatchNormalization.
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// A tensor seen as [outer, count, inner] around an axis.
struct AxisView {
  std::size_t outer = 1, count = 1, inner = 1;
};

AxisView around_axis(const Shape& shape, std::size_t first, std::size_t end) {
  AxisView view;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<std::size_t>(shape[i]);
    if (i < first)
      view.outer *= size;
    else if (i < end)
      view.count *= size;
    else
      view.inner *= size;
  }
  return view;
}

Result<PlannedNode> plan_softmax_as(const NodeContext& context, bool logarithmic) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  // Up to opset 12 everything from the axis on was one vector.
  const bool coerces = context.opset() < 13;
  const std::int64_t axis_attribute = context.int_attribute("axis", coerces ? 1 : -1);
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, x.shape, {}, {}});
  AxisView view;
  if (x.rank() > 0) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis, NodeContext::axis_of(axis_attribute, x.rank()));
    view = around_axis(x.shape, axis, coerces ? x.rank() : axis + 1);
  }
  planned.kernel = [view, logarithmic](const Buffers& buffers) {
    SoftmaxCall call;
    call.count = view.count;
    call.logarithmic = logarithmic;
    // The rows are those along the axis: outer ones where it is the last, else the inner ones.
    const bool is_last = view.inner == 1;
    call.stride = view.inner;
    call.row_count = is_last ? view.outer : view.inner;
    call.row_stride = is_last ? view.count : 1;
    const std::size_t block_count = is_last ? 1 : view.outer;
    for (std::size_t block = 0; block < block_count; ++block) {
      call.x = buffers.input<float>(0) + block * view.count * view.inner;
      call.y = buffers.output<float>(0) + block * view.count * view.inner;
      kernels().softmax(call);
    }
  };
  return planned;
}

Status require_length(const NodeContext& context, std::size_t index, std::size_t length) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(index));
  if (context.input(index).element_count() == length) return {};
  return invalid("input " + std::to_string(index) + " has shape " +
                 shape_text(context.input(index).shape) + ", expected " + std::to_string(length) +
                 " values");
}

// With all four constant: (x - mean) * factor + bias, each channel's factor computed here.
std::optional<PlannedNode> constant_batch_normalization(const NodeContext& context,
                                                        const AxisView& view, float epsilon) {
  for (std::size_t i = 1; i <= 4; ++i)
    if (context.input(i).constant == nullptr) return {};
  const auto scale = context.input(1).values<float>();
  const auto variance = context.input(4).values<float>();
  std::vector<float> factors;
  for (std::size_t c = 0; c < view.count; ++c)
    factors.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
  const OperandPattern channels{view.inner, view.count};
  PointwiseTerm factor;
  factor.operation = PointwiseOperation::kMultiply;
  factor.source = PointwiseTerm::Source::kValues;
  factor.values = std::make_shared<const std::vector<float>>(std::move(factors));
  factor.pattern = channels;
  const Shape& shape = context.input(0).shape;
  return planned_pointwise(shape, {context.input(0).element_count(),
                                   0,
                                   {input_term(PointwiseOperation::kSubtract, 3, channels), factor,
                                    input_term(PointwiseOperation::kAdd, 2, channels)},
                                   0});
}

}  // namespace

Result<PlannedNode> plan_softmax(const NodeContext& context) {
  return plan_softmax_as(context, false);
}
Result<PlannedNode> plan_log_softmax(const NodeContext& context) {
  return plan_softmax_as(context, true);
}

Result<PlannedNode> plan_layer_normalization(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  context.require_int("stash_type", 1);
  const float epsilon = context.float_attribute("epsilon", 1e-5F);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", -1), x.rank()));
  const AxisView view = around_axis(x.shape, axis, x.rank());
  TOCSIN_RETURN_IF_ERROR(require_length(context, 1, view.count));
  if (context.has_input(2)) TOCSIN_RETURN_IF_ERROR(require_length(context, 2, view.count));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, x.shape, {}, {}});
  Shape reduced = x.shape;
  for (std::size_t i = axis; i < reduced.size(); ++i) reduced[i] = 1;
  for (std::size_t i = 1; i < context.output_count(); ++i)
    planned.outputs.push_back({DataType::kFloat32, reduced, {}, {}});
  const bool has_bias = context.has_input(2);
  planned.kernel = [view, epsilon, has_bias](const Buffers& buffers) {
    const auto statistic = [&buffers](std::size_t index) {
      return index < buffers.outputs.size() ? buffers.output<float>(index) : nullptr;
    };
    LayerNormCall call;
    call.count = view.count;
    call.x = buffers.input<float>(0);
    call.scale = buffers.input<float>(1);
    call.bias = has_bias ? buffers.input<float>(2) : nullptr;
    call.epsilon = epsilon;
    call.y = buffers.output<float>(0);
    call.mean = statistic(1);
    call.inverse_deviation = statistic(2);
    call.row_count = view.outer;
    call.row_stride = view.count;
    kernels().layer_norm(call);
  };
  return planned;
}

Result<PlannedNode> plan_batch_normalization(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  context.ignore_attribute("momentum");
  context.require_int("training_mode", 0);
  context.require_int("spatial", 1);
  const float epsilon = context.float_attribute("epsilon", 1e-5F);
  if (x.rank() < 2) return invalid("its input needs a batch and a channel dimension");
  const AxisView view = around_axis(x.shape, 1, 2);
  for (std::size_t i = 1; i <= 4; ++i)
    TOCSIN_RETURN_IF_ERROR(require_length(context, i, view.count));
  if (std::optional<PlannedNode> planned = constant_batch_normalization(context, view, epsilon))
    return std::move(*planned);
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, x.shape, {}, {}});
  planned.kernel = [view, epsilon](const Buffers& buffers) {
    const float* scale = buffers.input<float>(1);
    const float* bias = buffers.input<float>(2);
    const float* mean = buffers.input<float>(3);
    const float* variance = buffers.input<float>(4);
    for (std::size_t outer = 0; outer < view.outer; ++outer) {
      for (std::size_t c = 0; c < view.count; ++c) {
        const float factor = scale[c] / std::sqrt(variance[c] + epsilon);
        const std::size_t offset = (outer * view.count + c) * view.inner;
        const float* values = buffers.input<float>(0) + offset;
        float* y = buffers.output<float>(0) + offset;
        for (std::size_t i = 0; i < view.inner; ++i)
          y[i] = (values[i] - mean[c]) * factor + bias[c];
      }
    }
  };
  return planned;
}

}  // namespace tocsin
