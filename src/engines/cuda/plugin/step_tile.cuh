// One step of a recurrent layer, of a tile of units and rows, in the canonical order.
#pragma once

#include "engines/cuda/plugin/batched_kernels.cuh"
#include "engines/cuda/plugin/cells.cuh"
#include "engines/cuda/plugin/cluster_launch.cuh"
#include "engines/cuda/plugin/product_tile.cuh"

namespace tocsin::cuda {

__device__ inline float value_or_zero(const float* values, int index) {
  return values == nullptr ? 0.0F : values[index];
}

// sums = bias + W x, of the gates of a unit; a unit beyond the layer's has zeros.
template <int Gates, int Rows, typename RowAt>
__device__ void full_sums(const DeviceMatrix& matrix, const float* bias, const TilePlace& place,
                          RowAt row_at, ProductTile<Gates, Rows>& tile,
                          float (&sums)[Gates][Rows]) {
  const int unit = place.first_unit + static_cast<int>(threadIdx.x) % kTileUnits;
  const bool is_there = unit < place.units;
#pragma unroll
  for (int g = 0; g < Gates; ++g) {
    const float start = is_there ? value_or_zero(bias, g * place.units + unit) : 0.0F;
#pragma unroll
    for (int i = 0; i < Rows; ++i) sums[g][i] = sum_start(matrix, start);
  }
  add_products<Gates, Rows>(matrix, place, row_at, tile, sums);
  if (!is_there) return;
#pragma unroll
  for (int g = 0; g < Gates; ++g)
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      sums[g][i] = finished_sum(matrix, g * place.units + unit, sums[g][i],
                                value_or_zero(bias, g * place.units + unit));
}

// `Access` says where row r of the tile has its data:
//   const float* projection(r)  [width], or null: input(r) is multiplied
//   const float* input(r)       [inputs]
//   const float* hidden(r)      [units] before the step, or null: zeros
//   float* cell(r)              [units], of an LSTM
//   float* target(r)            [units] after the step; another place than any hidden(r)
template <int Gates, int Rows, typename Access>
__device__ void step_tile(const DeviceLayer& layer, const TilePlace& place, bool has_projection,
                          const Access& access, ProductTile<Gates, Rows>& tile) {
  float p[Gates][Rows];
  float r[Gates][Rows];
  if (!has_projection)
    full_sums<Gates, Rows>(layer.input, layer.bias, place,
                           [&](int row) { return access.input(row); }, tile, p);
  full_sums<Gates, Rows>(layer.recurrent, layer.recurrent_bias, place,
                         [&](int row) { return access.hidden(row); }, tile, r);
  const int unit = place.first_unit + static_cast<int>(threadIdx.x) % kTileUnits;
  const int first_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
  if (unit >= layer.units) return;
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    const int row = first_row + i;
    if (row >= place.row_count) break;
    if (has_projection) {
      const float* known = access.projection(row);
#pragma unroll
      for (int g = 0; g < Gates; ++g) p[g][i] = known[g * layer.units + unit];
    }
    const float* before = access.hidden(row);
    if constexpr (Gates == 4) {
      const float pre[4] = {__fadd_rn(p[0][i], r[0][i]), __fadd_rn(p[1][i], r[1][i]),
                            __fadd_rn(p[2][i], r[2][i]), __fadd_rn(p[3][i], r[3][i])};
      float* kept = access.cell(row) + unit;
      float cell = before == nullptr ? 0.0F : *kept;
      access.target(row)[unit] = lstm_cell(pre, layer.clip, cell);
      *kept = cell;
    } else {
      const float halves_p[3] = {p[0][i], p[1][i], p[2][i]};
      const float halves_r[3] = {r[0][i], r[1][i], r[2][i]};
      access.target(row)[unit] =
          gru_cell(halves_p, halves_r, layer.clip, before == nullptr ? 0.0F : before[unit]);
    }
  }
}

__device__ inline float activated(Activation activation, float x) {
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

// Launches a kernel whose shared memory is a tile, in clusters of that many blocks.
template <typename Tile, typename Call>
Status launch_tiles(void (*kernel)(Call), dim3 grid, int cluster, const Call& call,
                    cudaStream_t stream) {
  return launch_cluster(kernel, {grid, cluster, kTileThreads, sizeof(Tile)}, call, stream);
}

}  // namespace tocsin::cuda
