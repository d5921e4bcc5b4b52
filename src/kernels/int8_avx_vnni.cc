// INT8 products by AVX-VNNI, on machines without AVX-512: exact in 32 bits.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

constexpr int kInt8TileRows = 4;
constexpr int kInt8TileVectors = 2;
constexpr int kInt8SingleRowVectors = 4;

#include "kernels/vector_256.inc"

using ByteWeights = IntVector;
using ByteInputs = IntVector;

inline ByteWeights prepare_weights(IntVector bytes) noexcept { return bytes; }
inline ByteInputs prepare_inputs(IntVector bytes) noexcept { return bytes; }
inline IntVector add_products(IntVector sum, ByteInputs inputs, ByteWeights weights) noexcept {
  return _mm256_dpbusd_avx_epi32(sum, inputs, weights);
}

#include "kernels/int8.inc"

}  // namespace

void dense_int8_avx_vnni(const Int8DenseCall& call) noexcept { dense_bytes(call); }

}  // namespace tocsin
