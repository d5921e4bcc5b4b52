// A tile of y = W x in the canonical order (kernels/kernels.h, dense): threads hold different
// outputs and rows, each sum runs over k in rising order in blocks of 128. Weights and inputs come
// through shared memory a few chunks ahead of their use.
#pragma once

#include <type_traits>

#include "engines/cuda/plugin/device_memory.cuh"

namespace tocsin::cuda {

inline constexpr int kSumBlock = 128;
inline constexpr int kTileUnits = 32;
inline constexpr int kRowGroups = 8;
inline constexpr int kTileThreads = kTileUnits * kRowGroups;
inline constexpr int kStages = 4;
// Rows of a chunk are 16 bytes further apart than they are long, so that the vectors that eight
// threads load lie in different banks.
inline constexpr int kRowPad = 16;

// kWeightChunk is how many k a chunk holds.
static_assert(kSumBlock % kWeightChunk == 0);

template <int Gates, int Rows>
struct ProductTile {
  static constexpr int kWeightRowBytes = kWeightChunk * static_cast<int>(sizeof(float)) + kRowPad;
  static constexpr int kInputStride = kWeightChunk + kRowPad / static_cast<int>(sizeof(float));
  struct Stage {
    alignas(16) unsigned char weights[Gates * kTileUnits][kWeightRowBytes];
    alignas(16) float inputs[Rows * kRowGroups][kInputStride];
  };
  Stage stages[kStages];
};

struct TilePlace {
  int units = 0;       // outputs of a gate
  int first_unit = 0;  // of the tile
  int row_count = 0;   // rows of the tile that exist
};

// `bytes` of 4 or 16; what is not there becomes zeros.
template <int Bytes>
__device__ void copy_ahead(void* shared, const void* global, bool is_there) {
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = is_there ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global),
                 "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(global),
                 "r"(size)
                 : "memory");
}
__device__ inline void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Left>
__device__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}

// Starts the copy of the chunk that begins at k0.
template <typename Weight, int Gates, int Rows, typename RowAt>
__device__ void copy_chunk(const DeviceMatrix& matrix, const TilePlace& place, RowAt row_at,
                           int k0, typename ProductTile<Gates, Rows>::Stage& stage) {
  constexpr int kVectors = kWeightChunk * static_cast<int>(sizeof(Weight)) / 16;  // of a row
  const auto* weights = static_cast<const unsigned char*>(matrix.weights);
#pragma unroll
  for (int i = 0; i < (Gates * kTileUnits * kVectors + kTileThreads - 1) / kTileThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kTileThreads;
    const int row = index / kVectors;  // of [Gates, kTileUnits]
    const int vector = index % kVectors;
    if (Gates * kTileUnits * kVectors % kTileThreads != 0 && row >= Gates * kTileUnits) break;
    const int unit = place.first_unit + row % kTileUnits;
    const bool is_there = unit < place.units;
    const std::size_t output =
        is_there ? static_cast<std::size_t>(row / kTileUnits) * place.units + unit : 0;
    const std::size_t at = (output * matrix.stride + k0) * sizeof(Weight) + vector * 16;
    copy_ahead<16>(&stage.weights[row][vector * 16], weights + at, is_there);
  }
#pragma unroll
  for (int i = 0; i < Rows * kRowGroups * kWeightChunk / kTileThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kTileThreads;
    const int k = index % kWeightChunk;
    const int r = index / kWeightChunk;
    const float* row =
        k0 + k < matrix.inputs && r < place.row_count ? row_at(r) : nullptr;
    copy_ahead<4>(&stage.inputs[r][k],
                  row == nullptr ? matrix.weights : static_cast<const void*>(row + k0 + k),
                  row != nullptr);
  }
}

// part[g][i] += the products of one chunk.
template <typename Weight, int Gates, int Rows>
__device__ void multiply_chunk(const DeviceMatrix& matrix,
                               const typename ProductTile<Gates, Rows>::Stage& stage,
                               float (&part)[Gates][Rows]) {
  const int unit = static_cast<int>(threadIdx.x) % kTileUnits;
  const int first_row = static_cast<int>(threadIdx.x) / kTileUnits * Rows;
  constexpr int kVector = 16 / static_cast<int>(sizeof(Weight));
#pragma unroll
  for (int k0 = 0; k0 < kWeightChunk; k0 += kVector) {
    Weight weights[Gates][kVector];
#pragma unroll
    for (int g = 0; g < Gates; ++g)
      *reinterpret_cast<uint4*>(weights[g]) = *reinterpret_cast<const uint4*>(
          &stage.weights[g * kTileUnits + unit][k0 * static_cast<int>(sizeof(Weight))]);
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
        float x = stage.inputs[first_row + i][k0 + k];
        if constexpr (std::is_same_v<Weight, signed char>) x = factor(matrix, x);
#pragma unroll
        for (int g = 0; g < Gates; ++g)
          part[g][i] = __fmaf_rn(static_cast<float>(weights[g][k]), x, part[g][i]);
      }
    }
  }
}

template <typename Weight, int Gates, int Rows, typename RowAt>
__device__ void add_products_of(const DeviceMatrix& matrix, const TilePlace& place, RowAt row_at,
                                ProductTile<Gates, Rows>& tile, float (&sums)[Gates][Rows]) {
  const int chunk_count = (matrix.inputs + kWeightChunk - 1) / kWeightChunk;
  const auto copy = [&](int chunk) {
    if (chunk < chunk_count)
      copy_chunk<Weight, Gates, Rows>(matrix, place, row_at, chunk * kWeightChunk,
                                      tile.stages[chunk % kStages]);
    end_of_copies();
  };
  __syncthreads();  // the tile may still be read for the product before
  for (int chunk = 0; chunk + 1 < kStages; ++chunk) copy(chunk);
  float part[Gates][Rows] = {};
  for (int chunk = 0; chunk < chunk_count; ++chunk) {
    await_copies<kStages - 2>();
    __syncthreads();
    copy(chunk + kStages - 1);
    multiply_chunk<Weight, Gates, Rows>(matrix, tile.stages[chunk % kStages], part);
    const int end = (chunk + 1) * kWeightChunk;
    if (end % kSumBlock != 0 && end < matrix.inputs) continue;
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
