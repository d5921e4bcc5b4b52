// A cluster of blocks takes the same windows: its blocks share the units of each layer between them
// and meet when a layer is done.
#include "engines/cuda/plugin/advance_kernel.cuh"

#include <cooperative_groups.h>

#include <algorithm>

#include "engines/cuda/plugin/step_tile.cuh"

namespace tocsin::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int kManyRows = 4;  // of a thread
constexpr int kClusterMax = 8;

extern __shared__ __align__(16) unsigned char shared_memory[];

// The windows of one block.
struct BlockWindows {
  const StreamState& state;
  std::size_t key;
  unsigned long long advanced;
  int first;
  int count;

  __device__ std::size_t row(int r) const { return key * state.windows + first + r; }
  __device__ int read_plane() const { return static_cast<int>(advanced & 1); }
  __device__ bool is_new(int r) const {
    return state.carried ? advanced == 0
                         : static_cast<unsigned long long>(first + r) == advanced % state.windows;
  }
};

struct LayerAccess {
  const BlockWindows& block;
  int index;

  __device__ const StreamLayer& own() const { return block.state.layers[index]; }
  __device__ const float* projection(int) const {
    return block.state.projection + block.key * own().layer.width();
  }
  __device__ const float* input(int r) const {
    const StreamLayer& below = block.state.layers[index - 1];
    return below.hidden[1 - block.read_plane()] + block.row(r) * below.layer.units;
  }
  __device__ const float* hidden(int r) const {
    return block.is_new(r)
               ? nullptr
               : own().hidden[block.read_plane()] + block.row(r) * own().layer.units;
  }
  __device__ float* cell(int r) const { return own().cell + block.row(r) * own().layer.units; }
  __device__ float* target(int r) const {
    return own().hidden[1 - block.read_plane()] + block.row(r) * own().layer.units;
  }
};

// The outputs of a product that are this block's.
__device__ int first_output() {
  return static_cast<int>(cg::this_cluster().block_rank()) * kTileUnits;
}
__device__ int output_step() {
  return static_cast<int>(cg::this_cluster().num_blocks()) * kTileUnits;
}

template <int Rows>
union Tiles {
  ProductTile<4, Rows> lstm;
  ProductTile<3, Rows> gru;
  ProductTile<1, Rows> dense;
};

template <int Rows>
__device__ void step_layer(const BlockWindows& block, int index, Tiles<Rows>& tiles) {
  const LayerAccess access{block, index};
  const DeviceLayer& layer = access.own().layer;
  for (int unit = first_output(); unit < layer.units; unit += output_step()) {
    const TilePlace place{layer.units, unit, block.count};
    if (layer.cell == CellKind::kLstm)
      step_tile<4, Rows>(layer, place, index == 0, access, tiles.lstm);
    else
      step_tile<3, Rows>(layer, place, index == 0, access, tiles.gru);
  }
  cg::this_cluster().sync();
}

// One operator on the block's rows: y[r] from x(r).
template <int Rows, typename RowAt>
__device__ void run_operator(const DeviceOperator& op, int row_count, RowAt x, float* y,
                             int y_stride, Tiles<Rows>& tiles) {
  for (int first = first_output(); first < op.product.outputs; first += output_step()) {
    const TilePlace place{op.product.outputs, first, row_count};
    float sums[1][Rows];
    full_sums<1, Rows>(op.product, op.bias, place, x, tiles.dense, sums);
    const int output = first + static_cast<int>(threadIdx.x) % kTileUnits;
    const int own_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
    if (output >= op.product.outputs) continue;
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      if (own_row + i >= row_count) break;
      float value = sums[0][i];
      if (op.added != nullptr) value = __fadd_rn(value, op.added[output]);
      y[(own_row + i) * y_stride + output] = activated(op.activation, value);
    }
  }
  cg::this_cluster().sync();
}

template <int Rows>
__device__ void attend_rows(const AdvanceCall& call, const BlockWindows& block,
                            Tiles<Rows>& tiles) {
  const StreamState& state = call.state;
  const int last = state.layer_count - 1;
  const LayerAccess access{block, last};
  const int units = state.layers[last].layer.units;
  const std::size_t half = static_cast<std::size_t>(Rows) * kRowGroups * call.work_width;
  const int ranks = static_cast<int>(cg::this_cluster().num_blocks());
  const int rank = static_cast<int>(cg::this_cluster().block_rank());
  const std::size_t tile = (blockIdx.y * gridDim.x + blockIdx.x) / ranks;
  float* work = call.work + tile * 2 * half;
  for (int i = 0; i < call.score_count; ++i) {
    float* y = work + i % 2 * half;
    const float* before = work + (i + 1) % 2 * half;
    if (i == 0)
      run_operator<Rows>(call.scores[i], block.count, [&](int r) { return access.target(r); }, y,
                         call.work_width, tiles);
    else
      run_operator<Rows>(call.scores[i], block.count,
                         [&](int r) { return before + r * call.work_width; }, y, call.work_width,
                         tiles);
  }
  const float* scores = work + (call.score_count - 1) % 2 * half;
  // Whole rows to one block: a row's columns all read what the first one replaces.
  for (int r = static_cast<int>(threadIdx.x) / 32 * ranks + rank; r < block.count;
       r += kTileThreads / 32 * ranks) {
    const std::size_t row = block.row(r);
    const bool is_new = block.is_new(r);
    const float maximum = is_new ? -kInfinity : state.maximum[row];
    const float sum = is_new ? 0.0F : state.sum[row];
    __syncwarp();  // before the first lane replaces them
    for (int column = static_cast<int>(threadIdx.x) % 32; column < units; column += 32) {
      float* context = state.context + row * units + column;
      Pooled pooled{maximum, sum, is_new ? 0.0F : *context};
      attend(scores[r * call.work_width], access.target(r)[column], pooled);
      *context = pooled.context;
      if (column != 0) continue;
      state.maximum[row] = pooled.maximum;
      state.sum[row] = pooled.sum;
    }
  }
}

// The recurrent half of the next step of the window that is due then, if it is one of the block's.
template <int Gates, int Rows>
__device__ void prepare_due(const BlockWindows& block, const StreamLayer& own, int row,
                            ProductTile<Gates, Rows>& tile) {
  const DeviceLayer& layer = own.layer;
  const float* hidden = own.hidden[1 - block.read_plane()] + block.row(row) * layer.units;
  for (int first = first_output(); first < layer.units; first += output_step()) {
    const TilePlace place{layer.units, first, 1};
    float sums[Gates][Rows];
    full_sums<Gates, Rows>(layer.recurrent, layer.recurrent_bias, place,
                           [&](int) { return hidden; }, tile, sums);
    const int unit = first + static_cast<int>(threadIdx.x);
    if (threadIdx.x >= kTileUnits || unit >= layer.units) continue;
#pragma unroll
    for (int g = 0; g < Gates; ++g)
      own.due[block.key * layer.width() + g * layer.units + unit] = sums[g][0];
  }
}

template <int Rows>
__global__ void __launch_bounds__(kTileThreads, 1)
    advance_kernel(const __grid_constant__ AdvanceCall call) {
  auto& tiles = *reinterpret_cast<Tiles<Rows>*>(shared_memory);
  const StreamState& state = call.state;
  const std::size_t key = call.keys[blockIdx.y];
  const int ranks = static_cast<int>(cg::this_cluster().num_blocks());
  const int first = static_cast<int>(blockIdx.x) / ranks * Rows * kRowGroups;
  const BlockWindows block{state, key, state.advanced[key], first,
                           min(Rows * kRowGroups, state.windows - first)};
  for (int l = 0; l < state.layer_count; ++l) step_layer<Rows>(block, l, tiles);
  if (call.score_count > 0) attend_rows<Rows>(call, block, tiles);
  const int due =
      state.carried ? 0 : static_cast<int>((block.advanced + 2) % state.windows) - first;
  for (int l = 0; due >= 0 && due < block.count && l < state.layer_count; ++l) {
    const StreamLayer& own = state.layers[l];
    if (own.layer.cell == CellKind::kLstm)
      prepare_due<4, Rows>(block, own, due, tiles.lstm);
    else
      prepare_due<3, Rows>(block, own, due, tiles.gru);
  }
  // The last block of a key tells whoever waits for its step.
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (atomicAdd(&state.finished[key], 1U) + 1 < gridDim.x) return;
  state.finished[key] = 0;
  __threadfence();
  atomicAdd(&state.advanced[key], 1ULL);
}

int tiles_of(int windows, int rows) {
  return (windows + rows * kRowGroups - 1) / (rows * kRowGroups);
}

// Whether there are enough windows for blocks of many rows on all multiprocessors.
bool has_many(int key_count, int windows) {
  constexpr int kBlocksWanted = 200;
  return key_count * tiles_of(windows, kManyRows) >= kBlocksWanted;
}

}  // namespace

std::size_t advance_work_floats(int key_count, int windows, int work_width) {
  std::size_t most = 0;
  for (const int rows : {1, kManyRows}) {
    const std::size_t blocks = static_cast<std::size_t>(key_count) * tiles_of(windows, rows);
    const std::size_t floats = blocks * 2 * rows * kRowGroups * work_width;
    most = floats > most ? floats : most;
  }
  return most;
}

Status launch_advance(const AdvanceCall& call, cudaStream_t stream) {
  int widest = 1;
  for (int l = 0; l < call.state.layer_count; ++l)
    widest = std::max(widest, call.state.layers[l].layer.units);
  const int cluster = std::min((widest + kTileUnits - 1) / kTileUnits, kClusterMax);
  const auto launch = [&]<int Rows>() {
    return launch_tiles<Tiles<Rows>>(
        advance_kernel<Rows>,
        dim3(tiles_of(call.state.windows, Rows) * cluster, call.key_count), cluster, call, stream);
  };
  return has_many(call.key_count, call.state.windows) ? launch.template operator()<kManyRows>()
                                                      : launch.template operator()<1>();
}

Status load_advance() {
  cudaFuncAttributes attributes = {};
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaFuncGetAttributes(&attributes, advance_kernel<1>));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaFuncGetAttributes(&attributes, advance_kernel<kManyRows>));
  return {};
}

}  // namespace tocsin::cuda
