// Packing of low-precision weights.
#include "kernels/low_precision.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "kernels/half_float.h"

namespace tocsin {
namespace {

constexpr std::size_t padded_to(std::size_t count, std::size_t multiple) noexcept {
  return (count + multiple - 1) / multiple * multiple;
}

float element(const MatrixView& matrix, std::size_t n, std::size_t k) noexcept {
  return matrix.data[n * matrix.output_stride + k * matrix.input_stride];
}

// Calls place(n, k, position) for every element; outputs padded to `lane_outputs`.
template <typename Place>
void for_each_place(const MatrixView& matrix, std::size_t lane_outputs, const Place& place) {
  const std::size_t padded = padded_to(matrix.output_count, lane_outputs);
  for (std::size_t n = 0; n < matrix.output_count; ++n) {
    const std::size_t first = n / kPanelOutputs * kPanelOutputs;
    const std::size_t width = std::min(kPanelOutputs, padded - first);
    for (std::size_t k = 0; k < matrix.input_count; ++k)
      place(n, k, first * matrix.input_count + k * width + (n - first));
  }
}

// Read by the AMX kernel past the last group, times inputs that are zero.
constexpr std::size_t kInt8TailBytes = 16 * kPanelOutputs * kInt8GroupInputs;

}  // namespace

PackedBfloat16Matrix::PackedBfloat16Matrix(const MatrixView& matrix)
    : data_(padded_to(matrix.output_count, kHalfLaneOutputs) * matrix.input_count),
      output_count_(matrix.output_count),
      input_count_(matrix.input_count) {
  for_each_place(matrix, kHalfLaneOutputs, [&](std::size_t n, std::size_t k, std::size_t position) {
    const std::size_t lane = n % kHalfLaneOutputs;
    const std::size_t paired = lane % 16 * 2 + lane / 16;
    data_[position - lane + paired] = to_bfloat16(element(matrix, n, k));
  });
}

PackedFloat16Matrix::PackedFloat16Matrix(const MatrixView& matrix)
    : data_(padded_to(matrix.output_count, kHalfLaneOutputs) * matrix.input_count),
      output_count_(matrix.output_count),
      input_count_(matrix.input_count) {
  for_each_place(matrix, kHalfLaneOutputs, [&](std::size_t n, std::size_t k, std::size_t position) {
    data_[position] = to_float16(element(matrix, n, k));
  });
}

PackedInt8Matrix::PackedInt8Matrix(const MatrixView& matrix, Scales scales)
    : output_count_(matrix.output_count),
      input_count_(matrix.input_count),
      data_(padded_to(matrix.output_count, kLaneOutputs) *
                padded_to(matrix.input_count, kInt8GroupInputs) +
            kInt8TailBytes),
      offset_correction_(padded_to(matrix.output_count, kLaneOutputs)),
      weight_scales_(matrix.output_count, 0.0F) {
  TOCSIN_ASSERT(matrix.input_count <= kInt8InputCountMax);
  float largest_of_all = 0;
  for (std::size_t n = 0; n < output_count_; ++n) {
    float largest = 0;
    for (std::size_t k = 0; k < input_count_; ++k)
      largest = std::max(largest, std::fabs(element(matrix, n, k)));
    weight_scales_[n] = largest;
    largest_of_all = std::max(largest_of_all, largest);
  }
  for (float& scale : weight_scales_) {
    if (scales == Scales::kPerMatrix) scale = largest_of_all;
    scale = scale / 127.0F;
    if (!(scale > 0)) scale = 1.0F;
  }
  const std::size_t groups = padded_to(input_count_, kInt8GroupInputs) / kInt8GroupInputs;
  const std::size_t padded = padded_to(output_count_, kLaneOutputs);
  for (std::size_t n = 0; n < output_count_; ++n) {
    const std::size_t first = n / kPanelOutputs * kPanelOutputs;
    const std::size_t width = std::min(kPanelOutputs, padded - first);
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < input_count_; ++k) {
      const float rounded = std::nearbyint(element(matrix, n, k) / weight_scales_[n]);
      const auto q = static_cast<std::int8_t>(std::clamp(rounded, -127.0F, 127.0F));
      const std::size_t group = first * groups + k / kInt8GroupInputs * width + (n - first);
      data_[group * kInt8GroupInputs + k % kInt8GroupInputs] = q;
      sum += q;
    }
    offset_correction_[n] = -128 * sum;
  }
}

}  // namespace tocsin
