// Packing of weights into panels.
#include "kernels/packed_matrix.h"

#include <algorithm>
#include <new>

namespace tocsin {
namespace {

std::size_t padded_outputs(std::size_t output_count) noexcept {
  return (output_count + kLaneOutputs - 1) / kLaneOutputs * kLaneOutputs;
}

}  // namespace

std::size_t packed_float_count(std::size_t output_count, std::size_t input_count) noexcept {
  return padded_outputs(output_count) * input_count;
}

PackedMatrixView pack_matrix(const MatrixView& matrix, float* packed) noexcept {
  const std::size_t padded = padded_outputs(matrix.output_count);
  float* out = packed;
  for (std::size_t first = 0; first < padded; first += kPanelOutputs) {
    const std::size_t width = std::min(kPanelOutputs, padded - first);
    const std::size_t used = std::min(width, matrix.output_count - first);
    for (std::size_t k = 0; k < matrix.input_count; ++k) {
      const float* column = matrix.data + k * matrix.input_stride + first * matrix.output_stride;
      for (std::size_t n = 0; n < used; ++n) out[n] = column[n * matrix.output_stride];
      std::fill(out + used, out + width, 0.0F);
      out += width;
    }
  }
  return {packed, matrix.output_count, matrix.input_count};
}

PackedMatrix::PackedMatrix(const MatrixView& matrix) {
  const std::size_t count = packed_float_count(matrix.output_count, matrix.input_count);
  data_.reset(static_cast<float*>(
      ::operator new(count * sizeof(float), std::align_val_t(kPackedAlignmentBytes))));
  view_ = pack_matrix(matrix, data_.get());
}

void PackedMatrix::AlignedDelete::operator()(float* data) const noexcept {
  ::operator delete(data, std::align_val_t(kPackedAlignmentBytes));
}

}  // namespace tocsin
