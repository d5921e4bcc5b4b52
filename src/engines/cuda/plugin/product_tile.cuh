// A tile of y = W x in the canonical order (kernels/kernels.h, dense): threads hold different
// outputs and rows, each sum runs over k in rising order in blocks of 128.
#pragma once

#include "engines/cuda/plugin/device_memory.cuh"

namespace tocsin::cuda {

inline constexpr int kSumBlock = 128;
inline constexpr int kTileUnits = 32;
inline constexpr int kTileInputs = 32;
inline constexpr int kRowGroups = 8;
inline constexpr int kTileThreads = kTileUnits * kRowGroups;
// Rows are 16 bytes apart beyond a multiple of the banks, so that 8 threads' vectors do not meet.
inline constexpr int kTileStride = kTileInputs + 4;

template <int Gates, int Rows>
struct ProductTile {
  alignas(16) float weights[Gates][kTileUnits][kTileStride];
  alignas(16) float inputs[Rows * kRowGroups][kTileStride];
};

struct TilePlace {
  int units = 0;       // outputs of a gate
  int first_unit = 0;  // of the tile
  int row_count = 0;   // rows of the tile that exist
};

// A chunk of k on its way from global memory to the tile: a thread's share, all loads at once.
template <int Gates, int Rows>
struct ProductChunk {
  static constexpr int kWeights = Gates * kTileUnits * kTileInputs / kTileThreads;
  static constexpr int kInputs = Rows * kRowGroups * kTileInputs / kTileThreads;
  float weights[kWeights];
  float inputs[kInputs];

  template <typename Weight, typename RowAt>
  __device__ void load(const DeviceMatrix& matrix, const TilePlace& place, RowAt row_at, int k0,
                       int count) {
    const auto* values = static_cast<const Weight*>(matrix.weights);
    const int k = static_cast<int>(threadIdx.x) % kTileInputs;
    const int first = static_cast<int>(threadIdx.x) / kTileInputs;
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      const int row = first + i * kRowGroups;  // of [Gates, kTileUnits]
      const int unit = place.first_unit + row % kTileUnits;
      const std::size_t output =
          static_cast<std::size_t>(row / kTileUnits) * place.units + unit;
      weights[i] = k < count && unit < place.units
                       ? static_cast<float>(values[output * matrix.inputs + k0 + k])
                       : 0.0F;
    }
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      const int r = first + i * kRowGroups;
      const float* row = k < count && r < place.row_count ? row_at(r) : nullptr;
      inputs[i] = row == nullptr ? 0.0F : row[k0 + k];
    }
  }

  __device__ void store(const DeviceMatrix& matrix, ProductTile<Gates, Rows>& tile) const {
    const int k = static_cast<int>(threadIdx.x) % kTileInputs;
    const int first = static_cast<int>(threadIdx.x) / kTileInputs;
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      const int row = first + i * kRowGroups;
      tile.weights[row / kTileUnits][row % kTileUnits][k] = weights[i];
    }
#pragma unroll
    for (int i = 0; i < kInputs; ++i)
      tile.inputs[first + i * kRowGroups][k] = factor(matrix, inputs[i]);
  }
};

// part[g][i] += the products of one chunk.
template <int Gates, int Rows>
__device__ void multiply_chunk(const ProductTile<Gates, Rows>& tile, int count,
                               float (&part)[Gates][Rows]) {
  const int unit = static_cast<int>(threadIdx.x) % kTileUnits;
  const int first_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
  const auto multiply = [&](int k) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const float x = tile.inputs[first_row + i][k];
#pragma unroll
      for (int g = 0; g < Gates; ++g)
        part[g][i] = __fmaf_rn(tile.weights[g][unit][k], x, part[g][i]);
    }
  };
  if (count == kTileInputs) {
#pragma unroll
    for (int k = 0; k < kTileInputs; ++k) multiply(k);
  } else {
    for (int k = 0; k < count; ++k) multiply(k);
  }
}

template <typename Weight, int Gates, int Rows, typename RowAt>
__device__ void add_products_of(const DeviceMatrix& matrix, const TilePlace& place, RowAt row_at,
                                ProductTile<Gates, Rows>& tile, float (&sums)[Gates][Rows]) {
  ProductChunk<Gates, Rows> chunk;
  float part[Gates][Rows] = {};
  chunk.template load<Weight>(matrix, place, row_at, 0, min(kTileInputs, matrix.inputs));
  for (int k0 = 0; k0 < matrix.inputs; k0 += kTileInputs) {
    const int next = k0 + kTileInputs;
    __syncthreads();
    chunk.store(matrix, tile);
    __syncthreads();
    if (next < matrix.inputs)
      chunk.template load<Weight>(matrix, place, row_at, next,
                                  min(kTileInputs, matrix.inputs - next));
    multiply_chunk(tile, min(kTileInputs, matrix.inputs - k0), part);
    if (next % kSumBlock != 0 && next < matrix.inputs) continue;
#pragma unroll
    for (int g = 0; g < Gates; ++g)
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        sums[g][i] = __fadd_rn(sums[g][i], part[g][i]);
        part[g][i] = 0.0F;
      }
  }
}

// sums[g][i] += the products of output g * units + first_unit + threadIdx.x % 32 with row
// (threadIdx.x / 32) * Rows + i. `row_at(r)` gives the inputs of a tile's row; null: zeros.
template <int Gates, int Rows, typename RowAt>
__device__ void add_products(const DeviceMatrix& matrix, const TilePlace& place, RowAt row_at,
                             ProductTile<Gates, Rows>& tile, float (&sums)[Gates][Rows]) {
  switch (matrix.type) {
    case WeightType::kFloat32:
      return add_products_of<float>(matrix, place, row_at, tile, sums);
    case WeightType::kBfloat16:
      return add_products_of<__nv_bfloat16>(matrix, place, row_at, tile, sums);
    case WeightType::kFloat16:
      return add_products_of<__half>(matrix, place, row_at, tile, sums);
    case WeightType::kInt8:
      return add_products_of<signed char>(matrix, place, row_at, tile, sums);
  }
}

}  // namespace tocsin::cuda
