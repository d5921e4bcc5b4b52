// Products with weights in BF16, FP16 and INT8: the layouts, the calls and their definitions, which
// give the same bits on every instruction set. BF16 and FP16 widen exactly and sum in FP32 as dense
// does; INT8 sums are exact integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/packed_matrix.h"

namespace tocsin {

// 16-bit weights in panels of kPanelOutputs outputs, k-major inside, zero-padded to 32 outputs.
inline constexpr std::size_t kHalfLaneOutputs = 32;
// The 32 outputs n of one k stand in the order 0, 16, 1, 17, ... 15, 31: a 32-bit lane holds two.
struct PackedBfloat16View {
  const std::uint16_t* data = nullptr;
  std::size_t output_count = 0;
  std::size_t input_count = 0;
};
// The outputs of one k stand in order.
struct PackedFloat16View {
  const std::uint16_t* data = nullptr;
  std::size_t output_count = 0;
  std::size_t input_count = 0;
};

// INT8 weights in panels of kPanelOutputs outputs, zero-padded to 16; inside, groups of 4
// consecutive k (zero-padded), and in a group 4 bytes an output. Rows of inputs are padded to
// kInt8RowBytes bytes.
inline constexpr std::size_t kInt8GroupInputs = 4;
inline constexpr std::size_t kInt8RowBytes = 64;
// Sums of up to this many products of [-127, 127] fit 32 bits.
inline constexpr std::size_t kInt8InputCountMax = 131'072;
struct PackedInt8View {
  const std::int8_t* data = nullptr;
  // -128 times the sum of an output's weights: what inputs stored as q + 128 add too much.
  const std::int32_t* offset_correction = nullptr;
  std::size_t output_count = 0;
  std::size_t input_count = 0;
};

// Bytes of one row of quantised inputs.
constexpr std::size_t int8_row_bytes(std::size_t input_count) noexcept {
  return (input_count + kInt8RowBytes - 1) / kInt8RowBytes * kInt8RowBytes;
}

// Weights rounded to nearest, ties to even, with their memory.
class PackedBfloat16Matrix {
 public:
  explicit PackedBfloat16Matrix(const MatrixView& matrix);
  PackedBfloat16View view() const noexcept { return {data_.data(), output_count_, input_count_}; }
  std::size_t size_bytes() const noexcept { return data_.size() * sizeof(std::uint16_t); }

 private:
  std::vector<std::uint16_t, PackedAllocator<std::uint16_t>> data_;
  std::size_t output_count_;
  std::size_t input_count_;
};
class PackedFloat16Matrix {
 public:
  explicit PackedFloat16Matrix(const MatrixView& matrix);
  PackedFloat16View view() const noexcept { return {data_.data(), output_count_, input_count_}; }
  std::size_t size_bytes() const noexcept { return data_.size() * sizeof(std::uint16_t); }

 private:
  std::vector<std::uint16_t, PackedAllocator<std::uint16_t>> data_;
  std::size_t output_count_;
  std::size_t input_count_;
};

// Symmetric weights, zero point 0: weights[n, k] ~ weight_scales()[n] * q, q in [-127, 127].
class PackedInt8Matrix {
 public:
  enum class Scales { kPerOutput, kPerMatrix };
  // The scale is the largest magnitude (of the output, or of the matrix) / 127, or 1 if that is 0;
  // q = clamp(round_half_even(w / scale), -127, 127). At most kInt8InputCountMax inputs, all
  // finite.
  PackedInt8Matrix(const MatrixView& matrix, Scales scales);
  PackedInt8View view() const noexcept {
    return {data_.data(), offset_correction_.data(), output_count_, input_count_};
  }
  const std::vector<float>& weight_scales() const noexcept { return weight_scales_; }
  std::size_t size_bytes() const noexcept { return data_.size(); }

 private:
  std::size_t output_count_;
  std::size_t input_count_;
  std::vector<std::int8_t, PackedAllocator<std::int8_t>> data_;
  std::vector<std::int32_t> offset_correction_;
  std::vector<float> weight_scales_;
};

// The rows of a product with low-precision weights; as in DenseCall.
struct DenseRows {
  const float* x = nullptr;  // row r at x + r * x_stride
  std::size_t x_stride = 0;
  std::size_t row_count = 0;
  const float* bias = nullptr;  // row r at bias + r * bias_stride (0: one for all); null: +0
  std::size_t bias_stride = 0;
  float* y = nullptr;  // row r at y + r * y_stride; overlaps x and the weights nowhere
  std::size_t y_stride = 0;
};

// q[r, k] = clamp(round_half_even(x[r, k] * inverse_scale), -127, 127), NaN: 0; stored as the byte
// q + 128. Bytes from input_count to int8_row_bytes(input_count) are set to 0.
struct QuantiseCall {
  const float* x = nullptr;
  std::size_t x_stride = 0;
  std::size_t row_count = 0;
  std::size_t input_count = 0;
  float inverse_scale = 0;    // positive
  std::uint8_t* q = nullptr;  // row r at q + r * q_stride
  std::size_t q_stride = 0;   // at least int8_row_bytes(input_count)
};

// y[r, n] = fma(float(sum over k of weights[n, k] * q[r, k]), output_scale[n], bias[r, n]).
struct Int8DenseCall {
  PackedInt8View weights;
  const std::uint8_t* q = nullptr;  // as quantise_rows leaves it
  std::size_t q_stride = 0;
  std::size_t row_count = 0;
  const float* output_scale = nullptr;  // output_count; scale of the weights * scale of x
  const float* bias = nullptr;          // as in DenseRows
  std::size_t bias_stride = 0;
  float* y = nullptr;
  std::size_t y_stride = 0;
};

// One instruction set's kernels.
struct LowPrecisionKernels {
  // y as KernelTable::dense defines it, of the widened weights.
  void (*dense_bfloat16)(const PackedBfloat16View& weights,
                         const DenseRows& rows) noexcept = nullptr;
  void (*dense_float16)(const PackedFloat16View& weights, const DenseRows& rows) noexcept = nullptr;
  void (*quantise_rows)(const QuantiseCall& call) noexcept = nullptr;
  void (*dense_int8)(const Int8DenseCall& call) noexcept = nullptr;
};

}  // namespace tocsin
