// Recurrent cells, as kernels/kernels.h defines them, of one unit.
#pragma once

#include "engines/cuda/plugin/canonical_math.cuh"

namespace tocsin::cuda {

// NaN stays NaN.
__device__ inline float clamped(float x, float clip) {
  const float raised = x < -clip ? -clip : x;
  return raised > clip ? clip : raised;
}

// Pre-activations in the order i, o, f, c. Returns the hidden state; `cell` is replaced.
__device__ inline float lstm_cell(const float (&pre)[4], float clip, float& cell) {
  const float input = sigmoid_of(clamped(pre[0], clip));
  const float output = sigmoid_of(clamped(pre[1], clip));
  const float forget = sigmoid_of(clamped(pre[2], clip));
  const float candidate = tanh_of(clamped(pre[3], clip));
  cell = __fmaf_rn(forget, cell, __fmul_rn(input, candidate));
  return __fmul_rn(output, tanh_of(cell));
}

// linear_before_reset = 1: p and r are the two halves in the order z, r, h.
__device__ inline float gru_cell(const float (&p)[3], const float (&r)[3], float clip,
                                 float hidden) {
  const float update = sigmoid_of(clamped(__fadd_rn(p[0], r[0]), clip));
  const float reset = sigmoid_of(clamped(__fadd_rn(p[1], r[1]), clip));
  const float n = tanh_of(clamped(__fmaf_rn(reset, r[2], p[2]), clip));
  return __fmaf_rn(update, __fsub_rn(hidden, n), n);
}

// One step of attention pooling for one column of the context.
struct Pooled {
  float maximum;
  float sum;
  float context;
};
__device__ inline void attend(float score, float value, Pooled& pooled) {
  const bool rises = score > pooled.maximum;
  if (!rises && score == -kInfinity) return;
  const float e = exp_of(rises ? pooled.maximum - score : score - pooled.maximum);
  pooled.sum = rises ? __fmaf_rn(pooled.sum, e, 1.0F) : __fadd_rn(pooled.sum, e);
  pooled.context = rises ? __fmaf_rn(pooled.context, e, value)
                         : __fmaf_rn(e, value, pooled.context);
  if (rises) pooled.maximum = score;
}
__device__ inline float pooled_value(const Pooled& pooled) {
  return pooled.context / (pooled.sum + (pooled.maximum - pooled.maximum));
}

// Outputs have one NaN.
__device__ inline float with_quiet_nan(float x) { return x == x ? x : float_of(0x7fc00000U); }

// A row's softmax in place, by one thread, in index order (kernels/kernels.h).
__device__ inline void softmax_row(float* y, int count) {
  Pooled state{-kInfinity, 0.0F, 0.0F};
  for (int i = 0; i < count; ++i) attend(y[i], 0.0F, state);
  const float sum = state.sum + (state.maximum - state.maximum);
  for (int i = 0; i < count; ++i) y[i] = with_quiet_nan(exp_of(y[i] - state.maximum) / sum);
}

}  // namespace tocsin::cuda
