// Shapes of matrix products, checked.
#include "engines/reference/matmul_shape.h"

#include "engines/reference/broadcast.h"

namespace tocsin {

Result<MatMulShape> matmul_shape(const Operand& a, const Operand& b) {
  if (a.rank() == 0 || b.rank() == 0) return invalid("a scalar has no matrix product");
  MatMulShape shape;
  shape.k = static_cast<std::size_t>(a.shape.back());
  if (a.rank() > 1) {
    shape.m = static_cast<std::size_t>(a.shape[a.rank() - 2]);
    shape.a_batch.assign(a.shape.begin(), a.shape.end() - 2);
  }
  std::size_t k_of_b = static_cast<std::size_t>(b.shape.front());
  if (b.rank() > 1) {
    k_of_b = static_cast<std::size_t>(b.shape[b.rank() - 2]);
    shape.n = static_cast<std::size_t>(b.shape.back());
    shape.b_batch.assign(b.shape.begin(), b.shape.end() - 2);
  }
  if (k_of_b != shape.k)
    return invalid("shapes " + shape_text(a.shape) + " and " + shape_text(b.shape) +
                   " do not multiply");
  TOCSIN_ASSIGN_OR_RETURN(shape.batch, broadcast_shapes(shape.a_batch, shape.b_batch));
  return shape;
}

Shape matmul_output_shape(const MatMulShape& shape, const Operand& a, const Operand& b) {
  Shape output = shape.batch;
  if (a.rank() > 1) output.push_back(static_cast<std::int64_t>(shape.m));
  if (b.rank() > 1) output.push_back(static_cast<std::int64_t>(shape.n));
  return output;
}

}  // namespace tocsin
