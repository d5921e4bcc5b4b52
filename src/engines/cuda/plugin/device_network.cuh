// A network's weights on the device.
#pragma once

#include <vector>

#include "engines/cuda/plugin/batched_kernels.cuh"

namespace tocsin::cuda {

struct DeviceOperator {
  DeviceMatrix product;
  const float* bias = nullptr;
  const float* added = nullptr;
  Activation activation = Activation::kNone;
};

struct DeviceNetwork {
  int steps = 0;
  int features = 0;
  std::vector<DeviceLayer> layers;
  std::vector<DeviceOperator> scores;  // empty: no pooling
  std::vector<DeviceOperator> head;
  std::size_t weight_bytes = 0;

  // A session or stream that cannot be run names what it lacks.
  static Status load(const Network& network, DeviceMemory& memory, DeviceNetwork* out);

  bool pools() const { return !scores.empty(); }
  const DeviceLayer& last_layer() const { return layers.back(); }
  int output_count() const { return head.back().product.outputs; }
  int widest_operator() const;
};

// Selects the device, or says in one line why it cannot be used.
Status use_device(int device);

// The operators of a chain on rows: the first reads `x` (of the rows), the others what came before;
// the last writes `y`. `work` holds two times [row_count, widest operator].
struct ChainCall {
  const std::vector<DeviceOperator>* operators = nullptr;
  int row_count = 0;
  RowsView x;
  float* work = nullptr;
  std::size_t work_stride = 0;  // floats of one half
  float* y = nullptr;
  bool is_output = false;
};
Status launch_chain(const ChainCall& call, cudaStream_t stream);

}  // namespace tocsin::cuda
