// Gemm and MatMul: products through the dense kernel. A constant right-hand matrix is packed when
// the node is planned, any other one on every run.
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "engines/reference/broadcast.h"
#include "engines/reference/matmul_shape.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

Result<std::pair<std::size_t, std::size_t>> matrix_dimensions(const Operand& operand,
                                                              bool transposed) {
  if (operand.rank() != 2)
    return invalid("expected a matrix, found shape " + shape_text(operand.shape));
  const auto rows = static_cast<std::size_t>(operand.shape[transposed ? 1 : 0]);
  const auto columns = static_cast<std::size_t>(operand.shape[transposed ? 0 : 1]);
  return std::pair(rows, columns);
}

// Packed as [outputs = n, inputs = k] from a row-major [k, n] or, transposed, [n, k].
MatrixView right_hand(const float* data, std::size_t k, std::size_t n, bool transposed) {
  return transposed ? MatrixView{data, n, k, k, 1} : MatrixView{data, n, k, 1, n};
}

struct GemmShape {
  std::size_t m = 0, k = 0, n = 0;
  bool transposed_a = false, transposed_b = false;
  float alpha = 1, beta = 1;
  bool has_c = false;
};

// Where a run's scratch goes: the transposed A, the packed B or what a constant one needs, the bias
// as [m, n].
struct GemmScratch {
  std::size_t product = 0, bias = 0, end = 0;  // in floats
};

GemmScratch gemm_scratch(const GemmShape& shape, const DenseWeights* constant_b) {
  GemmScratch scratch;
  const auto aligned = [](std::size_t floats) { return (floats + 15) / 16 * 16; };
  scratch.product = aligned(shape.transposed_a ? shape.m * shape.k : 0);
  const std::size_t product_floats =
      constant_b == nullptr
          ? packed_float_count(shape.n, shape.k)
          : (constant_b->scratch_bytes(shape.m) + sizeof(float) - 1) / sizeof(float);
  scratch.bias = scratch.product + aligned(product_floats);
  scratch.end = scratch.bias + aligned(shape.has_c ? shape.m * shape.n : 0);
  return scratch;
}

// y = alpha (A B) + beta C. With alpha = 1 the sums start from beta C; otherwise
// y = fma(alpha, A B, beta C).
class GemmKernel {
 public:
  GemmKernel(const GemmShape& shape, SharedWeights packed,
             const std::optional<BroadcastLoop<1>>& c_loop)
      : shape_(shape),
        scratch_(gemm_scratch(shape, packed.get())),
        packed_(std::move(packed)),
        c_loop_(c_loop) {}

  std::size_t scratch_bytes() const { return scratch_.end * sizeof(float); }

  void operator()(const Buffers& buffers) const {
    auto* scratch = reinterpret_cast<float*>(buffers.scratch);
    const float* a = buffers.input<float>(0);
    if (shape_.transposed_a) {
      for (std::size_t row = 0; row < shape_.m; ++row)
        for (std::size_t k = 0; k < shape_.k; ++k)
          scratch[row * shape_.k + k] = a[k * shape_.m + row];
      a = scratch;
    }
    DenseRows rows{a, shape_.k, shape_.m, nullptr, 0, buffers.output<float>(0), shape_.n};
    const float* c =
        shape_.has_c ? expand_c(buffers.input<float>(2), scratch + scratch_.bias) : nullptr;
    if (shape_.alpha == 1.0F) {
      rows.bias = c;
      rows.bias_stride = shape_.n;
    }
    multiply(rows, buffers.input<float>(1), scratch + scratch_.product);
    if (shape_.alpha != 1.0F) {
      float* y = rows.y;
      for (std::size_t i = 0; i < shape_.m * shape_.n; ++i)
        y[i] = std::fma(shape_.alpha, y[i], c != nullptr ? c[i] : 0.0F);
    }
  }

 private:
  void multiply(const DenseRows& rows, const float* b, float* scratch) const {
    if (packed_ != nullptr) return packed_->run(rows, reinterpret_cast<std::byte*>(scratch));
    kernels().dense({pack_matrix(right_hand(b, shape_.k, shape_.n, shape_.transposed_b), scratch),
                     rows.x, rows.x_stride, rows.row_count, rows.bias, rows.bias_stride, rows.y,
                     rows.y_stride});
  }

  // beta C as [m, n].
  const float* expand_c(const float* c, float* expanded) const {
    c_loop_->run(
        [&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
          for (std::size_t i = 0; i < count; ++i) {
            const float value = c[offsets[0] + i * steps[0]];
            expanded[offset + i] = shape_.beta == 1.0F ? value : shape_.beta * value;
          }
        });
    return expanded;
  }

  GemmShape shape_;
  GemmScratch scratch_;
  SharedWeights packed_;  // null: B is no constant
  std::optional<BroadcastLoop<1>> c_loop_;
};

DenseCall matmul_call(const MatMulShape& shape, const float* a, float* y) {
  DenseCall call;
  call.x = a;
  call.x_stride = shape.k;
  call.row_count = shape.m;
  call.y = y;
  call.y_stride = shape.n;
  return call;
}

// One constant matrix for the whole batch: all rows in one call.
Kernel constant_matmul(const MatMulShape& shape, std::size_t row_count, SharedWeights packed) {
  return [shape, row_count, packed = std::move(packed)](const Buffers& buffers) {
    packed->run({buffers.input<float>(0), shape.k, row_count, nullptr, 0, buffers.output<float>(0),
                 shape.n},
                buffers.scratch);
  };
}

Kernel batched_matmul(const MatMulShape& shape) {
  const BroadcastLoop<2> loop(shape.batch, {shape.a_batch, shape.b_batch});
  return [shape, loop](const Buffers& buffers) {
    auto* packed = reinterpret_cast<float*>(buffers.scratch);
    const float* b = buffers.input<float>(1);
    const float* packed_from = nullptr;
    loop.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
      for (std::size_t i = 0; i < count; ++i) {
        const float* matrix = b + (offsets[1] + i * steps[1]) * shape.k * shape.n;
        const MatrixView view = right_hand(matrix, shape.k, shape.n, false);
        if (matrix != packed_from) pack_matrix(view, packed);
        packed_from = matrix;
        DenseCall call = matmul_call(
            shape, buffers.input<float>(0) + (offsets[0] + i * steps[0]) * shape.m * shape.k,
            buffers.output<float>(0) + (offset + i) * shape.m * shape.n);
        call.weights = {packed, shape.n, shape.k};
        kernels().dense(call);
      }
    });
  };
}

}  // namespace

Result<PlannedNode> plan_gemm(const NodeContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i)
    if (context.has_input(i)) TOCSIN_RETURN_IF_ERROR(context.require_float(i));
  GemmShape shape;
  shape.transposed_a = context.int_attribute("transA", 0) != 0;
  shape.transposed_b = context.int_attribute("transB", 0) != 0;
  shape.alpha = context.float_attribute("alpha", 1.0F);
  shape.beta = context.float_attribute("beta", 1.0F);
  shape.has_c = context.has_input(2);
  TOCSIN_ASSIGN_OR_RETURN(const auto a, matrix_dimensions(context.input(0), shape.transposed_a));
  TOCSIN_ASSIGN_OR_RETURN(const auto b, matrix_dimensions(context.input(1), shape.transposed_b));
  shape.m = a.first;
  shape.k = a.second;
  shape.n = b.second;
  if (b.first != shape.k)
    return invalid("shapes " + shape_text(context.input(0).shape) + " and " +
                   shape_text(context.input(1).shape) + " do not multiply");
  PlannedNode planned;
  const Shape output{static_cast<std::int64_t>(shape.m), static_cast<std::int64_t>(shape.n)};
  if (!checked_element_count(output)) return invalid("its output is too large");
  planned.outputs.push_back({DataType::kFloat32, output, {}, {}});
  std::optional<BroadcastLoop<1>> c_loop;
  if (shape.has_c) {
    TOCSIN_ASSIGN_OR_RETURN(const Shape with_c, broadcast_shapes(context.input(2).shape, output));
    if (with_c != output)
      return invalid("C of shape " + shape_text(context.input(2).shape) +
                     " does not broadcast to " + shape_text(output));
    c_loop.emplace(output, std::array<std::span<const std::int64_t>, 1>{context.input(2).shape});
  }
  SharedWeights packed;
  if (const Operand& weights = context.input(1); weights.constant != nullptr) {
    TOCSIN_ASSIGN_OR_RETURN(packed, context.pack(right_hand(weights.values<float>().data(), shape.k,
                                                            shape.n, shape.transposed_b),
                                                 1, NodeContext::Factor::kInput));
  }
  const GemmKernel kernel(shape, std::move(packed), c_loop);
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  return planned;
}

Result<PlannedNode> plan_matmul(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  const Operand& a = context.input(0);
  const Operand& b = context.input(1);
  TOCSIN_ASSIGN_OR_RETURN(const MatMulShape shape, matmul_shape(a, b));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, matmul_output_shape(shape, a, b), {}, {}});
  if (b.constant != nullptr && b.element_count() == shape.k * shape.n &&
      shape.batch == shape.a_batch) {
    TOCSIN_ASSIGN_OR_RETURN(SharedWeights packed, context.pack(right_hand(b.values<float>().data(),
                                                                          shape.k, shape.n, false),
                                                               1, NodeContext::Factor::kInput));
    const std::size_t row_count = *checked_element_count(shape.batch) * shape.m;
    planned.scratch_bytes = packed->scratch_bytes(row_count);
    planned.kernel = constant_matmul(shape, row_count, std::move(packed));
  } else {
    planned.scratch_bytes = packed_float_count(shape.n, shape.k) * sizeof(float);
    planned.kernel = batched_matmul(shape);
  }
  return planned;
}

}  // namespace tocsin
