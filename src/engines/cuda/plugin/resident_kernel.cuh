// The last step of a window, in a kernel that lives as long as its stream: a cluster of blocks
// holds all input weights in registers, polls for frames, and answers into host memory.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/advance_kernel.cuh"
#include "engines/cuda/plugin/mailbox.cuh"

namespace tocsin::cuda {

inline constexpr int kResidentInputsMax = 512;   // of a layer: four blocks of a sum

// How a layer lies in the blocks of the cluster.
struct ResidentLayer {
  int sum_blocks = 1;       // of a sum of products
  int block_count = 1;      // 1, 2 or 4 groups of 8 lanes, one for each of them
  int units_per_block = 0;  // of a thread block
  int first_warp = 0;
};
struct ResidentOperator {
  DeviceOperator op;
  int weights_at = 0;  // in shared memory, in floats; rows are `stride` apart
  int stride = 0;
  int padded_inputs = 0;  // to a multiple of 4
};

struct ResidentCall {
  StreamState state;
  ResidentLayer layers[kStreamLayersMax];
  int score_count = 0;
  int operator_count = 0;  // scores first, then the head
  ResidentOperator operators[kStreamOperatorsMax];
  int features = 0;
  const Chunk* requests = nullptr;  // mapped
  Chunk* answers = nullptr;
  int vector_floats = 0;  // of each of the vectors in shared memory
};

// Prepares and starts the kernel on a stream of its own; it ends with a request of kStopNumber.
struct ResidentPlan {
  ResidentCall call;
  int cluster_size = 8;
  int threads = 0;
  std::size_t shared_bytes = 0;
};
// kUnsupported, with the reason, where the network is too large for one cluster.
Status plan_resident(const DeviceNetwork& network, ResidentPlan* plan);
Status start_resident(const ResidentPlan& plan, cudaStream_t stream);

}  // namespace tocsin::cuda
