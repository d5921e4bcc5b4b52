// Gemm and MatMul. A constant right-hand matrix is packed when the node is planned; any other one
// is read as it lies (MatMul) or packed on every run (Gemm).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

// Rows of a product whose outputs stay in the first-level cache, 64 outputs at a time.
constexpr std::size_t kEpilogueRows = 120;

struct Epilogue {
  const PointwiseKernel& program;
  std::span<const void* const> inputs;
};

// The product, and what comes after it: block by block, while the block is in the cache.
void run_with_epilogue(const DenseWeights& weights, const DenseRows& all, std::byte* scratch,
                       const Epilogue& epilogue) {
  const std::size_t outputs = weights.output_count();
  const PackedMatrix* matrix = weights.float32();
  // A panel of an FP32 matrix is a matrix of its own.
  const std::size_t columns = matrix == nullptr ? outputs : kPanelOutputs;
  for (std::size_t row = 0; row < all.row_count; row += kEpilogueRows) {
    DenseRows rows = all;
    rows.row_count = std::min(kEpilogueRows, all.row_count - row);
    rows.x += row * all.x_stride;
    if (all.bias != nullptr) rows.bias += row * all.bias_stride;
    rows.y += row * all.y_stride;
    for (std::size_t column = 0; column < outputs; column += columns) {
      const std::size_t width = std::min(columns, outputs - column);
      if (matrix == nullptr) {
        weights.run(rows, scratch);
      } else {
        const PackedMatrixView panel{matrix->view().data + column * weights.input_count(), width,
                                     weights.input_count()};
        kernels().dense({panel, rows.x, rows.x_stride, rows.row_count,
                         rows.bias == nullptr ? nullptr : rows.bias + column, rows.bias_stride,
                         rows.y + column, rows.y_stride});
      }
      epilogue.program.run_part(epilogue.inputs, all.y, {0, row, rows.row_count, column, width});
    }
  }
}

struct GemmShape {
  std::size_t m = 0, k = 0, n = 0;
  bool transposed_a = false, transposed_b = false;
  float alpha = 1, beta = 1;
  bool has_c = false;           // to be spread over [m, n]
  bool has_plain_bias = false;  // C is one row, used as it is
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

  // Runs a program after the product from now on; its inputs follow the `input_count` of the node.
  // Only with alpha = 1 and a constant B.
  void set_epilogue(const PointwiseKernel& program, std::size_t input_count) {
    epilogue_ = program;
    input_count_ = input_count;
  }

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
    const float* c = c_loop_ ? expand_c(buffers.input<float>(2), scratch + scratch_.bias) : nullptr;
    if (shape_.has_plain_bias) {
      rows.bias = buffers.input<float>(2);
    } else if (shape_.alpha == 1.0F) {
      rows.bias = c;
      rows.bias_stride = shape_.n;
    }
    float* product_scratch = scratch + scratch_.product;
    if (epilogue_) {
      run_with_epilogue(*packed_, rows, reinterpret_cast<std::byte*>(product_scratch),
                        {*epilogue_, buffers.inputs.subspan(input_count_)});
      return;
    }
    multiply(rows, buffers.input<float>(1), product_scratch);
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
  std::optional<PointwiseKernel> epilogue_;
  std::size_t input_count_ = 0;
};

// One constant matrix for the whole batch: all rows in one call.
class ConstantMatMul {
 public:
  ConstantMatMul(const MatMulShape& shape, std::size_t row_count, SharedWeights packed)
      : shape_(shape), row_count_(row_count), packed_(std::move(packed)) {}

  EpilogueSupport epilogue() const {
    return {row_count_, shape_.n, [kernel = *this](const PointwiseKernel& program) {
              ConstantMatMul joined = kernel;
              joined.epilogue_ = program;
              return Kernel(std::move(joined));
            }};
  }

  void operator()(const Buffers& buffers) const {
    const DenseRows rows{buffers.input<float>(0),  shape_.k, row_count_, nullptr, 0,
                         buffers.output<float>(0), shape_.n};
    if (epilogue_)
      run_with_epilogue(*packed_, rows, buffers.scratch, {*epilogue_, buffers.inputs.subspan(2)});
    else
      packed_->run(rows, buffers.scratch);
  }

 private:
  MatMulShape shape_;
  std::size_t row_count_;
  SharedWeights packed_;
  std::optional<PointwiseKernel> epilogue_;
};

// Matrices on both sides: the right-hand ones are read as they lie.
Kernel batched_matmul(const MatMulShape& shape) {
  const BroadcastLoop<2> loop(shape.batch, {shape.a_batch, shape.b_batch});
  std::vector<std::size_t> b_offsets(shape.k);
  for (std::size_t k = 0; k < shape.k; ++k) b_offsets[k] = k * shape.n;
  return [shape, loop, b_offsets = std::move(b_offsets)](const Buffers& buffers) {
    ProductCall call;
    call.row_count = shape.m;
    call.input_count = shape.k;
    call.column_count = shape.n;
    call.a_stride = shape.k;
    call.b_offsets = b_offsets.data();
    call.y_stride = shape.n;
    loop.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
      for (std::size_t i = 0; i < count; ++i) {
        call.a = buffers.input<float>(0) + (offsets[0] + i * steps[0]) * shape.m * shape.k;
        call.b = buffers.input<float>(1) + (offsets[1] + i * steps[1]) * shape.k * shape.n;
        call.y = buffers.output<float>(0) + (offset + i) * shape.m * shape.n;
        kernels().product(call);
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
  if (context.has_input(2)) {
    TOCSIN_ASSIGN_OR_RETURN(const Shape with_c, broadcast_shapes(context.input(2).shape, output));
    if (with_c != output)
      return invalid("C of shape " + shape_text(context.input(2).shape) +
                     " does not broadcast to " + shape_text(output));
    shape.has_plain_bias = shape.alpha == 1.0F && shape.beta == 1.0F &&
                           context.input(2).rank() > 0 &&
                           context.input(2).element_count() == shape.n &&
                           context.input(2).shape.back() == static_cast<std::int64_t>(shape.n);
    shape.has_c = !shape.has_plain_bias;
    if (shape.has_c)
      c_loop.emplace(output, std::array<std::span<const std::int64_t>, 1>{context.input(2).shape});
  }
  SharedWeights packed;
  if (const Operand& weights = context.input(1); weights.constant != nullptr) {
    TOCSIN_ASSIGN_OR_RETURN(packed, context.pack(right_hand(weights.values<float>().data(), shape.k,
                                                            shape.n, shape.transposed_b),
                                                 1, NodeContext::Factor::kInput));
  }
  const bool is_constant = packed != nullptr;
  const GemmKernel kernel(shape, std::move(packed), c_loop);
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  if (is_constant && shape.alpha == 1.0F && shape.m * shape.n > 0) {
    planned.epilogue = EpilogueSupport{
        shape.m, shape.n, [kernel, count = context.input_count()](const PointwiseKernel& program) {
          GemmKernel joined = kernel;
          joined.set_epilogue(program, count);
          return Kernel(std::move(joined));
        }};
  }
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
    const ConstantMatMul kernel(shape, row_count, std::move(packed));
    planned.kernel = kernel;
    if (row_count * shape.n > 0) planned.epilogue = kernel.epilogue();
  } else {
    planned.kernel = batched_matmul(shape);
  }
  return planned;
}

}  // namespace tocsin
