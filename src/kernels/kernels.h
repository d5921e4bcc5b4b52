// The numeric primitives in the canonical order of docs/adr/canonical-arithmetic.md: FP32, the same
// bits on every instruction set. They need the default floating-point environment: rounding to
// nearest, subnormals neither flushed nor read as zero. No kernel allocates, locks or throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/low_precision.h"
#include "kernels/packed_matrix.h"

namespace tocsin {

// Inputs of a sum are taken in blocks of this many (see dense).
inline constexpr std::size_t kSumBlock = 128;

// y[r, n] = bias[r, n] + sum over k of weights[n, k] * x[r, k], for r < row_count, n <
// output_count.
struct DenseCall {
  PackedMatrixView weights;
  const float* x = nullptr;  // row r at x + r * x_stride
  std::size_t x_stride = 0;
  std::size_t row_count = 0;
  const float* bias = nullptr;  // row r at bias + r * bias_stride (0: one for all); null: +0
  std::size_t bias_stride = 0;
  float* y = nullptr;  // row r at y + r * y_stride; overlaps x and the weights nowhere
  std::size_t y_stride = 0;
};

// One LSTM step of one row. Gates in ONNX's order i, o, f, c, each `units` long:
//   pre_g = projection_g + recurrent_g, then fma(peephole_g, C, that) where there are peepholes
//   i = sigmoid(pre_i)  f = sigmoid(pre_f)  g = tanh(pre_c)
//   C' = fma(f, C, i * g)     o = sigmoid(pre_o)  (its peephole sees C')     h = o * tanh(C')
struct LstmCellCall {
  std::size_t units = 0;
  const float* projection = nullptr;  // 4 * units: bias + W x, bias = Wb + Rb
  const float* recurrent = nullptr;   // 4 * units: R h
  const float* peephole = nullptr;    // 3 * units in the order i, o, f; null: none
  float clip = 0;                     // pre-activations are clamped to [-clip, clip]; infinity: not
  float* cell = nullptr;              // units: C in, C' out
  float* hidden = nullptr;            // units: h out; overlaps none of the above
};

// One GRU step of one row, linear_before_reset = 1. Gates in ONNX's order z, r, h:
//   z = sigmoid(projection_z + recurrent_z)  r = sigmoid(projection_r + recurrent_r)
//   n = tanh(fma(r, recurrent_h, projection_h))     h' = fma(z, h - n, n)
struct GruCellCall {
  std::size_t units = 0;
  const float* projection = nullptr;  // 3 * units: bias + W x; bias = Wb + Rb for z and r, Wb for h
  const float* recurrent = nullptr;   // 3 * units: R h for z and r, Rb + R h for h
  float clip = 0;
  float* hidden = nullptr;  // units: h in, h' out
};

// The two halves of a GRU step of one row, linear_before_reset = 0.
//   first:  z and r as above; reset_hidden = r * h
//   second: n = tanh(projection_h + candidate), candidate = R_h reset_hidden;  h' = fma(z, h - n,
//   n)
struct GruResetCall {
  std::size_t units = 0;
  const float* projection = nullptr;  // 3 * units; bias = Wb + Rb throughout
  const float* recurrent = nullptr;   // 2 * units: R h for z and r
  float clip = 0;
  const float* hidden = nullptr;  // units
  float* update = nullptr;        // units: z
  float* reset_hidden = nullptr;  // units
};
struct GruOutputCall {
  std::size_t units = 0;
  const float* projection_h = nullptr;  // units
  const float* candidate = nullptr;     // units
  const float* update = nullptr;        // units: z
  float clip = 0;
  float* hidden = nullptr;  // units: h in, h' out
};

// y[r, n] = bias[r] + sum over k of a[r, k] * b[k, n]: a product whose right-hand side lies in
// memory as it comes. Row k of b starts at b + b_offsets[k]: rows may overlap, as those of a
// convolution do. The definition of the sum is that of dense.
struct ProductCall {
  std::size_t row_count = 0;
  std::size_t input_count = 0;   // number of k
  std::size_t column_count = 0;  // number of n
  const float* a = nullptr;      // row r at a + r * a_stride
  std::size_t a_stride = 0;
  const float* b = nullptr;
  const std::size_t* b_offsets = nullptr;  // input_count of them, in floats
  const float* bias = nullptr;             // one a row; null: +0
  float* y = nullptr;                      // row r at y + r * y_stride; overlaps a and b nowhere
  std::size_t y_stride = 0;
};

// What one step of an element-wise program does to the value v, which starts as x, with its operand
// a. Comparisons are false for NaN, so NaN passes through.
enum class PointwiseOperation : std::uint8_t {
  kLoad,           // v = a
  kSave,           // slots[slot] = v
  kAdd,            // v + a
  kSubtract,       // v - a
  kSubtractFrom,   // a - v
  kMultiply,       // v * a
  kDivide,         // v / a
  kDivideInto,     // a / v
  kAtLeast,        // v < a ? a : v
  kAtMost,         // v > a ? a : v
  kScaleNegative,  // v < 0 ? a * v : v
  kNegate,         // -v
  kMagnitude,      // |v|
  kSquareRoot,
  kExp,
  kTanh,
  kSigmoid,
  kErf,
  kLog,
};

inline constexpr std::size_t kPointwiseSlots = 4;

struct PointwiseStep {
  PointwiseOperation operation = PointwiseOperation::kLoad;
  int slot = -1;  // 0 to kPointwiseSlots - 1: the operand is what was saved there
  const float* operand =
      nullptr;  // else: of row r, column c: operand[r * row_step + c * column_step]
  std::size_t row_step = 0;
  std::size_t column_step = 0;  // 0 or 1
};

// y[r, c] = the program's last v, for each element by itself.
struct PointwiseCall {
  const PointwiseStep* steps = nullptr;
  std::size_t step_count = 0;
  std::size_t row_count = 0;
  std::size_t width = 0;
  const float* x = nullptr;  // row r at x + r * x_stride
  std::size_t x_stride = 0;
  float* y = nullptr;  // row r at y + r * y_stride; may be x, or an operand in the same places
  std::size_t y_stride = 0;
};

// y[c, r] = x[r, c].
struct TransposeCall {
  std::size_t row_count = 0;
  std::size_t column_count = 0;
  const float* x = nullptr;  // row r at x + r * x_stride
  std::size_t x_stride = 0;
  float* y = nullptr;  // row c at y + c * y_stride; does not overlap x
  std::size_t y_stride = 0;
};

// Softmax of `row_count` rows, each of `count` values: value i of row r at r * row_stride + i *
// stride, where one of the two strides is 1 or there is one row. Each row in index order:
//   m = -inf, s = +0: x > m ? (s = fma(s, exp(m - x), 1), m = x)
//                           : x == -inf ? nothing : s = s + exp(x - m)
//   s = s + (m - m), so that a row without a finite maximum becomes NaN
//   y = exp(x - m) / s, or (x - m) - log(s) for the logarithmic form
struct SoftmaxCall {
  const float* x = nullptr;
  float* y = nullptr;  // may be x
  std::size_t count = 0;
  std::size_t stride = 1;
  bool logarithmic = false;
  std::size_t row_count = 1;
  std::size_t row_stride = 0;
};

// Layer normalisation of each row. Sums in blocks of kSumBlock as in dense:
//   mean = sum(x) / n   d = x - mean   variance = sum(fma(d, d, .)) / n
//   r = 1 / sqrt(variance + epsilon)   y = fma(d * r, scale, bias)
struct LayerNormCall {
  std::size_t count = 0;
  const float* x = nullptr;  // row r at x + r * row_stride
  const float* scale = nullptr;
  const float* bias = nullptr;  // null: +0
  float epsilon = 0;
  float* y = nullptr;                  // may be x; row r at y + r * row_stride
  float* mean = nullptr;               // one value a row; null: not wanted
  float* inverse_deviation = nullptr;  // one value a row (r); null: not wanted
  std::size_t row_count = 1;
  std::size_t row_stride = 0;
};

// y[r] = sum of row r, in blocks of kSumBlock: each starts from +0, and so does the total.
struct RowSumCall {
  std::size_t row_count = 0;
  std::size_t count = 0;
  const float* x = nullptr;  // row r at x + r * row_stride
  std::size_t row_stride = 0;
  float* y = nullptr;
};

// Attention pooling, one step of some rows: each row carries the maximum m (-inf at first) and the
// sum s (+0 at first) of its scores so far, and the context c (+0 at first) of its values v:
//   x > m ? (e = exp(m - x); s = fma(s, e, 1); c = fma(c, e, v); m = x)
//         : x == -inf ? nothing : (e = exp(x - m); s = s + e; c = fma(e, v, c))
// What is pooled is (c / s) with s = s + (m - m), as in a softmax: see pooled().
struct AttendCall {
  std::size_t row_count = 0;
  std::size_t width = 0;          // of a value
  const float* scores = nullptr;  // row r's is scores[r * score_stride]
  std::size_t score_stride = 1;
  const float* values = nullptr;  // row r at values + r * value_stride
  std::size_t value_stride = 0;
  float* maximum = nullptr;  // row r's is maximum[r]
  float* sum = nullptr;      // row r's is sum[r]
  float* context = nullptr;  // row r at context + r * context_stride
  std::size_t context_stride = 0;
};
struct PooledCall {
  std::size_t width = 0;
  float maximum = 0;
  float sum = 0;
  const float* context = nullptr;
  float* y = nullptr;  // c / (s + (m - m)); may be `context`
};

// y[i] = f(x[i]) for i < count; y may be x.
using MapFunction = void (*)(const float* x, float* y, std::size_t count) noexcept;

// One instruction set's kernels. A result that is NaN is some quiet NaN: its sign and payload are
// not defined (they differ between instruction sets); everything else is, to the bit. NaN goes in,
// NaN comes out. The errors of the functions, in units in the last place, were measured over
// all 2^32 arguments (math_sweep_bench 1) and are checked on a part of them by every test run.
struct KernelTable {
  // Each y is a sum over k in rising order by fused multiply-add, in blocks of kSumBlock: a block
  // starts from +0, the total starts from the bias, the block sums are added to it in order.
  void (*dense)(const DenseCall& call) noexcept;
  void (*product)(const ProductCall& call) noexcept;
  void (*pointwise)(const PointwiseCall& call) noexcept;
  void (*transpose)(const TransposeCall& call) noexcept;
  void (*lstm_cell)(const LstmCellCall& call) noexcept;
  void (*gru_cell)(const GruCellCall& call) noexcept;
  void (*gru_reset)(const GruResetCall& call) noexcept;
  void (*gru_output)(const GruOutputCall& call) noexcept;
  void (*softmax)(const SoftmaxCall& call) noexcept;
  void (*layer_norm)(const LayerNormCall& call) noexcept;
  void (*row_sum)(const RowSumCall& call) noexcept;
  void (*attend)(const AttendCall& call) noexcept;
  void (*pooled)(const PooledCall& call) noexcept;
  // A few vector operations that have no result: a core puts its wide units to sleep after some 20
  // us without work for them, and runs at a fraction of its speed while they wake up. For loops
  // that wait.
  void (*stay_awake)() noexcept;
  MapFunction exp;      // 0.99 ulp; +inf above 88.7228, subnormal below -87.34, 0 below -103.98
  MapFunction expm1;    // 1.45 ulp; e^x - 1
  MapFunction tanh;     // 2.50 ulp; odd; +-1 beyond 9.02
  MapFunction sigmoid;  // 2.41 ulp; 1 / (1 + e^-x), subnormal results included
  MapFunction erf;      // 0.98 ulp; odd; +-1 beyond 3.92
  MapFunction log;      // 0.91 ulp; log(+-0) = -inf, log(x < 0) = NaN
  LowPrecisionKernels low_precision{};
};

// The kernels of the selected instruction set (isa.h); chosen at the first call.
const KernelTable& kernels() noexcept;

// The kernels of one of available_isas().
const KernelTable& kernels_of(Isa isa) noexcept;

// x to the power y as std::pow defines its special cases; computed in double precision, 0.51 ulp.
// Not vectorised: for weights and the odd exponent, not for inner loops.
float power(float x, float y) noexcept;

}  // namespace tocsin
