// The last step of a window, in a kernel that lives as long as its stream: a cluster of blocks holds
// all input weights in registers, polls for frames, and answers into host memory.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/device_network.cuh"
#include "engines/cuda/plugin/mailbox.cuh"

namespace tocsin::cuda {

inline constexpr int kResidentLayersMax = 4;
inline constexpr int kResidentOperatorsMax = 6;  // of scores and head together
inline constexpr int kResidentInputsMax = 512;   // of a layer: four blocks of a sum

struct ResidentLayer {
  DeviceLayer layer;
  const float* due = nullptr;    // [key, width]: what the due window's state gives
  const float* cell = nullptr;   // [key, windows, units]
  Planes hidden;                 // [key, windows, units]
  int block_count = 1;           // of a sum, one a group of 8 lanes: 1, 2 or 4
  int units_per_block = 0;       // of a thread block
  int first_warp = 0;
};
struct ResidentOperator {
  DeviceOperator op;
  int weights_at = 0;  // in shared memory, in floats; rows are `stride` apart
  int stride = 0;
};

struct ResidentCall {
  int layer_count = 0;
  ResidentLayer layers[kResidentLayersMax];
  int score_count = 0;
  int operator_count = 0;  // scores first, then the head
  ResidentOperator operators[kResidentOperatorsMax];
  int features = 0;
  int windows = 0;
  bool carried = false;
  const unsigned long long* advanced = nullptr;
  float* projection = nullptr;     // [key, width of layer 0], for the windows in flight
  const float* maximum = nullptr;  // of pooling, as in AttendCall
  const float* sum = nullptr;
  const float* context = nullptr;
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
