// The constant matrix of a product in any precision: packed once, then run on rows of FP32. The one
// place where a precision turns into a kernel; engines share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "kernels/kernels.h"

namespace tocsin {

struct DenseWeightsOptions {
  Precision precision = Precision::kFloat32;
  // INT8: the real value of one step of the inputs, positive and finite.
  float input_scale = 0;
  bool scale_per_output = true;  // INT8: otherwise one scale for the whole matrix
};

class DenseWeights {
 public:
  // Packs `matrix`. An error for what the precision cannot hold: weights that are not finite, or
  // overflow FP16; more than kInt8InputCountMax inputs; an input scale that is none.
  static Result<DenseWeights> pack(const MatrixView& matrix, const DenseWeightsOptions& options);

  std::size_t output_count() const noexcept { return output_count_; }
  std::size_t input_count() const noexcept { return input_count_; }
  Precision precision() const noexcept { return precision_; }
  // INT8: the real value of one step of the inputs; 0 otherwise. Where two are equal, so are the
  // rows that quantise() makes.
  float input_scale() const noexcept { return input_scale_; }
  // Of the packed weights.
  std::size_t size_bytes() const noexcept;
  // The packed matrix in FP32, whose panels are matrices of their own; null in other precisions.
  const PackedMatrix* float32() const noexcept { return std::get_if<PackedMatrix>(&packed_); }
  // What run() needs to work on that many rows; 0 unless INT8. Any alignment.
  std::size_t scratch_bytes(std::size_t row_count) const noexcept;

  // y = bias + W x for each row, with the kernel of the precision.
  void run(const DenseRows& rows, std::byte* scratch) const noexcept;

  // INT8 in two steps, for inputs that enter several products with one scale: quantised() rows are
  // `q_stride` = int8_row_bytes(input_count()) bytes apart. run() is the one after the other.
  void quantise(const DenseRows& rows, std::uint8_t* q) const noexcept;
  void run_quantised(const DenseRows& rows, const std::uint8_t* q) const noexcept;

 private:
  struct Int8Weights {
    PackedInt8Matrix matrix;
    float inverse_scale = 0;
    std::vector<float> output_scale;  // weight scale * input scale
  };
  using Packed = std::variant<PackedMatrix, PackedBfloat16Matrix, PackedFloat16Matrix, Int8Weights>;

  DenseWeights(const DenseWeightsOptions& options, const MatrixView& matrix, Packed packed)
      : precision_(options.precision),
        input_scale_(options.precision == Precision::kInt8 ? options.input_scale : 0.0F),
        output_count_(matrix.output_count),
        input_count_(matrix.input_count),
        packed_(std::move(packed)) {}

  Precision precision_;
  float input_scale_;
  std::size_t output_count_;
  std::size_t input_count_;
  Packed packed_;
};

}  // namespace tocsin
