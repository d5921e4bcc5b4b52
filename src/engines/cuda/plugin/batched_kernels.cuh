// Kernels over many rows at once: one step of a recurrent layer, products, attention.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/device_memory.cuh"
#include "engines/cuda/plugin/rows.cuh"

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

// Rows of states or inputs in two planes: row r at plane[p] + state(r) * stride.
struct Planes {
  float* plane[2] = {nullptr, nullptr};
  std::size_t stride = 0;
};

// One step of all rows. The input of row r is that of its written plane (a layer's below, or a
// batch's frames), unless the layer's projection is there already: one for each group.
struct StepCall {
  DeviceLayer layer;
  RowMap rows;
  int row_count = 0;
  Planes input;
  const float* projection = nullptr;  // [group, width]
  Planes hidden;
  float* cell = nullptr;  // [state, units]
};
Status launch_step(const StepCall& call, cudaStream_t stream);

// y[r] = activation(bias + W x[r] + added); rows of x are read from the written plane, or, of due
// windows, from the plane that is read.
struct DenseCall {
  DeviceMatrix matrix;
  const float* bias = nullptr;
  const float* added = nullptr;
  Activation activation = Activation::kNone;  // no softmax
  RowMap rows;
  int row_count = 0;
  Planes x;
  float* y = nullptr;
  bool by_group = false;  // y row is the row's group, else r
  bool is_output = false;  // NaNs become the quiet one
};
Status launch_dense(const DenseCall& call, cudaStream_t stream);

// Function on rows in place, [row_count, width]: a softmax of each row.
struct SoftmaxCall {
  float* y = nullptr;
  int row_count = 0;
  int width = 0;
};
Status launch_softmax(const SoftmaxCall& call, cudaStream_t stream);

// Attention over the whole windows of a batch: scores [batch, steps], values [batch, steps, width]
// to pooled [batch, width].
struct PoolCall {
  const float* scores = nullptr;
  const float* values = nullptr;
  int batch = 0;
  int steps = 0;
  int width = 0;
  float* pooled = nullptr;
};
Status launch_pool(const PoolCall& call, cudaStream_t stream);

// One step of attention of windows in flight; the state is maximum, sum [state], context [state,
// width].
struct AttendCall {
  RowMap rows;
  int row_count = 0;
  const float* scores = nullptr;  // [row_count]
  Planes values;                  // of the written plane
  int width = 0;
  float* maximum = nullptr;
  float* sum = nullptr;
  float* context = nullptr;
};
Status launch_attend(const AttendCall& call, cudaStream_t stream);

// advanced[key] += 1, when everything before it in the stream is done.
Status launch_finish(const std::uint32_t* keys, int key_count, unsigned long long* advanced,
                     cudaStream_t stream);

// Loads the code of all of these. To be called before a resident kernel starts: loading waits for
// kernels that run.
Status load_kernels();

}  // namespace tocsin::cuda
