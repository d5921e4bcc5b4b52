// MatMulInteger and QLinearMatMul: exact sums of products of 8-bit integers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engines/reference/broadcast.h"
#include "engines/reference/integer_types.h"
#include "engines/reference/matmul_shape.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

// One operand of a product: its values, and for quantised ones where its scale is.
struct IntegerOperand {
  DataType type = DataType::kUint8;
  std::size_t values = 0;      // index of the input
  std::size_t zero_point = 0;  // likewise; may be missing
  bool has_zero_point = false;
  bool per_line = false;  // a zero point for each row of A, or column of B

  std::int32_t zero_of(const Buffers& buffers, std::size_t line) const noexcept {
    if (!has_zero_point) return 0;
    return integer_at(type, buffers.inputs[zero_point], per_line ? line : 0);
  }
};

Result<IntegerOperand> integer_operand(const NodeContext& context, std::size_t values,
                                       std::size_t zero_point, std::size_t lines) {
  IntegerOperand operand;
  operand.type = context.input(values).type;
  operand.values = values;
  operand.zero_point = zero_point;
  operand.has_zero_point = context.has_input(zero_point);
  if (!is_8_bit(operand.type)) return invalid("its matrices must be int8 or uint8");
  if (!operand.has_zero_point) return operand;
  const Operand& zero = context.input(zero_point);
  if (zero.type != operand.type) return invalid("a zero point has another type than its matrix");
  operand.per_line = zero.element_count() != 1;
  if (operand.per_line && zero.element_count() != lines)
    return unsupported("zero points of shape " + shape_text(zero.shape) + " are not supported");
  return operand;
}

class IntegerProduct {
 public:
  IntegerProduct(const MatMulShape& shape, const IntegerOperand& a, const IntegerOperand& b)
      : shape_(shape), a_(a), b_(b), loop_(shape.batch, {shape.a_batch, shape.b_batch}) {}

  // A row of A, a matrix B, and a row of sums.
  std::size_t scratch_bytes() const noexcept {
    return (shape_.k + shape_.k * shape_.n + shape_.n) * sizeof(std::int32_t);
  }

  // Calls write(index of the first output, sums) for each row of outputs.
  template <typename WriteRow>
  void run(const Buffers& buffers, WriteRow&& write) const {
    auto* row = reinterpret_cast<std::int32_t*>(buffers.scratch);
    std::int32_t* matrix = row + shape_.k;
    std::int32_t* sums = matrix + shape_.k * shape_.n;
    loop_.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
      for (std::size_t i = 0; i < count; ++i) {
        widen_b(buffers, (offsets[1] + i * steps[1]) * shape_.k * shape_.n, matrix);
        for (std::size_t m = 0; m < shape_.m; ++m) {
          const std::size_t first = ((offsets[0] + i * steps[0]) * shape_.m + m) * shape_.k;
          const std::int32_t zero = a_.zero_of(buffers, m);
          for (std::size_t k = 0; k < shape_.k; ++k)
            row[k] = integer_at(a_.type, buffers.inputs[a_.values], first + k) - zero;
          multiply(row, matrix, sums);
          write(((offset + i) * shape_.m + m) * shape_.n, sums);
        }
      }
    });
  }

 private:
  void widen_b(const Buffers& buffers, std::size_t first, std::int32_t* matrix) const {
    for (std::size_t k = 0; k < shape_.k; ++k)
      for (std::size_t n = 0; n < shape_.n; ++n)
        matrix[k * shape_.n + n] =
            integer_at(b_.type, buffers.inputs[b_.values], first + k * shape_.n + n) -
            b_.zero_of(buffers, n);
  }

  // Sums wrap around where they exceed 32 bits, as the standard's type does.
  void multiply(const std::int32_t* row, const std::int32_t* matrix, std::int32_t* sums) const {
    for (std::size_t n = 0; n < shape_.n; ++n) sums[n] = 0;
    for (std::size_t k = 0; k < shape_.k; ++k)
      for (std::size_t n = 0; n < shape_.n; ++n)
        sums[n] =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[n]) +
                                      static_cast<std::uint32_t>(row[k]) *
                                          static_cast<std::uint32_t>(matrix[k * shape_.n + n]));
  }

  MatMulShape shape_;
  IntegerOperand a_, b_;
  BroadcastLoop<2> loop_;
};

}  // namespace

Result<PlannedNode> plan_matmul_integer(const NodeContext& context) {
  const Operand& a = context.input(0);
  const Operand& b = context.input(1);
  TOCSIN_ASSIGN_OR_RETURN(const MatMulShape shape, matmul_shape(a, b));
  TOCSIN_ASSIGN_OR_RETURN(const IntegerOperand a_operand, integer_operand(context, 0, 2, shape.m));
  TOCSIN_ASSIGN_OR_RETURN(const IntegerOperand b_operand, integer_operand(context, 1, 3, shape.n));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kInt32, matmul_output_shape(shape, a, b), {}, {}});
  const IntegerProduct product(shape, a_operand, b_operand);
  planned.scratch_bytes = product.scratch_bytes();
  planned.kernel = [product, n = shape.n](const Buffers& buffers) {
    product.run(buffers, [&buffers, n](std::size_t first, const std::int32_t* sums) {
      for (std::size_t i = 0; i < n; ++i) buffers.output<std::int32_t>(0)[first + i] = sums[i];
    });
  };
  return planned;
}

// y = quantised(sum * (a_scale * b_scale / y_scale), y_zero_point).
Result<PlannedNode> plan_qlinear_matmul(const NodeContext& context) {
  const Operand& a = context.input(0);
  const Operand& b = context.input(3);
  TOCSIN_ASSIGN_OR_RETURN(const MatMulShape shape, matmul_shape(a, b));
  for (const std::size_t scale : {1, 4, 6}) TOCSIN_RETURN_IF_ERROR(context.require_float(scale));
  TOCSIN_ASSIGN_OR_RETURN(const IntegerOperand a_operand, integer_operand(context, 0, 2, shape.m));
  TOCSIN_ASSIGN_OR_RETURN(const IntegerOperand b_operand, integer_operand(context, 3, 5, shape.n));
  const DataType type = context.input(7).type;
  const bool scale_per_column = context.input(4).element_count() != 1;
  if (!is_8_bit(type) || context.input(7).element_count() != 1)
    return unsupported("the output's zero point must be one int8 or uint8");
  if (context.input(1).element_count() != 1 || context.input(6).element_count() != 1 ||
      (scale_per_column && context.input(4).element_count() != shape.n))
    return unsupported("scales other than for a tensor, or for a column of B, are not supported");
  PlannedNode planned;
  planned.outputs.push_back({type, matmul_output_shape(shape, a, b), {}, {}});
  const IntegerProduct product(shape, a_operand, b_operand);
  planned.scratch_bytes = product.scratch_bytes();
  planned.kernel = [product, n = shape.n, type, scale_per_column](const Buffers& buffers) {
    const float a_scale = *buffers.input<float>(1);
    const float* b_scale = buffers.input<float>(4);
    const float y_scale = *buffers.input<float>(6);
    const std::int32_t zero_point = integer_at(type, buffers.inputs[7], 0);
    product.run(buffers, [&](std::size_t first, const std::int32_t* sums) {
      for (std::size_t i = 0; i < n; ++i) {
        const float factor = a_scale * b_scale[scale_per_column ? i : 0] / y_scale;
        store_8_bit(type, buffers.outputs[0], first + i, static_cast<float>(sums[i]) * factor,
                    zero_point);
      }
    });
  };
  return planned;
}

}  // namespace tocsin
