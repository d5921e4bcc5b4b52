// MaxPool, AveragePool and LpPool over one or two spatial dimensions; values are taken along the
// kernel in row-major order.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"
#include "engines/reference/window.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// Calls take(value, index in the channel) for each input of the window at an output position;
// returns how many there were.
template <typename T, typename Take>
std::size_t walk_window(const Window& window, const T* channel, std::size_t position, Take&& take) {
  const std::size_t out0 = position / window.output[1];
  const std::size_t out1 = position % window.output[1];
  std::size_t count = 0;
  for (std::size_t k0 = 0; k0 < window.kernel[0]; ++k0) {
    std::size_t in0 = 0;
    if (!window.locate(0, out0, k0, in0)) continue;
    for (std::size_t k1 = 0; k1 < window.kernel[1]; ++k1) {
      std::size_t in1 = 0;
      if (!window.locate(1, out1, k1, in1)) continue;
      const std::size_t index = in0 * window.input[1] + in1;
      take(channel[index], index);
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

Result<Window> read_pool_window(const NodeContext& context) {
  if (!context.has_attribute("kernel_shape")) return invalid("it has no kernel_shape");
  return read_window(context, {});
}

Shape pool_shape(const NodeContext& context, const Window& window) {
  return window_output_shape(window, window.channels, context.input(0).rank());
}

template <typename Pool>
Result<PlannedNode> plan_pool(const NodeContext& context, Pool pool) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_ASSIGN_OR_RETURN(const Window window, read_pool_window(context));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, pool_shape(context, window), {}, {}});
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

template <typename T>
bool is_above(T value, T most) noexcept {
  if constexpr (std::is_floating_point_v<T>) return most < value || std::isnan(value);
  return most < value;
}

// The dimension along which windows slide by one, if there is no other one.
std::optional<std::size_t> sliding_dimension(const Window& window) {
  const bool is_flat = window.input[0] == 1 && window.kernel[0] == 1 && window.output[0] == 1;
  const bool is_tall = window.input[1] == 1 && window.kernel[1] == 1 && window.output[1] == 1;
  if (is_flat && window.stride[1] == 1) return 1;
  if (is_tall && window.stride[0] == 1) return 0;
  return {};
}

// All windows of a channel at once, one place of the kernel after the other: the same comparisons
// in the same order for each window.
template <typename T>
void slide_max(const Window& window, std::size_t d, const T* channel, T lowest, T* y) {
  std::fill_n(y, window.output[d], lowest);
  for (std::size_t k = 0; k < window.kernel[d]; ++k) {
    const std::size_t shift = k * window.dilation[d];
    const std::size_t pad = window.pad_before[d];
    const std::size_t begin = pad > shift ? pad - shift : 0;
    const std::size_t end = std::min(
        window.output[d], window.input[d] + pad > shift ? window.input[d] + pad - shift : 0);
    for (std::size_t i = begin; i < end; ++i) {
      const T value = channel[i + shift - pad];
      y[i] = is_above(value, y[i]) ? value : y[i];
    }
  }
}

// An index as the standard counts it: over the whole input, the last dimension first or, with
// storage_order 1, last.
std::int64_t pool_index(const Window& window, bool column_major, std::size_t channel,
                        std::size_t index) {
  if (column_major) index = index % window.input[1] * window.input[0] + index / window.input[1];
  return static_cast<std::int64_t>(channel * window.input_count() + index);
}

template <typename T>
Result<PlannedNode> plan_max_pool_as(const NodeContext& context, const Window& window) {
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<T>(), pool_shape(context, window), {}, {}});
  if (context.output_count() > 1)
    planned.outputs.push_back({DataType::kInt64, pool_shape(context, window), {}, {}});
  const bool column_major = context.int_attribute("storage_order", 0) != 0;
  planned.kernel = [window, column_major,
                    sliding = sliding_dimension(window)](const Buffers& buffers) {
    const std::size_t positions = window.output_count();
    T* y = buffers.output<T>(0);
    std::int64_t* indices = buffers.outputs.size() > 1 ? buffers.output<std::int64_t>(1) : nullptr;
    T lowest = std::numeric_limits<T>::lowest();
    if constexpr (std::is_floating_point_v<T>) lowest = -std::numeric_limits<T>::infinity();
    for (std::size_t c = 0; c < window.batch * window.channels; ++c) {
      const T* channel = buffers.input<T>(0) + c * window.input_count();
      if (sliding && indices == nullptr) {
        slide_max(window, *sliding, channel, lowest, y + c * positions);
        continue;
      }
      for (std::size_t i = 0; i < positions; ++i) {
        T most = lowest;
        std::size_t place = 0;
        bool is_first = true;
        walk_window(window, channel, i, [&](T value, std::size_t index) {
          if (!is_first && !is_above(value, most)) return;
          is_first = false;
          most = value;
          place = index;
        });
        if (y != nullptr) y[c * positions + i] = most;
        if (indices != nullptr)
          indices[c * positions + i] = pool_index(window, column_major, c, place);
      }
    }
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_max_pool(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const Window window, read_pool_window(context));
  switch (context.input(0).type) {
    case DataType::kFloat32:
      return plan_max_pool_as<float>(context, window);
    case DataType::kUint8:
      return plan_max_pool_as<std::uint8_t>(context, window);
    case DataType::kInt8:
      return plan_max_pool_as<std::int8_t>(context, window);
    default:
      return unsupported_type(context.input(0).type);
  }
}

Result<PlannedNode> plan_average_pool(const NodeContext& context) {
  const bool counts_padding = context.int_attribute("count_include_pad", 0) != 0;
  return plan_pool(
      context, [counts_padding](const Window& window, const float* channel, std::size_t position) {
        float sum = 0.0F;
        const std::size_t inside = walk_window(
            window, channel, position, [&sum](float value, std::size_t) { sum = sum + value; });
        const std::size_t count = counts_padding ? padded_count(window, position) : inside;
        return sum / static_cast<float>(count);
      });
}

// The p-th root of the sum of the p-th powers of the absolute values, p being 1 or 2.
Result<PlannedNode> plan_lp_pool(const NodeContext& context) {
  const std::int64_t p = context.int_attribute("p", 2);
  if (p != 1 && p != 2) return unsupported("p = " + std::to_string(p) + " is not supported");
  return plan_pool(context, [p](const Window& window, const float* channel, std::size_t position) {
    float sum = 0.0F;
    walk_window(window, channel, position, [&sum, p](float value, std::size_t) {
      sum = p == 1 ? sum + std::fabs(value) : std::fma(value, value, sum);
    });
    return p == 1 ? sum : std::sqrt(sum);
  });
}

}  // namespace tocsin
