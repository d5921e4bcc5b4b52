// AVX2 and FMA: 16 registers hold the sums of 6 rows by 16 outputs.
#include <immintrin.h>

#include <cstddef>

namespace tocsin {
namespace {

struct Vector {
  __m256 v;
};

constexpr std::size_t kVectorLanes = 8;
constexpr int kTileVectors = 2;
constexpr int kSingleRowVectors = 8;
template <int Vectors>
constexpr int kRowsOf = Vectors == 2 ? 6 : 1;

inline Vector zeros() noexcept { return {_mm256_setzero_ps()}; }
inline Vector load_vector(const float* p) noexcept { return {_mm256_loadu_ps(p)}; }
inline Vector broadcast(const float* p) noexcept { return {_mm256_broadcast_ss(p)}; }
inline Vector fused_vectors(Vector a, Vector b, Vector c) noexcept {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
inline Vector add_vectors(Vector a, Vector b) noexcept { return {_mm256_add_ps(a.v, b.v)}; }
inline Vector subtract_vectors(Vector a, Vector b) noexcept { return {_mm256_sub_ps(a.v, b.v)}; }
inline Vector multiply_vectors(Vector a, Vector b) noexcept { return {_mm256_mul_ps(a.v, b.v)}; }
inline Vector divide_vectors(Vector a, Vector b) noexcept { return {_mm256_div_ps(a.v, b.v)}; }
inline Vector all_lanes(float value) noexcept { return {_mm256_set1_ps(value)}; }
inline Vector magnitude(Vector a) noexcept {
  return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), a.v)};
}
inline Vector negated(Vector a) noexcept { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0F))}; }
inline Vector with_sign_of(Vector positive, Vector sign) noexcept {
  return {_mm256_or_ps(positive.v, _mm256_and_ps(sign.v, _mm256_set1_ps(-0.0F)))};
}
// 2^n for integers n in [-126, 127].
inline __m256 exponent_of(__m256i n) noexcept {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
inline Vector power_of_two(Vector n) noexcept { return {exponent_of(_mm256_cvtps_epi32(n.v))}; }
// a * 2^n for an integer n: the first of the two steps is exact.
inline Vector scaled(Vector a, Vector n) noexcept {
  const __m256i whole = _mm256_cvtps_epi32(n.v);
  const __m256i half = _mm256_srai_epi32(whole, 1);
  const __m256 exact = _mm256_mul_ps(a.v, exponent_of(half));
  return {_mm256_mul_ps(exact, exponent_of(_mm256_sub_epi32(whole, half)))};
}
inline Vector where_below(Vector a, float bound, Vector then, Vector otherwise) noexcept {
  const __m256 below = _mm256_cmp_ps(a.v, _mm256_set1_ps(bound), _CMP_LT_OQ);
  return {_mm256_blendv_ps(otherwise.v, then.v, below)};
}
inline Vector where_above(Vector a, float bound, Vector then, Vector otherwise) noexcept {
  const __m256 above = _mm256_cmp_ps(a.v, _mm256_set1_ps(bound), _CMP_GT_OQ);
  return {_mm256_blendv_ps(otherwise.v, then.v, above)};
}
// The instruction returns its second operand where one is NaN.
inline Vector at_least(Vector a, float low) noexcept {
  return {_mm256_max_ps(_mm256_set1_ps(low), a.v)};
}
inline Vector at_most(Vector a, float high) noexcept {
  return {_mm256_min_ps(_mm256_set1_ps(high), a.v)};
}
// The first where they are equal or one is NaN.
inline Vector larger_of(Vector a, Vector low) noexcept { return {_mm256_max_ps(low.v, a.v)}; }
inline Vector smaller_of(Vector a, Vector high) noexcept { return {_mm256_min_ps(high.v, a.v)}; }
inline Vector root_of(Vector a) noexcept { return {_mm256_sqrt_ps(a.v)}; }
inline Vector select_above(Vector a, Vector b, Vector then, Vector otherwise) noexcept {
  return {_mm256_blendv_ps(otherwise.v, then.v, _mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ))};
}
inline Vector select_equal(Vector a, Vector b, Vector then, Vector otherwise) noexcept {
  return {_mm256_blendv_ps(otherwise.v, then.v, _mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ))};
}
// Lane r of vector c becomes lane c of vector r.
__attribute__((always_inline)) inline void transpose_lanes(Vector (&rows)[8]) noexcept {
  __m256 t[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(rows[i].v, rows[i + 1].v);
    t[i + 1] = _mm256_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  __m256 u[8];  // u[4 i + j] holds columns j and j + 4 of rows 4 i to 4 i + 3
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    rows[j].v = _mm256_permute2f128_ps(u[j], u[4 + j], 0x20);
    rows[j + 4].v = _mm256_permute2f128_ps(u[j], u[4 + j], 0x31);
  }
}
inline __m256i mask_of(std::size_t lanes) noexcept {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(lanes)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
// Lanes beyond `lanes` are zero, and their memory is not touched. A masked store is dear on
// some processors (AMD's without AVX-512): whole vectors go without.
inline Vector load_lanes(const float* p, std::size_t lanes) noexcept {
  if (lanes == kVectorLanes) return load_vector(p);
  return {_mm256_maskload_ps(p, mask_of(lanes))};
}
inline void store_lanes(Vector a, float* p, std::size_t lanes) noexcept {
  if (lanes == kVectorLanes)
    _mm256_storeu_ps(p, a.v);
  else
    _mm256_maskstore_ps(p, mask_of(lanes), a.v);
}

}  // namespace
}  // namespace tocsin

#define TOCSIN_OWN_VECTOR_MATH
#include "kernels/variant.inc"

const KernelTable& avx2_kernels() noexcept { return kTable; }

}  // namespace tocsin
