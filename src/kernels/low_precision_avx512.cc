// The low-precision kernels on AVX-512 without VNNI: 32 registers.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

constexpr int kTileRows = 6;
constexpr int kTilePairs = 2;
constexpr int kSingleRowPanels = 2;
constexpr int kInt8TileRows = 4;
constexpr int kInt8TileVectors = 4;
constexpr int kInt8SingleRowVectors = 4;

#include "kernels/vector_512.inc"
// Above come the vectors that these are written in.
#include "kernels/half.inc"
#include "kernels/int8_wide.inc"
#include "kernels/quantise.inc"
// Above come the products that this is written in.
#include "kernels/int8.inc"

void dense_int8(const Int8DenseCall& call) noexcept { dense_bytes(call); }

constexpr LowPrecisionKernels kTable = {
    .dense_bfloat16 = dense_bfloat16,
    .dense_float16 = dense_float16,
    .quantise_rows = quantise_rows,
    .dense_int8 = dense_int8,
};

}  // namespace

const LowPrecisionKernels& avx512_low_precision() noexcept { return kTable; }

}  // namespace tocsin
