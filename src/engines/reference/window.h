// Sliding windows of convolutions and pools over one or two spatial dimensions (one is seen as two,
// the first being 1): attributes, padding, output sizes.
#pragma once

#include <array>
#include <cstddef>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

struct Window {
  std::size_t batch = 0;
  std::size_t channels = 0;
  std::array<std::size_t, 2> input{1, 1};
  std::array<std::size_t, 2> kernel{1, 1};
  std::array<std::size_t, 2> stride{1, 1};
  std::array<std::size_t, 2> dilation{1, 1};
  std::array<std::size_t, 2> pad_before{0, 0};
  std::array<std::size_t, 2> pad_after{0, 0};
  std::array<std::size_t, 2> output{1, 1};

  std::size_t input_count() const noexcept { return input[0] * input[1]; }
  std::size_t kernel_count() const noexcept { return kernel[0] * kernel[1]; }
  std::size_t output_count() const noexcept { return output[0] * output[1]; }

  // The input index at kernel position k of output o along dimension d; false: in the padding.
  bool locate(std::size_t d, std::size_t o, std::size_t k, std::size_t& index) const noexcept {
    const std::size_t padded = o * stride[d] + k * dilation[d];
    index = padded - pad_before[d];
    return padded >= pad_before[d] && index < input[d];
  }
};

// Reads kernel_shape (or takes `kernel`), strides, dilations, pads, auto_pad and, for pools,
// ceil_mode. X is input 0: [batch, channels, width] or [batch, channels, height, width].
Result<Window> read_window(const NodeContext& context, const Shape& kernel);

// [batch, channels, ...output] with the rank of X.
Shape window_output_shape(const Window& window, std::size_t channels, std::size_t rank);

}  // namespace tocsin
