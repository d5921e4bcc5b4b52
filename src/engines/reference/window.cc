// Attributes of sliding windows, checked.
#include "engines/reference/window.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tocsin {
namespace {

constexpr std::int64_t kExtentMax = 1024;  // of kernels, strides, dilations and pads

// The attribute's values in the last `spatial` of two places.
Status read_pair(const NodeContext& context, const char* name, std::size_t spatial,
                 std::array<std::size_t, 2>& pair) {
  const std::vector<std::int64_t> values = context.ints_attribute(name);
  if (values.empty()) return {};
  if (values.size() != spatial)
    return invalid(std::string(name) + " has " + std::to_string(values.size()) +
                   " values, expected " + std::to_string(spatial));
  for (std::size_t i = 0; i < spatial; ++i) {
    if (values[i] < 1 || values[i] > kExtentMax)
      return invalid(std::string(name) + " has the value " + std::to_string(values[i]));
    pair[2 - spatial + i] = static_cast<std::size_t>(values[i]);
  }
  return {};
}

Status read_pads(const NodeContext& context, std::size_t spatial, Window& window) {
  const std::vector<std::int64_t> pads = context.ints_attribute("pads");
  if (pads.empty()) return {};
  if (pads.size() != 2 * spatial)
    return invalid("pads has " + std::to_string(pads.size()) + " values");
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[spatial + i];
    if (before < 0 || after < 0 || before > kExtentMax || after > kExtentMax)
      return unsupported("negative or very large pads are not supported");
    window.pad_before[2 - spatial + i] = static_cast<std::size_t>(before);
    window.pad_after[2 - spatial + i] = static_cast<std::size_t>(after);
  }
  return {};
}

std::size_t extent(const Window& window, std::size_t d) {
  return (window.kernel[d] - 1) * window.dilation[d] + 1;
}

// SAME: as many outputs as ceil(input / stride), the padding split in halves.
void pad_to_same(Window& window, bool upper) {
  for (std::size_t d = 0; d < 2; ++d) {
    window.output[d] = (window.input[d] + window.stride[d] - 1) / window.stride[d];
    const std::size_t needed =
        window.output[d] == 0 ? 0 : (window.output[d] - 1) * window.stride[d] + extent(window, d);
    const std::size_t padding = needed > window.input[d] ? needed - window.input[d] : 0;
    const std::size_t smaller_half = padding / 2;
    window.pad_before[d] = upper ? smaller_half : padding - smaller_half;
    window.pad_after[d] = padding - window.pad_before[d];
  }
}

Status count_outputs(Window& window, bool rounds_up) {
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t padded = window.input[d] + window.pad_before[d] + window.pad_after[d];
    const std::size_t reach = extent(window, d);
    if (padded < reach)
      return invalid("a kernel of " + std::to_string(reach) + " does not fit into " +
                     std::to_string(padded));
    const std::size_t rest = padded - reach;
    window.output[d] = (rounds_up ? rest + window.stride[d] - 1 : rest) / window.stride[d] + 1;
    // The last window must begin inside the input or the padding before it.
    if (rounds_up &&
        (window.output[d] - 1) * window.stride[d] >= window.input[d] + window.pad_before[d])
      --window.output[d];
  }
  return {};
}

}  // namespace

Result<Window> read_window(const NodeContext& context, const Shape& kernel) {
  const Operand& x = context.input(0);
  if (x.rank() != 3 && x.rank() != 4)
    return unsupported("only one or two spatial dimensions are supported, X is " +
                       shape_text(x.shape));
  const std::size_t spatial = x.rank() - 2;
  Window window;
  window.batch = static_cast<std::size_t>(x.shape[0]);
  window.channels = static_cast<std::size_t>(x.shape[1]);
  for (std::size_t i = 0; i < spatial; ++i) {
    window.input[2 - spatial + i] = static_cast<std::size_t>(x.shape[2 + i]);
    if (!kernel.empty()) {
      if (kernel[i] < 1 || kernel[i] > kExtentMax)
        return invalid("its kernel is empty or too large");
      window.kernel[2 - spatial + i] = static_cast<std::size_t>(kernel[i]);
    }
  }
  const std::array<std::size_t, 2> kernel_of_weights = window.kernel;
  TOCSIN_RETURN_IF_ERROR(read_pair(context, "kernel_shape", spatial, window.kernel));
  if (!kernel.empty() && window.kernel != kernel_of_weights)
    return invalid("kernel_shape does not fit its weights");
  TOCSIN_RETURN_IF_ERROR(read_pair(context, "strides", spatial, window.stride));
  TOCSIN_RETURN_IF_ERROR(read_pair(context, "dilations", spatial, window.dilation));
  TOCSIN_RETURN_IF_ERROR(read_pads(context, spatial, window));
  const bool rounds_up = context.int_attribute("ceil_mode", 0) != 0;
  const std::string auto_pad = context.string_attribute("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_to_same(window, auto_pad == "SAME_UPPER");
  } else if (auto_pad == "NOTSET" || auto_pad == "VALID") {
    if (auto_pad == "VALID") window.pad_before = window.pad_after = {0, 0};
    TOCSIN_RETURN_IF_ERROR(count_outputs(window, rounds_up));
  } else {
    return invalid("auto_pad = '" + auto_pad + "'");
  }
  return window;
}

Shape window_output_shape(const Window& window, std::size_t channels, std::size_t rank) {
  Shape shape{static_cast<std::int64_t>(window.batch), static_cast<std::int64_t>(channels)};
  if (rank == 4) shape.push_back(static_cast<std::int64_t>(window.output[0]));
  shape.push_back(static_cast<std::int64_t>(window.output[1]));
  return shape;
}

}  // namespace tocsin
