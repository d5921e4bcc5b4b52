// Each thread holds the weights of one gate of one unit over one block of a sum. Eight lanes hold
// two units and read the same inputs, so that a load from shared memory is one for all of them.
#include <cooperative_groups.h>

#include <algorithm>

#include "engines/cuda/plugin/cells.cuh"
#include "engines/cuda/plugin/product_tile.cuh"
#include "engines/cuda/plugin/resident_kernel.cuh"

namespace tocsin::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreadsMax = 384;
constexpr int kThreadsMin = 128;
constexpr unsigned kAllLanes = 0xffffffffU;

__device__ Chunk poll_chunk(const Chunk* chunk) {
  Chunk seen;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(seen.words[0]), "=r"(seen.words[1]), "=r"(seen.words[2]), "=r"(seen.number)
               : "l"(chunk)
               : "memory");
  return seen;
}

__device__ void post_chunk(Chunk* chunk, const Chunk& content) {
  asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(chunk),
               "r"(content.words[0]), "r"(content.words[1]), "r"(content.words[2]),
               "r"(content.number)
               : "memory");
}

__device__ unsigned long long steps_taken(const unsigned long long* advanced) {
  unsigned long long value = 0;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(advanced) : "memory");
  return value;
}

// What a thread does in its layer.
struct Lane {
  int layer = -1;  // -1: none
  int gate = 0;
  int block = 0;  // of the sum
  int unit = 0;
  int first_k = 0;
  int count = 0;  // of k
  bool is_there = false;
};

__device__ Lane lane_of(const ResidentCall& call, int rank) {
  Lane lane;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int l = 0; l < call.layer_count; ++l)
    if (warp >= call.layers[l].first_warp) lane.layer = l;
  const ResidentLayer& own = call.layers[lane.layer];
  const int index = static_cast<int>(threadIdx.x) % 32;
  const int eight = index / 8;
  const int units_per_warp = 2 * (4 / own.block_count);
  const int in_block = (warp - own.first_warp) * units_per_warp +
                       eight / own.block_count * 2 + index / 4 % 2;
  lane.gate = index % 4;
  lane.block = eight % own.block_count;
  lane.unit = rank * own.units_per_block + in_block;
  lane.first_k = lane.block * kSumBlock;
  lane.is_there = in_block < own.units_per_block && lane.unit < own.layer.units &&
                  lane.gate < own.layer.gates();
  const int inputs = own.layer.input.inputs;
  lane.count = lane.is_there ? max(0, min(kSumBlock, inputs - lane.first_k)) : 0;
  return lane;
}

__device__ float product_of(const float (&weights)[kSumBlock], const float* x, int count) {
  float sum = 0.0F;
#pragma unroll
  for (int k = 0; k < kSumBlock; k += 4) {
    const float4 inputs = *reinterpret_cast<const float4*>(x + k);
    if (k + 0 < count) sum = __fmaf_rn(weights[k + 0], inputs.x, sum);
    if (k + 1 < count) sum = __fmaf_rn(weights[k + 1], inputs.y, sum);
    if (k + 2 < count) sum = __fmaf_rn(weights[k + 2], inputs.z, sum);
    if (k + 3 < count) sum = __fmaf_rn(weights[k + 3], inputs.w, sum);
  }
  return sum;
}

// The total over the blocks of a sum, in order; the same in all lanes of a gate.
__device__ float total_of(const ResidentLayer& own, const Lane& lane, float part) {
  const int output = lane.gate * own.layer.units + lane.unit;
  const float bias = lane.is_there ? own.layer.bias[output] : 0.0F;
  float total = sum_start(own.layer.input, bias);
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.block * 8;
  for (int b = 0; b < own.block_count; ++b) {
    const float block = __shfl_sync(kAllLanes, part, first + b * 8);
    if (b * kSumBlock < own.layer.input.inputs) total = __fadd_rn(total, block);
  }
  return lane.is_there ? finished_sum(own.layer.input, output, total, bias) : 0.0F;
}

// What the due window's state brings to its last step; read while the products are summed.
struct DueState {
  float recurrent = 0;
  float cell = 0;
  float hidden = 0;
};

__device__ DueState due_state(const ResidentCall& call, const ResidentLayer& own, const Lane& lane,
                              std::size_t key, unsigned long long advanced) {
  DueState due;
  if (!lane.is_there) return due;
  const int output = lane.gate * own.layer.units + lane.unit;
  if (advanced == 0) {
    due.recurrent = own.layer.recurrent_bias == nullptr ? 0.0F : own.layer.recurrent_bias[output];
    return due;
  }
  const std::size_t window = call.carried ? 0 : (advanced + 1) % call.windows;
  const std::size_t state = key * call.windows + window;
  due.recurrent = __ldcg(own.due + key * own.layer.width() + output);
  if (own.cell != nullptr) due.cell = __ldcg(own.cell + state * own.layer.units + lane.unit);
  due.hidden = __ldcg(own.hidden.plane[advanced & 1] + state * own.layer.units + lane.unit);
  return due;
}

// The unit's new hidden state, in all of its lanes.
__device__ float cell_of(const ResidentLayer& own, const Lane& lane, float p, const DueState& due) {
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.gate;
  if (own.layer.cell == CellKind::kLstm) {
    const float sum = __fadd_rn(p, due.recurrent);
    float pre[4];
#pragma unroll
    for (int g = 0; g < 4; ++g) pre[g] = __shfl_sync(kAllLanes, sum, first + g);
    float cell = due.cell;
    return lstm_cell(pre, own.layer.clip, cell);
  }
  float halves_p[3];
  float halves_r[3];
#pragma unroll
  for (int g = 0; g < 3; ++g) {
    halves_p[g] = __shfl_sync(kAllLanes, p, first + g);
    halves_r[g] = __shfl_sync(kAllLanes, due.recurrent, first + g);
  }
  // The lane beyond the gates reads no state of its own.
  return gru_cell(halves_p, halves_r, own.layer.clip, __shfl_sync(kAllLanes, due.hidden, first));
}

// One operator on the row `x` in shared memory.
__device__ void run_operator(const ResidentOperator& row, const float* weights, const float* x,
                             float* y, bool is_output) {
  const DeviceMatrix& matrix = row.op.product;
  for (int n = static_cast<int>(threadIdx.x); n < matrix.outputs;
       n += static_cast<int>(blockDim.x)) {
    const float bias = row.op.bias == nullptr ? 0.0F : row.op.bias[n];
    float total = sum_start(matrix, bias);
    for (int block = 0; block < matrix.inputs; block += kSumBlock) {
      const int end = min(block + kSumBlock, matrix.inputs);
      float sum = 0.0F;
#pragma unroll 8
      for (int k = block; k < end; ++k)
        sum = __fmaf_rn(weights[n * row.stride + k], factor(matrix, x[k]), sum);
      total = __fadd_rn(total, sum);
    }
    float result = finished_sum(matrix, n, total, bias);
    if (row.op.added != nullptr) result = __fadd_rn(result, row.op.added[n]);
    if (row.op.activation == Activation::kTanh) result = tanh_of(result);
    if (row.op.activation == Activation::kSigmoid) result = sigmoid_of(result);
    if (row.op.activation == Activation::kRelu) result = result < 0.0F ? 0.0F : result;
    y[n] = is_output ? with_quiet_nan(result) : result;
  }
  __syncthreads();
  if (row.op.activation != Activation::kSoftmax) return;
  if (threadIdx.x == 0) softmax_row(y, matrix.outputs);
  __syncthreads();
}

// Vectors of a block in shared memory.
struct Shared {
  float* weights;   // of the operators
  float* vectors;   // the frame, the state of each layer, two of the operators, the pooled one
  int floats;
  __device__ float* vector(int index) const { return vectors + index * floats; }
};

// Scores, pooling and head, by the first block.
__device__ void run_tail(const ResidentCall& call, const Shared& shared, std::size_t key,
                         unsigned long long advanced, std::uint32_t number) {
  float* state = shared.vector(call.layer_count);
  float* work[2] = {shared.vector(call.layer_count + 1), shared.vector(call.layer_count + 2)};
  const float* x = state;
  const int units = call.layers[call.layer_count - 1].layer.units;
  int next = 0;
  for (int i = 0; i < call.operator_count; ++i) {
    if (i == call.score_count && call.score_count > 0) {
      const std::size_t window = call.carried ? 0 : (advanced + 1) % call.windows;
      const std::size_t at = key * call.windows + window;
      float* pooled = shared.vector(call.layer_count + 3);
      for (int n = static_cast<int>(threadIdx.x); n < units; n += static_cast<int>(blockDim.x)) {
        const bool is_new = call.carried && advanced == 0;
        Pooled own{is_new ? -kInfinity : __ldcg(call.maximum + at),
                   is_new ? 0.0F : __ldcg(call.sum + at),
                   is_new ? 0.0F : __ldcg(call.context + at * units + n)};
        attend(x[0], state[n], own);
        pooled[n] = pooled_value(own);
      }
      __syncthreads();
      x = pooled;
    }
    const ResidentOperator& row = call.operators[i];
    run_operator(row, shared.weights + row.weights_at, x, work[next],
                 i + 1 == call.operator_count);
    x = work[next];
    next = 1 - next;
  }
  const int outputs = call.operators[call.operator_count - 1].op.product.outputs;
  for (int c = static_cast<int>(threadIdx.x); c < chunk_count(outputs);
       c += static_cast<int>(blockDim.x)) {
    Chunk answer{};
    for (int i = 0; i < kChunkFloats && c * kChunkFloats + i < outputs; ++i)
      answer.words[i] = __float_as_uint(x[c * kChunkFloats + i]);
    answer.number = number;
    __threadfence_system();
    post_chunk(call.answers + c, answer);
  }
}

// The request of that number: its head, and the frame as layer 0 takes it in. A zero number: stop.
struct Request {
  std::uint32_t number;
  std::uint32_t key;
  std::uint32_t advanced;
};
__device__ void await_request(const ResidentCall& call, std::uint32_t number, float* frame,
                              Request* request) {
  for (int c = static_cast<int>(threadIdx.x); c < request_chunks(call.features);
       c += static_cast<int>(blockDim.x)) {
    Chunk seen = poll_chunk(call.requests + c);
    while (seen.number != number && seen.number != kStopNumber)
      seen = poll_chunk(call.requests + c);
    if (c == 0) {
      *request = {seen.number == number ? number : 0, seen.words[0], seen.words[1]};
      if (seen.number != number) continue;
      const unsigned long long* advanced = call.advanced + seen.words[0];
      while (static_cast<std::uint32_t>(steps_taken(advanced)) != seen.words[1]) __nanosleep(20);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kChunkFloats; ++i)
      if (const int k = (c - 1) * kChunkFloats + i; k < call.features)
        frame[k] = factor(call.layers[0].layer.input, __uint_as_float(seen.words[i]));
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreadsMax, 1)
    resident_kernel(const __grid_constant__ ResidentCall call) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Request request;
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int ranks = static_cast<int>(cluster.num_blocks());
  const Shared shared{memory + (call.layer_count + 4) * call.vector_floats, memory,
                      call.vector_floats};
  for (int i = static_cast<int>(threadIdx.x); i < (call.layer_count + 4) * call.vector_floats;
       i += static_cast<int>(blockDim.x))
    memory[i] = 0.0F;
  if (rank == 0) {
    for (int i = 0; i < call.operator_count; ++i) {
      const ResidentOperator& row = call.operators[i];
      const int inputs = row.op.product.inputs;
      for (int j = static_cast<int>(threadIdx.x); j < row.op.product.outputs * inputs;
           j += static_cast<int>(blockDim.x))
        shared.weights[row.weights_at + j / inputs * row.stride + j % inputs] =
            weight_at(row.op.product, j);
    }
  }
  const Lane lane = lane_of(call, rank);
  const ResidentLayer& own = call.layers[lane.layer];
  const std::size_t output = static_cast<std::size_t>(lane.gate) * own.layer.units + lane.unit;
  float weights[kSumBlock];
#pragma unroll
  for (int k = 0; k < kSumBlock; ++k)
    weights[k] = k < lane.count ? weight_at(own.layer.input, output * own.layer.input.inputs +
                                                                 lane.first_k + k)
                                : 0.0F;
  cluster.sync();
  for (std::uint32_t number = 1;; ++number) {
    await_request(call, number, shared.vector(0), &request);
    if (request.number == 0) return;
    const std::size_t key = request.key;
    const unsigned long long advanced = request.advanced;
    DueState due = due_state(call, own, lane, key, advanced);
    for (int l = 0; l < call.layer_count; ++l) {
      if (lane.layer == l) {
        const float part = product_of(weights, shared.vector(l) + lane.first_k, lane.count);
        const float p = total_of(own, lane, part);
        if (l == 0 && lane.is_there && lane.block == 0)
          call.projection[key * own.layer.width() + output] = p;
        float hidden = cell_of(own, lane, p, due);
        if (l + 1 < call.layer_count) hidden = factor(call.layers[l + 1].layer.input, hidden);
        // Each lane of a unit writes to other blocks of the cluster.
        const bool unit_is_there = lane.unit < own.layer.units &&
                                   lane.unit < (rank + 1) * own.units_per_block;
        for (int to = lane.block * 4 + lane.gate; unit_is_there && to < ranks;
             to += own.block_count * 4)
          cluster.map_shared_rank(shared.vector(l + 1), to)[lane.unit] = hidden;
      }
      cluster.sync();
    }
    if (rank == 0) run_tail(call, shared, key, advanced, number);
  }
}

int round_up(int value, int to) { return (value + to - 1) / to * to; }

}  // namespace

Status plan_resident(const DeviceNetwork& network, ResidentPlan* plan) {
  ResidentCall& call = plan->call;
  const auto operator_count = network.scores.size() + network.head.size();
  if (network.layers.size() > kResidentLayersMax || operator_count > kResidentOperatorsMax)
    return failed(StatusCode::kUnsupported, "%zu layers and %zu operators after them; at most %d "
                  "and %d are kept resident", network.layers.size(), operator_count,
                  kResidentLayersMax, kResidentOperatorsMax);
  call.layer_count = static_cast<int>(network.layers.size());
  call.features = network.features;
  int widest = network.widest_operator();
  for (const DeviceLayer& layer : network.layers) {
    if (layer.input.inputs > kResidentInputsMax)
      return failed(StatusCode::kUnsupported, "a layer with %d inputs; at most %d are kept resident",
                    layer.input.inputs, kResidentInputsMax);
    widest = std::max({widest, layer.input.inputs, layer.units});
  }
  call.vector_floats = round_up(widest, kSumBlock);
  for (const int size : {8, 16}) {
    plan->cluster_size = size;
    int warps = 0;
    for (int l = 0; l < call.layer_count; ++l) {
      ResidentLayer& own = call.layers[l];
      own.layer = network.layers[l];
      const int blocks = (own.layer.input.inputs + kSumBlock - 1) / kSumBlock;
      own.block_count = blocks <= 2 ? blocks : 4;
      own.units_per_block = (own.layer.units + size - 1) / size;
      own.first_warp = warps;
      const int units_per_warp = 2 * (4 / own.block_count);
      warps += (own.units_per_block + units_per_warp - 1) / units_per_warp;
    }
    plan->threads = std::max(warps * 32, kThreadsMin);
    if (plan->threads <= kThreadsMax) break;
  }
  if (plan->threads > kThreadsMax)
    return failed(StatusCode::kUnsupported, "its input weights do not fit the registers of 16 "
                  "multiprocessors");
  int floats = 0;
  for (const auto* chain : {&network.scores, &network.head}) {
    for (const DeviceOperator& op : *chain) {
      const int stride = op.product.inputs | 1;
      call.operators[call.operator_count++] = {op, floats, stride};
      floats += op.product.outputs * stride;
    }
  }
  call.score_count = static_cast<int>(network.scores.size());
  plan->shared_bytes = ((call.layer_count + 4) * call.vector_floats + floats) * sizeof(float);
  constexpr std::size_t kSharedMax = 220 * 1024;
  if (plan->shared_bytes > kSharedMax)
    return failed(StatusCode::kUnsupported, "its head and attention need %zu bytes of shared "
                  "memory, at most %zu are there", plan->shared_bytes, kSharedMax);
  return {};
}

Status start_resident(const ResidentPlan& plan, cudaStream_t stream) {
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaFuncSetAttribute(resident_kernel,
                                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(plan.shared_bytes)));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaFuncSetAttribute(
      resident_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(plan.cluster_size));
  config.blockDim = dim3(static_cast<unsigned>(plan.threads));
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(plan.cluster_size);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaLaunchKernelEx(&config, resident_kernel, plan.call));
  return {};
}

}  // namespace tocsin::cuda
