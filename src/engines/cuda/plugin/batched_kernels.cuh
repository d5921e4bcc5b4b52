// Kernels over the rows of a batch: one step of a recurrent layer, products, attention.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/device_memory.cuh"

namespace tocsin::cuda {

struct DeviceLayer {
  CellKind cell = CellKind::kLstm;
  int units = 0;
  float clip = 0;
  DeviceMatrix input;
  DeviceMatrix recurrent;
  const float* bias = nullptr;
  const float* recurrent_bias = nullptr;

  __host__ __device__ int gates() const { return cell == CellKind::kLstm ? 4 : 3; }
  __host__ __device__ int width() const { return gates() * units; }
};

// Row r at data + r * stride.
struct RowsView {
  float* data = nullptr;
  std::size_t stride = 0;

  __host__ __device__ float* row(std::size_t r) const { return data + r * stride; }
};

// One step of all rows.
struct StepCall {
  DeviceLayer layer;
  int row_count = 0;
  RowsView input;
  RowsView hidden;  // null data: zeros, and so are the cells
  RowsView target;  // apart from hidden
  float* cell = nullptr;  // [row, units]
};
Status launch_step(const StepCall& call, cudaStream_t stream);

// y[r] = activation(bias + W x[r] + added).
struct DenseCall {
  DeviceMatrix matrix;
  const float* bias = nullptr;
  const float* added = nullptr;
  Activation activation = Activation::kNone;  // no softmax
  int row_count = 0;
  RowsView x;
  float* y = nullptr;      // [row, outputs]
  bool is_output = false;  // NaNs become the quiet one
};
Status launch_dense(const DenseCall& call, cudaStream_t stream);

// A softmax of each row, in place, [row_count, width].
struct SoftmaxCall {
  float* y = nullptr;
  int row_count = 0;
  int width = 0;
};
Status launch_softmax(const SoftmaxCall& call, cudaStream_t stream);

// Attention over whole windows: scores [batch, steps], values [batch, steps, width] to pooled
// [batch, width].
struct PoolCall {
  const float* scores = nullptr;
  const float* values = nullptr;
  int batch = 0;
  int steps = 0;
  int width = 0;
  float* pooled = nullptr;
};
Status launch_pool(const PoolCall& call, cudaStream_t stream);

}  // namespace tocsin::cuda
