// One step of all windows in flight of some keys, in one launch: a block takes a few windows of one
// key through all layers and the attention, for windows do not meet.
#pragma once

#include <cstdint>

#include "engines/cuda/plugin/device_network.cuh"

namespace tocsin::cuda {

inline constexpr int kStreamLayersMax = 4;
inline constexpr int kStreamOperatorsMax = 6;  // of scores and head together

// A layer's states on the device: [key, windows, units] in two planes that take turns.
struct StreamLayer {
  DeviceLayer layer;
  float* hidden[2] = {nullptr, nullptr};
  float* cell = nullptr;
  float* due = nullptr;  // [key, width]: the recurrent half of the step of the window due next
};

// By key: what the windows in flight have taken in, and where they stand.
struct StreamState {
  int layer_count = 0;
  StreamLayer layers[kStreamLayersMax];
  int windows = 1;
  bool carried = false;
  unsigned long long* advanced = nullptr;  // steps taken
  unsigned* finished = nullptr;            // blocks that are done with the step in progress
  float* projection = nullptr;             // [key, width of layer 0], of the newest frame
  float* maximum = nullptr;                // of pooling: [key, windows]
  float* sum = nullptr;
  float* context = nullptr;  // [key, windows, units of the last layer]
};

struct AdvanceCall {
  StreamState state;
  int score_count = 0;
  DeviceOperator scores[kStreamOperatorsMax];
  const std::uint32_t* keys = nullptr;
  int key_count = 0;
  float* work = nullptr;  // [block, 2, rows of a block, work_width]
  int work_width = 0;
};
// Floats of `work` for that many keys.
std::size_t advance_work_floats(int key_count, int windows, int work_width);
Status launch_advance(const AdvanceCall& call, cudaStream_t stream);
// Loads the code. To be called before a resident kernel starts: loading waits for running kernels.
Status load_advance();

}  // namespace tocsin::cuda
