// Rows of a tile are found once; then two products in canonical order and the cell.
#include "engines/cuda/plugin/batched_kernels.cuh"

#include "engines/cuda/plugin/cells.cuh"
#include "engines/cuda/plugin/product_tile.cuh"

namespace tocsin::cuda {
namespace {

constexpr int kManyRows = 8;  // of a thread

template <int Rows>
struct TileRows {
  Row rows[Rows * kRowGroups];

  __device__ void find(const RowMap& map, int first, int count) {
    for (int r = static_cast<int>(threadIdx.x); r < count; r += kTileThreads)
      rows[r] = row_of(map, first + r);
  }
};

__device__ float value_or_zero(const float* values, int index) {
  return values == nullptr ? 0.0F : values[index];
}

template <int Gates, int Rows>
__device__ void start_sums(const DeviceMatrix& matrix, const float* bias, int units, int unit,
                           float (&sums)[Gates][Rows]) {
#pragma unroll
  for (int g = 0; g < Gates; ++g) {
    const float start = unit < units ? value_or_zero(bias, g * units + unit) : 0.0F;
#pragma unroll
    for (int i = 0; i < Rows; ++i) sums[g][i] = sum_start(matrix, start);
  }
}

template <int Gates, int Rows>
__device__ void finish_sums(const DeviceMatrix& matrix, const float* bias, int units, int unit,
                            float (&sums)[Gates][Rows]) {
  if (unit >= units) return;
#pragma unroll
  for (int g = 0; g < Gates; ++g)
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      sums[g][i] = finished_sum(matrix, g * units + unit, sums[g][i],
                                value_or_zero(bias, g * units + unit));
}

template <int Gates, int Rows>
__global__ void __launch_bounds__(kTileThreads, 1) step_kernel(const StepCall call) {
  __shared__ ProductTile<Gates, Rows> tile;
  __shared__ TileRows<Rows> found;
  const DeviceLayer& layer = call.layer;
  const int first_row = static_cast<int>(blockIdx.y) * Rows * kRowGroups;
  const int row_count = min(Rows * kRowGroups, call.row_count - first_row);
  found.find(call.rows, first_row, row_count);
  __syncthreads();
  const TilePlace place{layer.units, static_cast<int>(blockIdx.x) * kTileUnits, row_count};
  const int unit = place.first_unit + static_cast<int>(threadIdx.x) % kTileUnits;
  const int own_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;

  float p[Gates][Rows];
  if (call.projection == nullptr) {
    start_sums(layer.input, layer.bias, layer.units, unit, p);
    add_products<Gates, Rows>(
        layer.input, place,
        [&](int r) {
          const Row& row = found.rows[r];
          return call.input.plane[1 - row.plane] + row.state * call.input.stride;
        },
        tile, p);
    finish_sums(layer.input, layer.bias, layer.units, unit, p);
  }
  float r[Gates][Rows];
  start_sums(layer.recurrent, layer.recurrent_bias, layer.units, unit, r);
  add_products<Gates, Rows>(
      layer.recurrent, place,
      [&](int i) -> const float* {
        const Row& row = found.rows[i];
        if (row.is_new) return nullptr;
        return call.hidden.plane[row.plane] + row.state * call.hidden.stride;
      },
      tile, r);
  finish_sums(layer.recurrent, layer.recurrent_bias, layer.units, unit, r);
  if (unit >= layer.units) return;
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (own_row + i >= row_count) break;
    const Row& row = found.rows[own_row + i];
    if (call.projection != nullptr)
#pragma unroll
      for (int g = 0; g < Gates; ++g)
        p[g][i] = call.projection[row.group * Gates * layer.units + g * layer.units + unit];
    float* target = call.hidden.plane[1 - row.plane] + row.state * call.hidden.stride + unit;
    if constexpr (Gates == 4) {
      const float pre[4] = {__fadd_rn(p[0][i], r[0][i]), __fadd_rn(p[1][i], r[1][i]),
                            __fadd_rn(p[2][i], r[2][i]), __fadd_rn(p[3][i], r[3][i])};
      float* kept = call.cell + row.state * layer.units + unit;
      float cell = row.is_new ? 0.0F : *kept;
      *target = lstm_cell(pre, layer.clip, cell);
      *kept = cell;
    } else {
      const float* before =
          call.hidden.plane[row.plane] + row.state * call.hidden.stride + unit;
      const float halves_p[3] = {p[0][i], p[1][i], p[2][i]};
      const float halves_r[3] = {r[0][i], r[1][i], r[2][i]};
      *target = gru_cell(halves_p, halves_r, layer.clip, row.is_new ? 0.0F : *before);
    }
  }
}

__device__ float activated(Activation activation, float x) {
  switch (activation) {
    case Activation::kTanh:
      return tanh_of(x);
    case Activation::kSigmoid:
      return sigmoid_of(x);
    case Activation::kRelu:
      return x < 0.0F ? 0.0F : x;
    default:
      return x;
  }
}

template <int Rows>
__global__ void __launch_bounds__(kTileThreads) dense_kernel(const DenseCall call) {
  __shared__ ProductTile<1, Rows> tile;
  __shared__ TileRows<Rows> found;
  const int first_row = static_cast<int>(blockIdx.y) * Rows * kRowGroups;
  const int row_count = min(Rows * kRowGroups, call.row_count - first_row);
  found.find(call.rows, first_row, row_count);
  __syncthreads();
  const int outputs = call.matrix.outputs;
  const TilePlace place{outputs, static_cast<int>(blockIdx.x) * kTileUnits, row_count};
  const int output = place.first_unit + static_cast<int>(threadIdx.x) % kTileUnits;
  const int own_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
  float sums[1][Rows];
  start_sums(call.matrix, call.bias, outputs, output, sums);
  add_products<1, Rows>(
      call.matrix, place,
      [&](int r) {
        const Row& row = found.rows[r];
        const int plane = call.rows.is_due ? row.plane : 1 - row.plane;
        return call.x.plane[plane] + row.state * call.x.stride;
      },
      tile, sums);
  finish_sums(call.matrix, call.bias, outputs, output, sums);
  if (output >= outputs) return;
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    if (own_row + i >= row_count) break;
    float y = sums[0][i];
    if (call.added != nullptr) y = __fadd_rn(y, call.added[output]);
    y = activated(call.activation, y);
    const std::size_t row =
        call.by_group ? found.rows[own_row + i].group : static_cast<std::size_t>(first_row) + own_row + i;
    call.y[row * outputs + output] = call.is_output ? with_quiet_nan(y) : y;
  }
}

__global__ void softmax_kernel(const SoftmaxCall call) {
  const int r = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (r < call.row_count) softmax_row(call.y + static_cast<std::size_t>(r) * call.width, call.width);
}

__global__ void pool_kernel(const PoolCall call) {
  const std::size_t window = blockIdx.x;
  const float* scores = call.scores + window * call.steps;
  for (int column = static_cast<int>(threadIdx.x); column < call.width;
       column += static_cast<int>(blockDim.x)) {
    const float* values = call.values + window * call.steps * call.width + column;
    Pooled pooled{-kInfinity, 0.0F, 0.0F};
    for (int t = 0; t < call.steps; ++t)
      attend(scores[t], values[static_cast<std::size_t>(t) * call.width], pooled);
    call.pooled[window * call.width + column] = pooled_value(pooled);
  }
}

__global__ void attend_kernel(const AttendCall call) {
  const Row row = row_of(call.rows, static_cast<int>(blockIdx.x));
  const float* values = call.values.plane[1 - row.plane] + row.state * call.values.stride;
  const float score = call.scores[blockIdx.x];
  const float maximum = row.is_new ? -kInfinity : call.maximum[row.state];
  const float sum = row.is_new ? 0.0F : call.sum[row.state];
  __syncthreads();  // before the first column's thread replaces them
  for (int column = static_cast<int>(threadIdx.x); column < call.width;
       column += static_cast<int>(blockDim.x)) {
    float* context = call.context + row.state * call.width + column;
    Pooled pooled{maximum, sum, row.is_new ? 0.0F : *context};
    attend(score, values[column], pooled);
    *context = pooled.context;
    if (column != 0) continue;
    call.maximum[row.state] = pooled.maximum;
    call.sum[row.state] = pooled.sum;
  }
}

__global__ void finish_kernel(const std::uint32_t* keys, int key_count,
                              unsigned long long* advanced) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= key_count) return;
  __threadfence();
  atomicAdd(&advanced[keys[i]], 1ULL);
}

dim3 tiles(int outputs, int row_count, int rows) {
  const int tile_rows = rows * kRowGroups;
  return dim3((outputs + kTileUnits - 1) / kTileUnits, (row_count + tile_rows - 1) / tile_rows);
}

}  // namespace

Status launch_step(const StepCall& call, cudaStream_t stream) {
  const bool many = call.row_count > kRowGroups;
  const dim3 grid = tiles(call.layer.units, call.row_count, many ? kManyRows : 1);
  if (call.layer.cell == CellKind::kLstm) {
    if (many)
      step_kernel<4, kManyRows><<<grid, kTileThreads, 0, stream>>>(call);
    else
      step_kernel<4, 1><<<grid, kTileThreads, 0, stream>>>(call);
  } else {
    if (many)
      step_kernel<3, kManyRows><<<grid, kTileThreads, 0, stream>>>(call);
    else
      step_kernel<3, 1><<<grid, kTileThreads, 0, stream>>>(call);
  }
  return status_of(cudaGetLastError(), "launch of a recurrent step");
}

Status launch_dense(const DenseCall& call, cudaStream_t stream) {
  const bool many = call.row_count > kRowGroups;
  const dim3 grid = tiles(call.matrix.outputs, call.row_count, many ? kManyRows : 1);
  if (many)
    dense_kernel<kManyRows><<<grid, kTileThreads, 0, stream>>>(call);
  else
    dense_kernel<1><<<grid, kTileThreads, 0, stream>>>(call);
  return status_of(cudaGetLastError(), "launch of a product");
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

Status launch_attend(const AttendCall& call, cudaStream_t stream) {
  attend_kernel<<<call.row_count, 128, 0, stream>>>(call);
  return status_of(cudaGetLastError(), "launch of an attention step");
}

Status launch_finish(const std::uint32_t* keys, int key_count, unsigned long long* advanced,
                     cudaStream_t stream) {
  constexpr int kThreads = 128;
  finish_kernel<<<(key_count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(keys, key_count,
                                                                                  advanced);
  return status_of(cudaGetLastError(), "launch of a step's end");
}

Status load_kernels() {
  const void* const kernels[] = {
      reinterpret_cast<const void*>(step_kernel<4, kManyRows>),
      reinterpret_cast<const void*>(step_kernel<4, 1>),
      reinterpret_cast<const void*>(step_kernel<3, kManyRows>),
      reinterpret_cast<const void*>(step_kernel<3, 1>),
      reinterpret_cast<const void*>(dense_kernel<kManyRows>),
      reinterpret_cast<const void*>(dense_kernel<1>),
      reinterpret_cast<const void*>(softmax_kernel),
      reinterpret_cast<const void*>(pool_kernel),
      reinterpret_cast<const void*>(attend_kernel),
      reinterpret_cast<const void*>(finish_kernel),
  };
  cudaFuncAttributes attributes = {};
  for (const void* kernel : kernels)
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaFuncGetAttributes(&attributes, kernel));
  return {};
}

}  // namespace tocsin::cuda
