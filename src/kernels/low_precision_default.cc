// The low-precision kernels in plain C++: the twins of all others. Not written for speed.
#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

inline float float_of(std::uint32_t bits) noexcept { return __builtin_bit_cast(float, bits); }

inline float widen_bfloat16(std::uint32_t bits) noexcept { return float_of(bits << 16U); }

inline float widen_float16(std::uint32_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return float_of(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13U));
  if (magnitude >= 0x400U) return float_of(sign | ((magnitude << 13U) + 0x38000000U));
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -value : value;
}

constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

struct Panel {
  std::size_t first = 0;  // output
  std::size_t width = 0;  // padded
};

inline Panel panel_of(std::size_t n, std::size_t output_count, std::size_t lane_outputs) noexcept {
  const std::size_t padded = (output_count + lane_outputs - 1) / lane_outputs * lane_outputs;
  const std::size_t first = n / kPanelOutputs * kPanelOutputs;
  return {first, smaller(kPanelOutputs, padded - first)};
}

template <float (*Widen)(std::uint32_t), typename View>
inline void dense_half(const View& weights, const DenseRows& rows, bool paired) noexcept {
  for (std::size_t n = 0; n < weights.output_count; ++n) {
    const Panel panel = panel_of(n, weights.output_count, kHalfLaneOutputs);
    const std::size_t lane = n % kHalfLaneOutputs;
    const std::size_t place = paired ? n - lane + lane % 16 * 2 + lane / 16 : n;
    const std::uint16_t* w =
        weights.data + panel.first * weights.input_count + (place - panel.first);
    for (std::size_t r = 0; r < rows.row_count; ++r) {
      const float* x = rows.x + r * rows.x_stride;
      float total = rows.bias != nullptr ? rows.bias[r * rows.bias_stride + n] : 0.0F;
      for (std::size_t first = 0; first < weights.input_count; first += kSumBlock) {
        const std::size_t end = smaller(first + kSumBlock, weights.input_count);
        float block = 0.0F;
        for (std::size_t k = first; k < end; ++k)
          block = __builtin_fmaf(Widen(w[k * panel.width]), x[k], block);
        total = total + block;
      }
      rows.y[r * rows.y_stride + n] = total;
    }
  }
}

void dense_bfloat16(const PackedBfloat16View& weights, const DenseRows& rows) noexcept {
  dense_half<widen_bfloat16>(weights, rows, true);
}

void dense_float16(const PackedFloat16View& weights, const DenseRows& rows) noexcept {
  dense_half<widen_float16>(weights, rows, false);
}

void quantise_rows(const QuantiseCall& call) noexcept {
  // Adding it rounds to an integer in the low bits; the sum is exact for |value| <= 127.
  constexpr float kRoundingMagic = 0x1.8p23F;
  for (std::size_t r = 0; r < call.row_count; ++r) {
    const float* x = call.x + r * call.x_stride;
    std::uint8_t* q = call.q + r * call.q_stride;
    for (std::size_t k = 0; k < call.input_count; ++k) {
      float value = x[k] * call.inverse_scale;
      value = value == value ? value : 0.0F;
      value = value < -127.0F ? -127.0F : value;
      value = value > 127.0F ? 127.0F : value;
      const auto rounded = static_cast<std::int32_t>((value + kRoundingMagic) - kRoundingMagic);
      q[k] = static_cast<std::uint8_t>(rounded + 128);
    }
    for (std::size_t k = call.input_count; k < int8_row_bytes(call.input_count); ++k) q[k] = 0;
  }
}

void dense_int8(const Int8DenseCall& call) noexcept {
  const PackedInt8View& weights = call.weights;
  const std::size_t groups = (weights.input_count + kInt8GroupInputs - 1) / kInt8GroupInputs;
  for (std::size_t n = 0; n < weights.output_count; ++n) {
    const Panel panel = panel_of(n, weights.output_count, kLaneOutputs);
    const std::int8_t* w =
        weights.data + (panel.first * groups + (n - panel.first)) * kInt8GroupInputs;
    for (std::size_t r = 0; r < call.row_count; ++r) {
      const std::uint8_t* q = call.q + r * call.q_stride;
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < weights.input_count; ++k) {
        const std::size_t group = k / kInt8GroupInputs * panel.width * kInt8GroupInputs;
        sum += w[group + k % kInt8GroupInputs] * (static_cast<std::int32_t>(q[k]) - 128);
      }
      const float bias = call.bias != nullptr ? call.bias[r * call.bias_stride + n] : 0.0F;
      call.y[r * call.y_stride + n] =
          __builtin_fmaf(static_cast<float>(sum), call.output_scale[n], bias);
    }
  }
}

constexpr LowPrecisionKernels kTable = {
    .dense_bfloat16 = dense_bfloat16,
    .dense_float16 = dense_float16,
    .quantise_rows = quantise_rows,
    .dense_int8 = dense_int8,
};

}  // namespace

const LowPrecisionKernels& default_low_precision() noexcept { return kTable; }

}  // namespace tocsin
