// Each thread holds the weights of one gate of one unit over one block of a sum. Eight lanes hold
// two units and read the same inputs, so that a load from shared memory is one for all of them.
#include <cooperative_groups.h>

#include <algorithm>

#include "engines/cuda/plugin/cells.cuh"
#include "engines/cuda/plugin/cluster_barrier.cuh"
#include "engines/cuda/plugin/cluster_launch.cuh"
#include "engines/cuda/plugin/product_tile.cuh"
#include "engines/cuda/plugin/resident_kernel.cuh"

namespace tocsin::cuda {
namespace {

namespace cg = cooperative_groups;

// With few threads there are registers for all weights; with many some are spilled.
constexpr int kThreadsFew = 256;
constexpr int kThreadsMax = 384;
constexpr int kThreadsMin = 128;
constexpr int kSumBlocksMax = 4;
// Two of the operators, the pooled state, and integers.
constexpr int kTailVectors = 5;
constexpr unsigned kAllLanes = 0xffffffffU;

struct Request {
  std::uint32_t number;  // 0: stop
  std::uint32_t key;
  std::uint32_t advanced;
  std::uint32_t window;  // that is due
};

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

// What a thread does in its layer, and what it needs of it at every step.
struct Lane {
  int layer = 0;
  int gate = 0;
  int block = 0;  // of the sum
  int block_count = 1;
  int sum_blocks = 1;
  int unit = 0;
  int units = 0;
  int output = 0;  // of the layer's matrix
  int width = 0;
  int first_k = 0;
  float bias = 0;
  bool is_int8 = false;
  float output_scale = 0;
  bool is_gru = false;
  float clip = 0;
  bool is_there = false;       // it sums products
  bool unit_is_there = false;  // its unit is one of this thread block's
};

__device__ Lane lane_of(const ResidentCall& call, int rank) {
  Lane lane;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int l = 0; l < call.state.layer_count; ++l)
    if (warp >= call.layers[l].first_warp) lane.layer = l;
  const ResidentLayer& place = call.layers[lane.layer];
  const DeviceLayer& layer = call.state.layers[lane.layer].layer;
  const int index = static_cast<int>(threadIdx.x) % 32;
  const int eight = index / 8;
  lane.block_count = place.block_count;
  lane.sum_blocks = place.sum_blocks;
  const int units_per_warp = 2 * (4 / lane.block_count);
  const int in_block = (warp - place.first_warp) * units_per_warp + eight / lane.block_count * 2 +
                       index / 4 % 2;
  lane.gate = index % 4;
  lane.block = eight % lane.block_count;
  lane.unit = rank * place.units_per_block + in_block;
  lane.units = layer.units;
  lane.width = layer.width();
  lane.unit_is_there = in_block < place.units_per_block && lane.unit < layer.units;
  lane.is_there = lane.unit_is_there && lane.gate < layer.gates();
  lane.output = lane.gate * layer.units + lane.unit;
  lane.first_k = lane.block * kSumBlock;
  lane.is_int8 = layer.input.type == WeightType::kInt8;
  lane.is_gru = layer.cell == CellKind::kGru;
  lane.clip = layer.clip;
  if (!lane.is_there) return lane;
  lane.bias = layer.bias[lane.output];
  if (lane.is_int8) lane.output_scale = layer.input.output_scale[lane.output];
  return lane;
}

// Inputs beyond the layer's are +0, their weights kNoWeight.
__device__ float product_of(const float (&weights)[kSumBlock], const float* x) {
  float sum = 0.0F;
#pragma unroll
  for (int k = 0; k < kSumBlock; k += 4) {
    const float4 inputs = *reinterpret_cast<const float4*>(x + k);
    sum = __fmaf_rn(weights[k + 0], inputs.x, sum);
    sum = __fmaf_rn(weights[k + 1], inputs.y, sum);
    sum = __fmaf_rn(weights[k + 2], inputs.z, sum);
    sum = __fmaf_rn(weights[k + 3], inputs.w, sum);
  }
  return sum;
}

// The total over the blocks of a sum, in order; the same in all lanes of a gate.
__device__ float total_of(const Lane& lane, float part) {
  float total = lane.is_int8 ? 0.0F : lane.bias;
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.block * 8;
#pragma unroll
  for (int b = 0; b < kSumBlocksMax; ++b) {
    const int from = b < lane.block_count ? first + b * 8 : first;
    const float with_block = __fadd_rn(total, __shfl_sync(kAllLanes, part, from));
    total = b < lane.sum_blocks ? with_block : total;
  }
  return lane.is_int8 ? __fmaf_rn(total, lane.output_scale, lane.bias) : total;
}

// What the due window's state brings to its last step; read while the products are summed.
struct DueState {
  float recurrent = 0;
  float cell = 0;
  float hidden = 0;
};

__device__ DueState due_state(const StreamState& state, const Lane& lane, const Request& request) {
  DueState due;
  if (!lane.is_there) return due;
  const StreamLayer& own = state.layers[lane.layer];
  if (request.advanced == 0) {
    if (own.layer.recurrent_bias != nullptr) due.recurrent = own.layer.recurrent_bias[lane.output];
    return due;
  }
  const std::size_t row = (std::size_t{request.key} * state.windows + request.window) * lane.units;
  due.recurrent = __ldcg(own.due + std::size_t{request.key} * lane.width + lane.output);
  if (!lane.is_gru) due.cell = __ldcg(own.cell + row + lane.unit);
  if (lane.is_gru) due.hidden = __ldcg(own.hidden[request.advanced & 1] + row + lane.unit);
  return due;
}

// The unit's new hidden state, in all of its lanes.
__device__ float cell_of(const Lane& lane, float p, const DueState& due) {
  const int first = static_cast<int>(threadIdx.x) % 32 - lane.gate;
  const float sum = __fadd_rn(p, due.recurrent);
  float pre[4];
  float halves_r[3];
#pragma unroll
  for (int g = 0; g < 4; ++g) pre[g] = __shfl_sync(kAllLanes, lane.is_gru ? p : sum, first + g);
#pragma unroll
  for (int g = 0; g < 3; ++g) halves_r[g] = __shfl_sync(kAllLanes, due.recurrent, first + g);
  // The lane beyond a GRU's gates has read no state of its own.
  const float hidden = __shfl_sync(kAllLanes, due.hidden, first);
  float cell = due.cell;
  if (!lane.is_gru) return lstm_cell(pre, lane.clip, cell);
  const float halves_p[3] = {pre[0], pre[1], pre[2]};
  return gru_cell(halves_p, halves_r, lane.clip, hidden);
}

// One operator on the row `x` in shared memory, whose places beyond the inputs are +0; `integers`
// takes what an INT8 product reads. The same is left of y.
__device__ void run_operator(const ResidentOperator& row, const float* weights, const float* x,
                             float* integers, float* y, bool is_output) {
  const DeviceMatrix matrix = row.op.product;
  if (matrix.type == WeightType::kInt8) {
    for (int k = static_cast<int>(threadIdx.x); k < matrix.inputs;
         k += static_cast<int>(blockDim.x))
      integers[k] = factor(matrix, x[k]);
    __syncthreads();
    x = integers;
  }
  const int padded = (matrix.outputs + 3) / 4 * 4;
  for (int n = static_cast<int>(threadIdx.x); n < padded; n += static_cast<int>(blockDim.x)) {
    if (n >= matrix.outputs) {
      y[n] = 0.0F;
      continue;
    }
    const float* own = weights + n * row.stride;
    const float bias = row.op.bias == nullptr ? 0.0F : row.op.bias[n];
    float total = sum_start(matrix, bias);
    for (int block = 0; block < matrix.inputs; block += kSumBlock) {
      const int end = min(block + kSumBlock, row.padded_inputs);
      float sum = 0.0F;
#pragma unroll 8
      for (int k = block; k < end; k += 4) {
        const float4 w = *reinterpret_cast<const float4*>(own + k);
        const float4 inputs = *reinterpret_cast<const float4*>(x + k);
        sum = __fmaf_rn(w.x, inputs.x, sum);
        sum = __fmaf_rn(w.y, inputs.y, sum);
        sum = __fmaf_rn(w.z, inputs.z, sum);
        sum = __fmaf_rn(w.w, inputs.w, sum);
      }
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
  float* vectors;   // the frame, the state of each layer, then kTailVectors
  int floats;
  __device__ float* vector(int index) const { return vectors + index * floats; }
};

// Scores, pooling and head, by the first block.
__device__ void run_tail(const ResidentCall& call, const Shared& shared, const Request& request) {
  float* state = shared.vector(call.state.layer_count);
  float* work[2] = {shared.vector(call.state.layer_count + 1),
                    shared.vector(call.state.layer_count + 2)};
  const float* x = state;
  const int units = call.state.layers[call.state.layer_count - 1].layer.units;
  int next = 0;
  for (int i = 0; i < call.operator_count; ++i) {
    if (i == call.score_count && call.score_count > 0) {
      const std::size_t at = std::size_t{request.key} * call.state.windows + request.window;
      float* pooled = shared.vector(call.state.layer_count + 3);
      for (int n = static_cast<int>(threadIdx.x); n < units; n += static_cast<int>(blockDim.x)) {
        const bool is_new = request.advanced == 0;
        Pooled own{is_new ? -kInfinity : __ldcg(call.state.maximum + at),
                   is_new ? 0.0F : __ldcg(call.state.sum + at),
                   is_new ? 0.0F : __ldcg(call.state.context + at * units + n)};
        attend(x[0], state[n], own);
        pooled[n] = pooled_value(own);
      }
      __syncthreads();
      x = pooled;
    }
    const ResidentOperator& row = call.operators[i];
    run_operator(row, shared.weights + row.weights_at, x,
                 shared.vector(call.state.layer_count + 4), work[next],
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
    answer.number = request.number;
    post_chunk(call.answers + c, answer);
  }
}

// What a block's warps wait for: the request and its frame, then the state of each layer.
struct Arrivals {
  ArrivalBarrier barriers[kStreamLayersMax + 1];
  Request request;
  std::uint32_t acknowledgement;
};

__device__ int request_bytes(const ResidentCall& call) {
  return static_cast<int>(sizeof(Request)) + call.features * static_cast<int>(sizeof(float));
}
// Of the states of layer `layer`: to the first block alone, and with the acknowledgements of all
// warps, where it is the last one.
__device__ int state_bytes(const ResidentCall& call, int layer) {
  const int words = call.state.layers[layer].layer.units;
  if (layer + 1 < call.state.layer_count) return words * 4;
  const auto warps = static_cast<int>(cg::this_cluster().num_blocks() * blockDim.x / 32);
  return (words + warps) * 4;
}

// The first block polls, so that the host's writes meet one reader, and sends to all.
__device__ void pass_request_on(const ResidentCall& call, std::uint32_t number, float* frame,
                                Arrivals& arrivals) {
  const int ranks = static_cast<int>(cg::this_cluster().num_blocks());
  for (int c = static_cast<int>(threadIdx.x); c < request_chunks(call.features);
       c += static_cast<int>(blockDim.x)) {
    Chunk seen = poll_chunk(call.requests + c);
    while (seen.number != number && seen.number != kStopNumber)
      seen = poll_chunk(call.requests + c);
    if (c == 0) {
      const bool is_stop = seen.number != number;
      const unsigned long long* advanced = call.state.advanced + (is_stop ? 0 : seen.words[0]);
      while (!is_stop && static_cast<std::uint32_t>(steps_taken(advanced)) != seen.words[1])
        __nanosleep(20);
      for (int to = 0; to < ranks; ++to) {
        Request& request = arrivals.request;
        send_word(&request.number, is_stop ? 0 : number, arrivals.barriers[0], to);
        send_word(&request.key, seen.words[0], arrivals.barriers[0], to);
        send_word(&request.advanced, seen.words[1], arrivals.barriers[0], to);
        send_word(&request.window, seen.words[2], arrivals.barriers[0], to);
      }
      continue;
    }
#pragma unroll
    for (int i = 0; i < kChunkFloats; ++i) {
      const int k = (c - 1) * kChunkFloats + i;
      if (k >= call.features) break;
      const float x = factor(call.state.layers[0].layer.input, __uint_as_float(seen.words[i]));
      for (int to = 0; to < ranks; ++to) send(frame + k, x, arrivals.barriers[0], to);
    }
  }
}

// The operators' weights, in rows whose vectors lie in different banks.
__device__ void load_operators(const ResidentCall& call, float* weights) {
  for (int i = 0; i < call.operator_count; ++i) {
    const ResidentOperator& row = call.operators[i];
    const DeviceMatrix matrix = row.op.product;
    for (int j = static_cast<int>(threadIdx.x); j < matrix.outputs * row.stride;
         j += static_cast<int>(blockDim.x)) {
      const int k = j % row.stride;
      weights[row.weights_at + j] =
          k < matrix.inputs ? weight_at(matrix, j / row.stride, k) : kNoWeight;
    }
  }
}

template <int ThreadsMax>
__global__ void __launch_bounds__(ThreadsMax, 1)
    resident_kernel(const __grid_constant__ ResidentCall call) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Arrivals arrivals;
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int ranks = static_cast<int>(cluster.num_blocks());
  const int vector_floats = (call.state.layer_count + kTailVectors) * call.vector_floats;
  const Shared shared{memory + vector_floats, memory, call.vector_floats};
  for (int i = static_cast<int>(threadIdx.x); i < vector_floats; i += static_cast<int>(blockDim.x))
    memory[i] = 0.0F;
  if (rank == 0) load_operators(call, shared.weights);
  const Lane lane = lane_of(call, rank);
  const DeviceMatrix& matrix = call.state.layers[lane.layer].layer.input;
  float weights[kSumBlock];
#pragma unroll
  for (int k = 0; k < kSumBlock; ++k)
    weights[k] = lane.is_there && lane.first_k + k < matrix.inputs
                     ? weight_at(matrix, lane.output, lane.first_k + k)
                     : kNoWeight;
  const int layer_count = call.state.layer_count;
  const bool is_last = lane.layer + 1 == layer_count;
  if (threadIdx.x == 0) {
    for (int i = 0; i <= layer_count; ++i) arrivals.barriers[i].init();
    arrivals.barriers[0].expect(request_bytes(call));
    for (int l = 0; l < layer_count; ++l)
      if (l + 1 < layer_count || rank == 0)
        arrivals.barriers[l + 1].expect(state_bytes(call, l));
  }
  // Each layer's first thread has its barrier ready for the request after the one in progress.
  const bool arms = lane.layer > 0 && static_cast<int>(threadIdx.x) ==
                                          call.layers[lane.layer].first_warp * 32;
  cluster.sync();
  for (std::uint32_t number = 1;; ++number) {
    const unsigned parity = (number - 1) % 2;
    if (rank == 0) pass_request_on(call, number, shared.vector(0), arrivals);
    arrivals.barriers[0].wait(parity);
    if (threadIdx.x == 0) arrivals.barriers[0].expect(request_bytes(call));
    const Request request = arrivals.request;
    if (request.number == 0) break;
    const DueState due = due_state(call.state, lane, request);
    if (lane.layer > 0) arrivals.barriers[lane.layer].wait(parity);
    if (arms) arrivals.barriers[lane.layer].expect(state_bytes(call, lane.layer - 1));
    const float part = product_of(weights, shared.vector(lane.layer) + lane.first_k);
    const float p = total_of(lane, part);
    float hidden = cell_of(lane, p, due);
    if (!is_last) hidden = factor(call.state.layers[lane.layer + 1].layer.input, hidden);
    // Each lane of a unit sends to other blocks of the cluster.
    for (int to = lane.block * 4 + lane.gate; lane.unit_is_there && to < (is_last ? 1 : ranks);
         to += lane.block_count * 4)
      send(shared.vector(lane.layer + 1) + lane.unit, hidden, arrivals.barriers[lane.layer + 1],
           to);
    if (lane.layer == 0 && lane.is_there && lane.block == 0)
      call.state.projection[std::size_t{request.key} * lane.width + lane.output] = p;
    __threadfence();  // the projection is for kernels that start after the answer
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      send_word(&arrivals.acknowledgement, 0U, arrivals.barriers[layer_count], 0);
    if (rank != 0) continue;
    arrivals.barriers[layer_count].wait(parity);
    __syncthreads();
    if (threadIdx.x == 0)
      arrivals.barriers[layer_count].expect(state_bytes(call, layer_count - 1));
    run_tail(call, shared, request);
  }
  cluster.sync();  // nobody leaves while others still send to it
}

int round_up(int value, int to) { return (value + to - 1) / to * to; }

}  // namespace

Status plan_resident(const DeviceNetwork& network, ResidentPlan* plan) {
  ResidentCall& call = plan->call;
  const auto operator_count = network.scores.size() + network.head.size();
  if (network.layers.size() > kStreamLayersMax || operator_count > kStreamOperatorsMax)
    return failed(StatusCode::kUnsupported, "%zu layers and %zu operators after them; at most %d "
                  "and %d are kept resident", network.layers.size(), operator_count,
                  kStreamLayersMax, kStreamOperatorsMax);
  call.state.layer_count = static_cast<int>(network.layers.size());
  call.features = network.features;
  int widest = network.widest_operator();
  for (const DeviceLayer& layer : network.layers) {
    if (layer.input.inputs > kResidentInputsMax)
      return failed(StatusCode::kUnsupported,
                    "a layer with %d inputs; at most %d are kept resident", layer.input.inputs,
                    kResidentInputsMax);
    widest = std::max({widest, layer.input.inputs, layer.units});
  }
  call.vector_floats = round_up(widest, kSumBlock);
  for (const int size : {8, 16}) {
    plan->cluster_size = size;
    int warps = 0;
    for (int l = 0; l < call.state.layer_count; ++l) {
      ResidentLayer& own = call.layers[l];
      const DeviceLayer& layer = network.layers[l];
      call.state.layers[l].layer = layer;
      const int blocks = (layer.input.inputs + kSumBlock - 1) / kSumBlock;
      own.sum_blocks = blocks;
      own.block_count = blocks <= 2 ? blocks : 4;
      own.units_per_block = (layer.units + size - 1) / size;
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
      const int padded = round_up(op.product.inputs, 4);
      const int stride = padded + (padded % 32 == 0 ? 4 : 0);
      call.operators[call.operator_count++] = {op, floats, stride, padded};
      floats += op.product.outputs * stride;
    }
  }
  call.score_count = static_cast<int>(network.scores.size());
  plan->shared_bytes =
      ((call.state.layer_count + kTailVectors) * call.vector_floats + floats) * sizeof(float);
  constexpr std::size_t kSharedMax = 220 * 1024;
  if (plan->shared_bytes > kSharedMax)
    return failed(StatusCode::kUnsupported, "its head and attention need %zu bytes of shared "
                  "memory, at most %zu are there", plan->shared_bytes, kSharedMax);
  return {};
}

Status start_resident(const ResidentPlan& plan, cudaStream_t stream) {
  const auto kernel =
      plan.threads <= kThreadsFew ? resident_kernel<kThreadsFew> : resident_kernel<kThreadsMax>;
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  ClusterLaunch launch;
  launch.grid = dim3(static_cast<unsigned>(plan.cluster_size));
  launch.cluster = plan.cluster_size;
  launch.threads = plan.threads;
  launch.shared_bytes = plan.shared_bytes;
  return launch_cluster(kernel, launch, plan.call, stream);
}

}  // namespace tocsin::cuda
