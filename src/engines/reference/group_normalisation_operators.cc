// InstanceNormalization, GroupNormalization, RMSNormalization and LpNormalization: rows divided by
// a measure of themselves. The first two are rows of the layer_norm kernel, scaled by channel.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

PlannedNode float_like_input(const NodeContext& context) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, context.input(0).shape, {}, {}});
  return planned;
}

// [batch, channels, ...] with rows of `channels_per_row` channels.
struct ChannelRows {
  std::size_t rows = 0, channels_per_row = 0, groups = 0;
  std::size_t inner = 0;               // elements of a channel
  std::size_t channels_per_scale = 1;  // 1, or a group's where scale and bias are one a group
  float epsilon = 0;

  std::size_t width() const noexcept { return channels_per_row * inner; }
};

// Each row with its channels' scale and bias spread over their elements.
PlannedNode plan_channel_rows(const NodeContext& context, const ChannelRows& rows) {
  PlannedNode planned = float_like_input(context);
  planned.scratch_bytes = 2 * rows.width() * sizeof(float);
  planned.kernel = [rows](const Buffers& buffers) {
    const std::size_t width = rows.width();
    auto* scale = reinterpret_cast<float*>(buffers.scratch);
    float* bias = scale + width;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const std::size_t first_channel = row % rows.groups * rows.channels_per_row;
      for (std::size_t c = 0; c < rows.channels_per_row; ++c) {
        const std::size_t place = (first_channel + c) / rows.channels_per_scale;
        std::fill_n(scale + c * rows.inner, rows.inner, buffers.input<float>(1)[place]);
        std::fill_n(bias + c * rows.inner, rows.inner, buffers.input<float>(2)[place]);
      }
      LayerNormCall call;
      call.count = width;
      call.x = buffers.input<float>(0) + row * width;
      call.scale = scale;
      call.bias = bias;
      call.epsilon = rows.epsilon;
      call.y = buffers.output<float>(0) + row * width;
      call.row_stride = width;
      kernels().layer_norm(call);
    }
  };
  return planned;
}

// Input 0 as rows of a `groups`-th of its channels; inputs 1 and 2 must have `scales` values.
Result<PlannedNode> plan_groups(const NodeContext& context, std::size_t groups,
                                std::size_t scales) {
  const Operand& x = context.input(0);
  const auto channels = static_cast<std::size_t>(x.shape[1]);
  for (std::size_t i = 0; i < 3; ++i) TOCSIN_RETURN_IF_ERROR(context.require_float(i));
  for (std::size_t i = 1; i < 3; ++i)
    if (context.input(i).element_count() != scales)
      return invalid("input " + std::to_string(i) + " has shape " +
                     shape_text(context.input(i).shape) + ", expected " + std::to_string(scales) +
                     " values");
  if (groups == 0 || channels % groups != 0)
    return invalid(std::to_string(channels) + " channels do not divide into " +
                   std::to_string(groups) + " groups");
  ChannelRows rows;
  rows.groups = groups;
  rows.rows = static_cast<std::size_t>(x.shape[0]) * groups;
  rows.channels_per_row = channels / groups;
  rows.inner = element_count_of(x.shape, 2, x.rank());
  rows.channels_per_scale = scales == channels ? 1 : channels / scales;
  rows.epsilon = context.float_attribute("epsilon", 1e-5F);
  return plan_channel_rows(context, rows);
}

// A tensor seen as [outer, count, inner] around an axis.
struct NormShape {
  std::size_t outer = 1, count = 1, inner = 1;
  bool is_absolute = false;
};

float norm_of(const NormShape& shape, const float* x) noexcept {
  float total = 0.0F;
  for (std::size_t first = 0; first < shape.count; first += kSumBlock) {
    float block = 0.0F;
    for (std::size_t i = first; i < std::min(first + kSumBlock, shape.count); ++i) {
      const float value = x[i * shape.inner];
      block = shape.is_absolute ? block + std::fabs(value) : std::fma(value, value, block);
    }
    total += block;
  }
  return shape.is_absolute ? total : std::sqrt(total);
}

}  // namespace

Result<PlannedNode> plan_instance_normalization(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.rank() < 3) return invalid("its input needs batch, channel and spatial dimensions");
  const auto channels = static_cast<std::size_t>(x.shape[1]);
  return plan_groups(context, channels, channels);
}

// Up to opset 20 scale and bias were one a group.
Result<PlannedNode> plan_group_normalization(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.rank() < 2) return invalid("its input needs a batch and a channel dimension");
  context.require_int("stash_type", 1);
  const std::int64_t groups = context.int_attribute("num_groups", 0);
  if (groups < 1 || groups > x.shape[1])
    return invalid("num_groups must be 1 to " + std::to_string(x.shape[1]));
  const auto count = static_cast<std::size_t>(groups);
  return plan_groups(context, count,
                     context.opset() < 21 ? count : static_cast<std::size_t>(x.shape[1]));
}

// y = x * (1 / sqrt(mean(x^2) + epsilon)) * scale, the scale broadcast over the normalised axes.
Result<PlannedNode> plan_rms_normalization(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  context.require_int("stash_type", 1);
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", -1), x.rank()));
  const std::size_t rows = element_count_of(x.shape, 0, axis);
  const std::size_t width = element_count_of(x.shape, axis, x.rank());
  if (context.input(1).element_count() != width)
    return unsupported("a scale of shape " + shape_text(context.input(1).shape) + " for rows of " +
                       std::to_string(width) + " values is not supported");
  const float epsilon = context.float_attribute("epsilon", 1e-5F);
  PlannedNode planned = float_like_input(context);
  planned.kernel = [rows, width, epsilon](const Buffers& buffers) {
    const float* scale = buffers.input<float>(1);
    for (std::size_t row = 0; row < rows; ++row) {
      const float* values = buffers.input<float>(0) + row * width;
      float* y = buffers.output<float>(0) + row * width;
      float total = 0.0F;
      for (std::size_t first = 0; first < width; first += kSumBlock) {
        float block = 0.0F;
        for (std::size_t i = first; i < std::min(first + kSumBlock, width); ++i)
          block = std::fma(values[i], values[i], block);
        total += block;
      }
      const float factor = 1.0F / std::sqrt(total / static_cast<float>(width) + epsilon);
      for (std::size_t i = 0; i < width; ++i) y[i] = values[i] * factor * scale[i];
    }
  };
  return planned;
}

// Where the norm is 0 the result is 0.
Result<PlannedNode> plan_lp_normalization(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  const std::int64_t p = context.int_attribute("p", 2);
  if (p != 1 && p != 2) return invalid("p must be 1 or 2");
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", -1), x.rank()));
  NormShape shape{element_count_of(x.shape, 0, axis), static_cast<std::size_t>(x.shape[axis]),
                  element_count_of(x.shape, axis + 1, x.rank()), p == 1};
  PlannedNode planned = float_like_input(context);
  planned.kernel = [shape](const Buffers& buffers) {
    for (std::size_t row = 0; row < shape.outer * shape.inner; ++row) {
      const std::size_t start = row / shape.inner * shape.count * shape.inner + row % shape.inner;
      const float* values = buffers.input<float>(0) + start;
      float* y = buffers.output<float>(0) + start;
      const float norm = norm_of(shape, values);
      for (std::size_t i = 0; i < shape.count; ++i)
        y[i * shape.inner] = norm == 0.0F ? 0.0F : values[i * shape.inner] / norm;
    }
  };
  return planned;
}

}  // namespace tocsin
