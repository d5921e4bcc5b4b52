// Tiles over units and rows: as many rows a thread as leave work for all multiprocessors.
#include "engines/cuda/plugin/batched_kernels.cuh"

#include "engines/cuda/plugin/step_tile.cuh"

namespace tocsin::cuda {
namespace {

extern __shared__ __align__(16) unsigned char shared_memory[];

struct BatchAccess {
  const StepCall& call;
  int first = 0;

  __device__ const float* projection(int) const { return nullptr; }
  __device__ const float* input(int r) const { return call.input.row(first + r); }
  __device__ const float* hidden(int r) const {
    return call.hidden.data == nullptr ? nullptr : call.hidden.row(first + r);
  }
  __device__ float* cell(int r) const {
    return call.cell + static_cast<std::size_t>(first + r) * call.layer.units;
  }
  __device__ float* target(int r) const { return call.target.row(first + r); }
};

template <int Gates, int Rows>
__global__ void __launch_bounds__(kTileThreads, 1) step_kernel(const StepCall call) {
  auto& tile = *reinterpret_cast<ProductTile<Gates, Rows>*>(shared_memory);
  const int first = static_cast<int>(blockIdx.y) * Rows * kRowGroups;
  const TilePlace place{call.layer.units, static_cast<int>(blockIdx.x) * kTileUnits,
                        min(Rows * kRowGroups, call.row_count - first)};
  step_tile<Gates, Rows>(call.layer, place, false, BatchAccess{call, first}, tile);
}

template <int Rows>
__global__ void __launch_bounds__(kTileThreads, 1) dense_kernel(const DenseCall call) {
  auto& tile = *reinterpret_cast<ProductTile<1, Rows>*>(shared_memory);
  const int first = static_cast<int>(blockIdx.y) * Rows * kRowGroups;
  const int outputs = call.matrix.outputs;
  const TilePlace place{outputs, static_cast<int>(blockIdx.x) * kTileUnits,
                        min(Rows * kRowGroups, call.row_count - first)};
  float sums[1][Rows];
  full_sums<1, Rows>(call.matrix, call.bias, place,
                     [&](int r) { return call.x.row(first + r); }, tile, sums);
  const int output = place.first_unit + static_cast<int>(threadIdx.x) % kTileUnits;
  const int own_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
  if (output >= outputs) return;
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (own_row + i >= place.row_count) break;
    float y = sums[0][i];
    if (call.added != nullptr) y = __fadd_rn(y, call.added[output]);
    y = activated(call.activation, y);
    call.y[static_cast<std::size_t>(first + own_row + i) * outputs + output] =
        call.is_output ? with_quiet_nan(y) : y;
  }
}

__global__ void softmax_kernel(const SoftmaxCall call) {
  const int r = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (r < call.row_count)
    softmax_row(call.y + static_cast<std::size_t>(r) * call.width, call.width);
}

__global__ void pool_kernel(const PoolCall call) {
  const std::size_t window = blockIdx.x;
  const float* scores = call.scores + window * call.steps;
  for (int column = static_cast<int>(threadIdx.x); column < call.width;
       column += static_cast<int>(blockDim.x)) {
    const float* values = call.values + window * call.steps * call.width + column;
    Pooled pooled{-kInfinity, 0.0F, 0.0F};
#pragma unroll 4
    for (int t = 0; t < call.steps; ++t)
      attend(scores[t], values[static_cast<std::size_t>(t) * call.width], pooled);
    call.pooled[window * call.width + column] = pooled_value(pooled);
  }
}

// Runs launch.template operator()<Rows>(grid) with the most rows a thread that still give each
// multiprocessor a block.
template <typename Launch>
void with_rows(int outputs, int row_count, Launch launch) {
  constexpr unsigned kBlocksWanted = 100;
  const auto grid = [&](int rows) {
    const int tile_rows = rows * kRowGroups;
    return dim3((outputs + kTileUnits - 1) / kTileUnits, (row_count + tile_rows - 1) / tile_rows);
  };
  const auto suffices = [&](int rows) { return grid(rows).x * grid(rows).y >= kBlocksWanted; };
  if (suffices(4)) return launch.template operator()<4>(grid(4));
  if (suffices(2)) return launch.template operator()<2>(grid(2));
  launch.template operator()<1>(grid(1));
}

}  // namespace

Status launch_step(const StepCall& call, cudaStream_t stream) {
  Status status;
  with_rows(call.layer.units, call.row_count, [&]<int Rows>(dim3 grid) {
    if (call.layer.cell == CellKind::kLstm)
      status = launch_tiles<ProductTile<4, Rows>>(step_kernel<4, Rows>, grid, 1, call, stream);
    else
      status = launch_tiles<ProductTile<3, Rows>>(step_kernel<3, Rows>, grid, 1, call, stream);
  });
  return status;
}

Status launch_dense(const DenseCall& call, cudaStream_t stream) {
  Status status;
  with_rows(call.matrix.outputs, call.row_count, [&]<int Rows>(dim3 grid) {
    status = launch_tiles<ProductTile<1, Rows>>(dense_kernel<Rows>, grid, 1, call, stream);
  });
  return status;
}

Status launch_softmax(const SoftmaxCall& call, cudaStream_t stream) {
  constexpr int kThreads = 64;
  softmax_kernel<<<(call.row_count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(call);
  return status_of(cudaGetLastError(), "launch of a softmax");
}

Status launch_pool(const PoolCall& call, cudaStream_t stream) {
  pool_kernel<<<call.batch, 128, 0, stream>>>(call);
  return status_of(cudaGetLastError(), "launch of attention over windows");
}

}  // namespace tocsin::cuda
