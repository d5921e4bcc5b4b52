// Whole windows in one launch: a cluster of blocks holds the weights of all layers in registers and
// takes a few windows through all their steps.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/device_network.cuh"

namespace tocsin::cuda {

inline constexpr int kWindowLayersMax = 4;
inline constexpr int kClusterWindowsMax = 4;  // windows of a cluster

// How a layer lies in the blocks of a cluster. A unit has four lanes (its gates) for each block of
// its two sums: those of the input first.
struct WindowLayer {
  DeviceLayer layer;
  int input_blocks = 1;
  int recurrent_blocks = 1;
  int units_per_block = 0;
  int first_warp = 0;
};

struct WindowCall {
  int layer_count = 0;
  WindowLayer layers[kWindowLayersMax];
  int steps = 0;
  int features = 0;
  int batch = 0;
  int vector_floats = 0;           // of each vector in shared memory
  const float* windows = nullptr;  // [batch, steps, features]
  float* sequence = nullptr;       // [batch, steps, units] of the last layer, or
  float* last = nullptr;           // [batch, units]: its last state alone
};

struct WindowPlan {
  WindowCall call;
  bool is_gru = false;
  int lane_blocks = 2;  // groups of 8 lanes that share two units: 2 or 4
  int threads = 0;
  int clusters_at_once = 1;  // that the GPU holds
};
// Whether the network's weights fit the registers of one cluster. INT8 ones are not taken.
bool plan_windows(const DeviceNetwork& network, WindowPlan* plan);
Status find_clusters_at_once(WindowPlan* plan);
// Whether that many windows are taken: with more, an exchange of states costs more than a launch.
bool takes(const WindowPlan& plan, int batch);
Status launch_windows(const WindowPlan& plan, int batch, cudaStream_t stream);

}  // namespace tocsin::cuda
