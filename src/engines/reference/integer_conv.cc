// ConvInteger and QLinearConv: exact sums of products of 8-bit integers; padding is the input's
// zero point, so it adds nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engines/reference/integer_types.h"
#include "engines/reference/plan_functions.h"
#include "engines/reference/window.h"

namespace tocsin {
namespace {

// Indices of the inputs, which the two operators have in different places.
struct ConvInputs {
  std::size_t w = 1, x_zero_point = 2, w_zero_point = 3;
};

struct IntegerConv {
  Window window;
  DataType x_type = DataType::kUint8, w_type = DataType::kUint8;
  ConvInputs inputs;
  bool has_x_zero_point = false, has_w_zero_point = false;
  bool w_zero_point_per_channel = false;
  std::size_t groups = 1, group_channels = 1, outputs = 1;  // outputs of all groups

  std::int32_t w_zero_of(const Buffers& buffers, std::size_t output) const noexcept {
    if (!has_w_zero_point) return 0;
    return integer_at(w_type, buffers.inputs[inputs.w_zero_point],
                      w_zero_point_per_channel ? output : 0);
  }

  // The sum at one output position, of output channel `output`.
  std::int32_t sum(const Buffers& buffers, std::size_t image, std::size_t output,
                   std::size_t position) const noexcept {
    const void* x = buffers.inputs[0];
    const std::int32_t x_zero =
        has_x_zero_point ? integer_at(x_type, buffers.inputs[inputs.x_zero_point], 0) : 0;
    const std::int32_t w_zero = w_zero_of(buffers, output);
    const std::size_t first_channel = output / (outputs / groups) * group_channels;
    std::size_t weight = output * group_channels * window.kernel_count();
    std::uint32_t total = 0;
    for (std::size_t c = 0; c < group_channels; ++c) {
      const std::size_t plane =
          (image * window.channels + first_channel + c) * window.input_count();
      for (std::size_t k0 = 0; k0 < window.kernel[0]; ++k0) {
        for (std::size_t k1 = 0; k1 < window.kernel[1]; ++k1, ++weight) {
          std::size_t in0 = 0;
          std::size_t in1 = 0;
          if (!window.locate(0, position / window.output[1], k0, in0)) continue;
          if (!window.locate(1, position % window.output[1], k1, in1)) continue;
          const std::int32_t value =
              integer_at(x_type, x, plane + in0 * window.input[1] + in1) - x_zero;
          const std::int32_t factor = integer_at(w_type, buffers.inputs[inputs.w], weight) - w_zero;
          total += static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(factor);
        }
      }
    }
    return static_cast<std::int32_t>(total);
  }

  // Calls write(index of the output value, output channel, sum) for each of them.
  template <typename Write>
  void run(const Buffers& buffers, Write&& write) const {
    const std::size_t positions = window.output_count();
    for (std::size_t image = 0; image < window.batch; ++image)
      for (std::size_t output = 0; output < outputs; ++output)
        for (std::size_t i = 0; i < positions; ++i)
          write((image * outputs + output) * positions + i, output, sum(buffers, image, output, i));
  }
};

Result<IntegerConv> read_conv(const NodeContext& context, const ConvInputs& inputs) {
  const Operand& x = context.input(0);
  const Operand& w = context.input(inputs.w);
  if (!is_8_bit(x.type) || !is_8_bit(w.type)) return invalid("X and W must be int8 or uint8");
  if (w.rank() != x.rank() || w.rank() < 3)
    return invalid("X is " + shape_text(x.shape) + ", W is " + shape_text(w.shape));
  IntegerConv conv;
  TOCSIN_ASSIGN_OR_RETURN(conv.window,
                          read_window(context, Shape(w.shape.begin() + 2, w.shape.end())));
  const std::int64_t group = context.int_attribute("group", 1);
  if (group < 1 || w.shape[0] < 1 || w.shape[0] % group != 0 || w.shape[1] * group != x.shape[1])
    return invalid("X is " + shape_text(x.shape) + ", W is " + shape_text(w.shape) + ", group is " +
                   std::to_string(group));
  conv.x_type = x.type;
  conv.w_type = w.type;
  conv.inputs = inputs;
  conv.groups = static_cast<std::size_t>(group);
  conv.group_channels = static_cast<std::size_t>(w.shape[1]);
  conv.outputs = static_cast<std::size_t>(w.shape[0]);
  conv.has_x_zero_point = context.has_input(inputs.x_zero_point);
  conv.has_w_zero_point = context.has_input(inputs.w_zero_point);
  if (conv.has_x_zero_point && (context.input(inputs.x_zero_point).type != x.type ||
                                context.input(inputs.x_zero_point).element_count() != 1))
    return invalid("the zero point of X must be one value of its type");
  if (conv.has_w_zero_point) {
    const Operand& zero = context.input(inputs.w_zero_point);
    conv.w_zero_point_per_channel = zero.element_count() != 1;
    if (zero.type != w.type ||
        (conv.w_zero_point_per_channel && zero.element_count() != conv.outputs))
      return invalid("the zero points of W do not fit it");
  }
  return conv;
}

PlannedOutput conv_output(const NodeContext& context, const IntegerConv& conv, DataType type) {
  return {type, window_output_shape(conv.window, conv.outputs, context.input(0).rank()), {}, {}};
}

}  // namespace

Result<PlannedNode> plan_conv_integer(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const IntegerConv conv, read_conv(context, {1, 2, 3}));
  PlannedNode planned;
  planned.outputs.push_back(conv_output(context, conv, DataType::kInt32));
  planned.kernel = [conv](const Buffers& buffers) {
    conv.run(buffers, [&buffers](std::size_t index, std::size_t, std::int32_t sum) {
      buffers.output<std::int32_t>(0)[index] = sum;
    });
  };
  return planned;
}

// y = quantised((sum + B) * (x_scale * w_scale / y_scale), y_zero_point).
Result<PlannedNode> plan_qlinear_conv(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const IntegerConv conv, read_conv(context, {3, 2, 5}));
  for (const std::size_t scale : {1, 4, 6}) TOCSIN_RETURN_IF_ERROR(context.require_float(scale));
  const DataType type = context.input(7).type;
  const bool scale_per_channel = context.input(4).element_count() != 1;
  const bool has_bias = context.has_input(8);
  if (!is_8_bit(type) || context.input(7).element_count() != 1)
    return invalid("the output's zero point must be one int8 or uint8");
  if (context.input(1).element_count() != 1 || context.input(6).element_count() != 1 ||
      (scale_per_channel && context.input(4).element_count() != conv.outputs))
    return invalid("its scales do not fit X, W and Y");
  if (has_bias && (context.input(8).type != DataType::kInt32 ||
                   context.input(8).element_count() != conv.outputs))
    return invalid("its bias must be one int32 a channel");
  PlannedNode planned;
  planned.outputs.push_back(conv_output(context, conv, type));
  planned.kernel = [conv, type, scale_per_channel, has_bias](const Buffers& buffers) {
    const float x_scale = *buffers.input<float>(1);
    const float* w_scale = buffers.input<float>(4);
    const float y_scale = *buffers.input<float>(6);
    const std::int32_t zero_point = integer_at(type, buffers.inputs[7], 0);
    conv.run(buffers, [&](std::size_t index, std::size_t output, std::int32_t sum) {
      const std::int64_t bias = has_bias ? buffers.input<std::int32_t>(8)[output] : 0;
      const float factor = x_scale * w_scale[scale_per_channel ? output : 0] / y_scale;
      store_8_bit(type, buffers.outputs[0], index, static_cast<float>(sum + bias) * factor,
                  zero_point);
    });
  };
  return planned;
}

}  // namespace tocsin
