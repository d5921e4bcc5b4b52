// All layers work at once, each one step behind the one below: in wave s layer l takes step s - l.
// What a wave writes, the next one reads, so that the cluster meets once a wave.
#include "engines/cuda/plugin/window_kernel.cuh"

#include <cooperative_groups.h>

#include <algorithm>

#include "engines/cuda/plugin/cells.cuh"
#include "engines/cuda/plugin/cluster_barrier.cuh"
#include "engines/cuda/plugin/cluster_launch.cuh"
#include "engines/cuda/plugin/product_tile.cuh"

namespace tocsin::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int kClusterSize = 8;
constexpr int kThreadsMax = 256;
constexpr unsigned kAllLanes = 0xffffffffU;
template <int LaneBlocks>
constexpr int kUnitsOfWarp = 2 * (4 / LaneBlocks);

// What a thread does in its layer: a block of one of the two sums of a gate.
struct Lane {
  int layer = 0;
  int gate = 0;
  int block = 0;  // input's blocks first
  int index = 0;  // among the lanes of its unit
  int input_blocks = 1;
  int blocks = 2;  // of both sums
  int unit = 0;
  int units = 0;
  int output = 0;
  bool is_recurrent = false;
  int first_k = 0;
  float bias = 0;  // of the input's sum
  float recurrent_bias = 0;
  float clip = 0;
  bool is_there = false;       // it sums products
  bool unit_is_there = false;  // its unit is one of this thread block's
};

template <int LaneBlocks>
__device__ Lane lane_of(const WindowCall& call, int rank) {
  Lane lane;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int l = 0; l < call.layer_count; ++l)
    if (warp >= call.layers[l].first_warp) lane.layer = l;
  const WindowLayer& place = call.layers[lane.layer];
  const DeviceLayer& layer = place.layer;
  const int in_warp = static_cast<int>(threadIdx.x) % 32;
  const int eight = in_warp / 8;
  const int in_block = (warp - place.first_warp) * kUnitsOfWarp<LaneBlocks> +
                       eight / LaneBlocks * 2 + in_warp / 4 % 2;
  lane.gate = in_warp % 4;
  lane.block = eight % LaneBlocks;
  lane.index = lane.block * 4 + lane.gate;
  lane.input_blocks = place.input_blocks;
  lane.blocks = place.input_blocks + place.recurrent_blocks;
  lane.unit = rank * place.units_per_block + in_block;
  lane.units = layer.units;
  lane.output = lane.gate * layer.units + lane.unit;
  lane.is_recurrent = lane.block >= place.input_blocks;
  lane.first_k = (lane.is_recurrent ? lane.block - place.input_blocks : lane.block) * kSumBlock;
  lane.unit_is_there = in_block < place.units_per_block && lane.unit < layer.units;
  const bool gate_is_there = lane.unit_is_there && lane.gate < layer.gates();
  lane.is_there = gate_is_there && lane.block < lane.blocks;
  lane.clip = layer.clip;
  if (!gate_is_there) return lane;
  lane.bias = layer.bias[lane.output];
  if (layer.recurrent_bias != nullptr) lane.recurrent_bias = layer.recurrent_bias[lane.output];
  return lane;
}

// sums[b] of this lane's block with the vectors of the windows, `stride` floats apart.
template <int Windows>
__device__ void add_block(const float (&weights)[kSumBlock], const float* x, int stride,
                          float (&sums)[Windows]) {
#pragma unroll
  for (int b = 0; b < Windows; ++b) sums[b] = 0.0F;
#pragma unroll
  for (int k = 0; k < kSumBlock; k += 4) {
#pragma unroll
    for (int b = 0; b < Windows; ++b) {
      const float4 inputs = *reinterpret_cast<const float4*>(x + b * stride + k);
      sums[b] = __fmaf_rn(weights[k + 0], inputs.x, sums[b]);
      sums[b] = __fmaf_rn(weights[k + 1], inputs.y, sums[b]);
      sums[b] = __fmaf_rn(weights[k + 2], inputs.z, sums[b]);
      sums[b] = __fmaf_rn(weights[k + 3], inputs.w, sums[b]);
    }
  }
}

// The two halves of a gate's pre-activation from the blocks of its sums; the same in all lanes of
// the gate.
struct Halves {
  float input;
  float recurrent;
};
template <int LaneBlocks>
__device__ Halves halves_of(const Lane& lane, float part) {
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.block * 8;
  Halves halves{lane.bias, lane.recurrent_bias};
#pragma unroll
  for (int i = 0; i < LaneBlocks; ++i) {
    const float block = __shfl_sync(kAllLanes, part, first + i * 8);
    const float input = __fadd_rn(halves.input, block);
    const float recurrent = __fadd_rn(halves.recurrent, block);
    if (i < lane.input_blocks)
      halves.input = input;
    else if (i < lane.blocks)
      halves.recurrent = recurrent;
  }
  return halves;
}

// One step of the window that is the lane's `own`: its gates come from the lanes that have them.
template <int Windows, int LaneBlocks, bool IsGru>
__device__ float step_cell(const Lane& lane, const float (&parts)[Windows], int own, float hidden,
                           float& cell) {
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.gate;
  float input[4] = {};
  float recurrent[3] = {};
#pragma unroll
  for (int b = 0; b < Windows; ++b) {
    const Halves halves = halves_of<LaneBlocks>(lane, parts[b]);
    // An LSTM needs the sums of the halves alone.
    const float one = IsGru ? halves.input : __fadd_rn(halves.input, halves.recurrent);
#pragma unroll
    for (int g = 0; g < (IsGru ? 3 : 4); ++g) {
      const float value = __shfl_sync(kAllLanes, one, first + g);
      input[g] = b == own ? value : input[g];
    }
    if constexpr (IsGru) {
#pragma unroll
      for (int g = 0; g < 3; ++g) {
        const float value = __shfl_sync(kAllLanes, halves.recurrent, first + g);
        recurrent[g] = b == own ? value : recurrent[g];
      }
    }
  }
  if constexpr (!IsGru) return lstm_cell(input, lane.clip, cell);
  const float p[3] = {input[0], input[1], input[2]};
  return gru_cell(p, recurrent, lane.clip, hidden);
}

// Vectors in shared memory: of each half of the double buffer, of the frames and each layer's
// states, of each window.
template <int Windows>
struct Vectors {
  float* memory;
  int floats;
  int layer_count;
  __device__ float* at(int half, int vector) const {
    return memory + (half * (layer_count + 1) + vector) * Windows * floats;
  }
};

template <int Windows>
__device__ void load_frames(const WindowCall& call, int first_window, int step, float* frames) {
#pragma unroll
  for (int b = 0; b < Windows; ++b) {
    const int window = first_window + b;
    if (window < call.batch && step < call.steps) {
      const float* row =
          call.windows + (static_cast<std::size_t>(window) * call.steps + step) * call.features;
      for (int k = static_cast<int>(threadIdx.x); k < call.features;
           k += static_cast<int>(blockDim.x))
        copy_ahead<4>(frames + b * call.vector_floats + k, row + k, true);
    }
  }
  end_of_copies();
}

// Bytes that come to a block in a wave: the states of the layers that take a step.
template <int Windows>
__device__ int wave_bytes(const WindowCall& call, int wave) {
  int floats = 0;
  for (int l = 0; l < call.layer_count; ++l)
    if (wave >= l && wave - l < call.steps) floats += call.layers[l].layer.units;
  return floats * Windows * static_cast<int>(sizeof(float));
}

template <int Windows, int LaneBlocks, bool IsGru>
__global__ void __launch_bounds__(kThreadsMax, 1)
    window_kernel(const __grid_constant__ WindowCall call) {
  extern __shared__ __align__(16) float memory[];
  __shared__ ArrivalBarrier barriers[2];
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int first_window = static_cast<int>(blockIdx.x) / kClusterSize * Windows;
  const Vectors<Windows> vectors{memory, call.vector_floats, call.layer_count};
  const int floats = 2 * (call.layer_count + 1) * Windows * call.vector_floats;
  for (int i = static_cast<int>(threadIdx.x); i < floats; i += static_cast<int>(blockDim.x))
    memory[i] = 0.0F;
  if (threadIdx.x < 2) barriers[threadIdx.x].init();
  __syncthreads();
  load_frames<Windows>(call, first_window, 0, vectors.at(0, 0));

  const Lane lane = lane_of<LaneBlocks>(call, rank);
  const DeviceLayer& layer = call.layers[lane.layer].layer;
  const DeviceMatrix& matrix = lane.is_recurrent ? layer.recurrent : layer.input;
  float weights[kSumBlock];
#pragma unroll
  for (int k = 0; k < kSumBlock; ++k)
    weights[k] = lane.is_there && lane.first_k + k < matrix.inputs
                     ? weight_at(matrix, lane.output, lane.first_k + k)
                     : kNoWeight;
  // With fewer windows than lanes several lanes step the same window, and share its copies.
  const int own = lane.index % Windows;
  const int window = first_window + own;
  const int source = lane.layer + (lane.is_recurrent ? 1 : 0);
  const bool is_output = lane.layer + 1 == call.layer_count && lane.unit_is_there &&
                         lane.index < Windows && window < call.batch;
  float cell = 0.0F;
  float hidden = 0.0F;
  await_copies<0>();
  cluster.sync();

  for (int wave = 0; wave < call.steps + call.layer_count - 1; ++wave) {
    const int half = wave % 2;
    const int step = wave - lane.layer;
    ArrivalBarrier& barrier = barriers[half];
    if (threadIdx.x == 0) barrier.expect(wave_bytes<Windows>(call, wave));
    load_frames<Windows>(call, first_window, wave + 1, vectors.at(1 - half, 0));
    if (step >= 0 && step < call.steps) {
      float parts[Windows];
      add_block<Windows>(weights, vectors.at(half, source) + lane.first_k, call.vector_floats,
                         parts);
      hidden = step_cell<Windows, LaneBlocks, IsGru>(lane, parts, own, hidden, cell);
      float* target = vectors.at(1 - half, lane.layer + 1) + own * call.vector_floats + lane.unit;
      if (lane.unit_is_there)
#pragma unroll
        for (int to = 0; to < kClusterSize; to += LaneBlocks * 4 / Windows)
          if (to + lane.index / Windows < kClusterSize)
            send(target, hidden, barrier, to + lane.index / Windows);
      if (is_output && call.sequence != nullptr)
        call.sequence[(static_cast<std::size_t>(window) * call.steps + step) * lane.units +
                      lane.unit] = hidden;
      if (is_output && call.sequence == nullptr && step + 1 == call.steps)
        call.last[static_cast<std::size_t>(window) * lane.units + lane.unit] = hidden;
    }
    await_copies<0>();
    barrier.wait(wave / 2 % 2);
    __syncthreads();
  }
  cluster.sync();  // nobody leaves while others still write to it
}

int round_up(int value, int to) { return (value + to - 1) / to * to; }

std::size_t shared_bytes(const WindowCall& call, int windows) {
  return sizeof(float) * 2 * (call.layer_count + 1) * windows * call.vector_floats;
}

template <int Windows, int LaneBlocks, bool IsGru>
ClusterLaunch launch_of(const WindowPlan& plan, int batch) {
  ClusterLaunch launch;
  launch.grid = dim3(static_cast<unsigned>((batch + Windows - 1) / Windows * kClusterSize));
  launch.cluster = kClusterSize;
  launch.threads = plan.threads;
  launch.shared_bytes = shared_bytes(plan.call, Windows);
  return launch;
}

// Calls run.operator()<LaneBlocks, IsGru>() with those of the plan.
template <typename Run>
Status with_kind(const WindowPlan& plan, Run run) {
  if (plan.is_gru)
    return plan.lane_blocks == 2 ? run.template operator()<2, true>()
                                 : run.template operator()<4, true>();
  return plan.lane_blocks == 2 ? run.template operator()<2, false>()
                               : run.template operator()<4, false>();
}

template <int Windows>
Status launch(const WindowPlan& plan, const WindowCall& call, cudaStream_t stream) {
  return with_kind(plan, [&]<int LaneBlocks, bool IsGru>() {
    return launch_cluster(window_kernel<Windows, LaneBlocks, IsGru>,
                          launch_of<Windows, LaneBlocks, IsGru>(plan, call.batch), call, stream);
  });
}

}  // namespace

bool plan_windows(const DeviceNetwork& network, WindowPlan* plan) {
  WindowCall& call = plan->call;
  if (network.layers.size() > kWindowLayersMax) return false;
  call.layer_count = static_cast<int>(network.layers.size());
  call.steps = network.steps;
  call.features = network.features;
  plan->is_gru = network.layers[0].cell == CellKind::kGru;
  int widest = network.features;
  for (int l = 0; l < call.layer_count; ++l) {
    WindowLayer& own = call.layers[l];
    own.layer = network.layers[l];
    own.input_blocks = (own.layer.input.inputs + kSumBlock - 1) / kSumBlock;
    own.recurrent_blocks = (own.layer.units + kSumBlock - 1) / kSumBlock;
    const int blocks = own.input_blocks + own.recurrent_blocks;
    const bool has_int8 = own.layer.input.type == WeightType::kInt8 ||
                          own.layer.recurrent.type == WeightType::kInt8;
    if (blocks > 4 || has_int8 || (own.layer.cell == CellKind::kGru) != plan->is_gru) return false;
    plan->lane_blocks = std::max(plan->lane_blocks, blocks <= 2 ? 2 : 4);
    own.units_per_block = (own.layer.units + kClusterSize - 1) / kClusterSize;
    widest = std::max(widest, own.layer.units);
  }
  const int units_per_warp = 2 * (4 / plan->lane_blocks);
  int warps = 0;
  for (int l = 0; l < call.layer_count; ++l) {
    call.layers[l].first_warp = warps;
    warps += (call.layers[l].units_per_block + units_per_warp - 1) / units_per_warp;
  }
  plan->threads = warps * 32;
  call.vector_floats = round_up(widest, kSumBlock);
  return plan->threads <= kThreadsMax;
}

Status find_clusters_at_once(WindowPlan* plan) {
  return with_kind(*plan, [&]<int LaneBlocks, bool IsGru>() {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {kClusterSize, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(kClusterSize);
    config.blockDim = dim3(static_cast<unsigned>(plan->threads));
    config.dynamicSmemBytes = shared_bytes(plan->call, kClusterWindowsMax);
    config.attrs = &attribute;
    config.numAttrs = 1;
    const auto kernel = window_kernel<kClusterWindowsMax, LaneBlocks, IsGru>;
    TOCSIN_CUDA_RETURN_IF_FAILED(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(config.dynamicSmemBytes)));
    return status_of(
        cudaOccupancyMaxActiveClusters(&plan->clusters_at_once, kernel, &config),
        "occupancy of clusters");
  });
}

bool takes(const WindowPlan& plan, int batch) {
  return batch <= kClusterWindowsMax * plan.clusters_at_once;
}

Status launch_windows(const WindowPlan& plan, int batch, cudaStream_t stream) {
  // As few windows a cluster as leave all clusters running at once.
  WindowCall call = plan.call;
  call.batch = batch;
  if (batch <= plan.clusters_at_once) return launch<1>(plan, call, stream);
  if (batch <= 2 * plan.clusters_at_once) return launch<2>(plan, call, stream);
  return launch<kClusterWindowsMax>(plan, call, stream);
}

}  // namespace tocsin::cuda
