// MaxPool and AveragePool over one or two spatial dimensions; values are taken along the kernel in
// row-major order.
#include <cmath>
#include <cstddef>
#include <limits>

#include "engines/reference/plan_functions.h"
#include "engines/reference/window.h"

namespace tocsin {
namespace {

// Calls take(value) for each input of the window at an output position; returns how many there
// were.
template <typename Take>
std::size_t walk_window(const Window& window, const float* channel, std::size_t position,
                        Take&& take) {
  const std::size_t out0 = position / window.output[1];
  const std::size_t out1 = position % window.output[1];
  std::size_t count = 0;
  for (std::size_t k0 = 0; k0 < window.kernel[0]; ++k0) {
    std::size_t in0 = 0;
    if (!window.locate(0, out0, k0, in0)) continue;
    for (std::size_t k1 = 0; k1 < window.kernel[1]; ++k1) {
      std::size_t in1 = 0;
      if (!window.locate(1, out1, k1, in1)) continue;
      take(channel[in0 * window.input[1] + in1]);
      ++count;
    }
  }
  return count;
}

// Kernel positions at an output position that lie in the input or its declared padding: the divisor
// of an average that counts the padding (ceil_mode may reach beyond it).
std::size_t padded_count(const Window& window, std::size_t position) {
  const std::size_t out[2] = {position / window.output[1], position % window.output[1]};
  std::size_t count = 1;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t end = window.input[d] + window.pad_before[d] + window.pad_after[d];
    std::size_t inside = 0;
    for (std::size_t k = 0; k < window.kernel[d]; ++k)
      if (out[d] * window.stride[d] + k * window.dilation[d] < end) ++inside;
    count *= inside;
  }
  return count;
}

template <typename Pool>
Result<PlannedNode> plan_pool(const NodeContext& context, Pool pool) {
  if (!context.has_attribute("kernel_shape")) return invalid("it has no kernel_shape");
  TOCSIN_ASSIGN_OR_RETURN(const Window window, read_window(context, {}));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32,
                             window_output_shape(window, window.channels, context.input(0).rank()),
                             {},
                             {}});
  planned.kernel = [window, pool](const Buffers& buffers) {
    const std::size_t positions = window.output_count();
    for (std::size_t c = 0; c < window.batch * window.channels; ++c) {
      const float* channel = buffers.input<float>(0) + c * window.input_count();
      float* y = buffers.output<float>(0) + c * positions;
      for (std::size_t i = 0; i < positions; ++i) y[i] = pool(window, channel, i);
    }
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_max_pool(const NodeContext& context) {
  context.require_int("storage_order", 0);
  return plan_pool(context, [](const Window& window, const float* channel, std::size_t position) {
    float most = -std::numeric_limits<float>::infinity();
    walk_window(window, channel, position,
                [&most](float value) { most = most < value || std::isnan(value) ? value : most; });
    return most;
  });
}

Result<PlannedNode> plan_average_pool(const NodeContext& context) {
  const bool counts_padding = context.int_attribute("count_include_pad", 0) != 0;
  return plan_pool(
      context, [counts_padding](const Window& window, const float* channel, std::size_t position) {
        float sum = 0.0F;
        const std::size_t inside =
            walk_window(window, channel, position, [&sum](float value) { sum = sum + value; });
        const std::size_t count = counts_padding ? padded_count(window, position) : inside;
        return sum / static_cast<float>(count);
      });
}

}  // namespace tocsin
