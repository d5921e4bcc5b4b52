// The shapes of a batched matrix product, for MatMul and its integer forms.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

// [.., m, k] x [.., k, n]; the batch dimensions broadcast.
struct MatMulShape {
  std::size_t m = 1, k = 1, n = 1;
  Shape batch;  // of the output
  Shape a_batch, b_batch;
};

// Vectors are rows on the left and columns on the right, as in NumPy.
Result<MatMulShape> matmul_shape(const Operand& a, const Operand& b);

// Without the dimensions of 1 that a vector stood for.
Shape matmul_output_shape(const MatMulShape& shape, const Operand& a, const Operand& b);

}  // namespace tocsin
