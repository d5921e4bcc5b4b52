// Packing and running of products by their precision.
#include "engines/dense_weights.h"

#include <cmath>
#include <string>
#include <utility>

#include "kernels/half_float.h"

namespace tocsin {
namespace {

// The largest FP32 magnitude that FP16 does not round to infinity.
constexpr float kFloat16Max = 65519.996F;

Status check_weights(const MatrixView& matrix, Precision precision) {
  if (precision == Precision::kFloat32) return {};
  const std::string name(precision_name(precision));
  for (std::size_t n = 0; n < matrix.output_count; ++n) {
    for (std::size_t k = 0; k < matrix.input_count; ++k) {
      const float w = matrix.data[n * matrix.output_stride + k * matrix.input_stride];
      if (!std::isfinite(w) || (precision == Precision::kFloat16 && std::fabs(w) > kFloat16Max))
        return Error(ErrorCode::kFailedPrecondition,
                     "weight [" + std::to_string(n) + ", " + std::to_string(k) + "] is " +
                         std::to_string(w) + ", which " + name + " cannot hold");
    }
  }
  return {};
}

Status check_int8(const MatrixView& matrix, float input_scale) {
  if (matrix.input_count > kInt8InputCountMax)
    return Error(ErrorCode::kUnimplemented,
                 "an int8 product has at most " + std::to_string(kInt8InputCountMax) +
                     " inputs, this one has " + std::to_string(matrix.input_count));
  if (!(input_scale > 0) || !std::isfinite(input_scale) || !std::isfinite(1.0F / input_scale))
    return Error(ErrorCode::kFailedPrecondition, "the scale of its inputs is " +
                                                     std::to_string(input_scale) +
                                                     ", expected a positive number");
  return {};
}

}  // namespace

Result<DenseWeights> DenseWeights::pack(const MatrixView& matrix,
                                        const DenseWeightsOptions& options) {
  TOCSIN_RETURN_IF_ERROR(check_weights(matrix, options.precision));
  switch (options.precision) {
    case Precision::kFloat32:
      break;
    case Precision::kBfloat16:
      return DenseWeights(options, matrix, PackedBfloat16Matrix(matrix));
    case Precision::kFloat16:
      return DenseWeights(options, matrix, PackedFloat16Matrix(matrix));
    case Precision::kInt8: {
      TOCSIN_RETURN_IF_ERROR(check_int8(matrix, options.input_scale));
      const auto scales = options.scale_per_output ? PackedInt8Matrix::Scales::kPerOutput
                                                   : PackedInt8Matrix::Scales::kPerMatrix;
      Int8Weights weights{PackedInt8Matrix(matrix, scales), 1.0F / options.input_scale, {}};
      for (const float scale : weights.matrix.weight_scales())
        weights.output_scale.push_back(scale * options.input_scale);
      return DenseWeights(options, matrix, std::move(weights));
    }
  }
  return DenseWeights(options, matrix, PackedMatrix(matrix));
}

std::size_t DenseWeights::size_bytes() const noexcept {
  if (const auto* bfloat16 = std::get_if<PackedBfloat16Matrix>(&packed_))
    return bfloat16->size_bytes();
  if (const auto* float16 = std::get_if<PackedFloat16Matrix>(&packed_))
    return float16->size_bytes();
  if (const auto* int8 = std::get_if<Int8Weights>(&packed_)) return int8->matrix.size_bytes();
  return packed_float_count(output_count_, input_count_) * sizeof(float);
}

std::size_t DenseWeights::scratch_bytes(std::size_t row_count) const noexcept {
  return precision_ == Precision::kInt8 ? row_count * int8_row_bytes(input_count_) : 0;
}

void DenseWeights::run(const DenseRows& rows, std::byte* scratch) const noexcept {
  if (const auto* float32 = std::get_if<PackedMatrix>(&packed_)) {
    kernels().dense({float32->view(), rows.x, rows.x_stride, rows.row_count, rows.bias,
                     rows.bias_stride, rows.y, rows.y_stride});
  } else if (const auto* bfloat16 = std::get_if<PackedBfloat16Matrix>(&packed_)) {
    kernels().low_precision.dense_bfloat16(bfloat16->view(), rows);
  } else if (const auto* float16 = std::get_if<PackedFloat16Matrix>(&packed_)) {
    kernels().low_precision.dense_float16(float16->view(), rows);
  } else {
    auto* q = reinterpret_cast<std::uint8_t*>(scratch);
    quantise(rows, q);
    run_quantised(rows, q);
  }
}

void DenseWeights::quantise(const DenseRows& rows, std::uint8_t* q) const noexcept {
  const auto& int8 = *std::get_if<Int8Weights>(&packed_);
  kernels().low_precision.quantise_rows({rows.x, rows.x_stride, rows.row_count, input_count_,
                                         int8.inverse_scale, q, int8_row_bytes(input_count_)});
}

void DenseWeights::run_quantised(const DenseRows& rows, const std::uint8_t* q) const noexcept {
  const auto& int8 = *std::get_if<Int8Weights>(&packed_);
  kernels().low_precision.dense_int8({int8.matrix.view(), q, int8_row_bytes(input_count_),
                                      rows.row_count, int8.output_scale.data(), rows.bias,
                                      rows.bias_stride, rows.y, rows.y_stride});
}

}  // namespace tocsin
