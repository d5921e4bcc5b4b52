// AVX-512: 32 registers hold the sums of 6 rows by 64 outputs, or 12 rows by 32.
#include <immintrin.h>

#include <cstddef>

namespace tocsin {
namespace {

struct Vector {
  __m512 v;
};

constexpr std::size_t kVectorLanes = 16;
constexpr int kTileVectors = 4;
constexpr int kSingleRowVectors = 8;
// Rows of a tile that is so many vectors wide.
template <int Vectors>
constexpr int kRowsOf = Vectors == 4 ? 6 : (Vectors == 3 ? 8 : 12);

inline Vector zeros() noexcept { return {_mm512_setzero_ps()}; }
inline Vector load_vector(const float* p) noexcept { return {_mm512_loadu_ps(p)}; }
inline Vector broadcast(const float* p) noexcept { return {_mm512_set1_ps(*p)}; }
inline Vector fused_vectors(Vector a, Vector b, Vector c) noexcept {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Vector add_vectors(Vector a, Vector b) noexcept { return {_mm512_add_ps(a.v, b.v)}; }
inline Vector subtract_vectors(Vector a, Vector b) noexcept { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vector multiply_vectors(Vector a, Vector b) noexcept { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vector divide_vectors(Vector a, Vector b) noexcept { return {_mm512_div_ps(a.v, b.v)}; }
inline Vector all_lanes(float value) noexcept { return {_mm512_set1_ps(value)}; }
// The instruction returns its second operand where one is NaN.
inline Vector at_least(Vector a, float low) noexcept {
  return {_mm512_max_ps(_mm512_set1_ps(low), a.v)};
}
inline Vector at_most(Vector a, float high) noexcept {
  return {_mm512_min_ps(_mm512_set1_ps(high), a.v)};
}
// The first where they are equal or one is NaN.
inline Vector larger_of(Vector a, Vector low) noexcept { return {_mm512_max_ps(low.v, a.v)}; }
inline Vector smaller_of(Vector a, Vector high) noexcept { return {_mm512_min_ps(high.v, a.v)}; }
inline Vector root_of(Vector a) noexcept { return {_mm512_sqrt_ps(a.v)}; }
inline Vector select_above(Vector a, Vector b, Vector then, Vector otherwise) noexcept {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ), otherwise.v, then.v)};
}
inline Vector select_equal(Vector a, Vector b, Vector then, Vector otherwise) noexcept {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ), otherwise.v, then.v)};
}
inline __m512 paired(__m512 a, __m512 b, bool high) noexcept {
  const __m512d low_a = _mm512_castps_pd(a);
  const __m512d low_b = _mm512_castps_pd(b);
  return _mm512_castpd_ps(high ? _mm512_unpackhi_pd(low_a, low_b)
                               : _mm512_unpacklo_pd(low_a, low_b));
}
// Lane r of vector c becomes lane c of vector r.
__attribute__((always_inline)) inline void transpose_lanes(Vector (&rows)[16]) noexcept {
  __m512 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(rows[i].v, rows[i + 1].v);
    t[i + 1] = _mm512_unpackhi_ps(rows[i].v, rows[i + 1].v);
  }
  __m512 u[16];  // u[4 i + j] holds columns j, j + 4, j + 8, j + 12 of rows 4 i to 4 i + 3
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    u[i] = paired(t[i], t[i + 2], false);
    u[i + 1] = paired(t[i], t[i + 2], true);
    u[i + 2] = paired(t[i + 1], t[i + 3], false);
    u[i + 3] = paired(t[i + 1], t[i + 3], true);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512 even_a = _mm512_shuffle_f32x4(u[j], u[4 + j], 0x88);
    const __m512 even_b = _mm512_shuffle_f32x4(u[8 + j], u[12 + j], 0x88);
    const __m512 odd_a = _mm512_shuffle_f32x4(u[j], u[4 + j], 0xdd);
    const __m512 odd_b = _mm512_shuffle_f32x4(u[8 + j], u[12 + j], 0xdd);
    rows[j].v = _mm512_shuffle_f32x4(even_a, even_b, 0x88);
    rows[j + 8].v = _mm512_shuffle_f32x4(even_a, even_b, 0xdd);
    rows[j + 4].v = _mm512_shuffle_f32x4(odd_a, odd_b, 0x88);
    rows[j + 12].v = _mm512_shuffle_f32x4(odd_a, odd_b, 0xdd);
  }
}
inline Vector magnitude(Vector a) noexcept { return {_mm512_abs_ps(a.v)}; }
inline Vector negated(Vector a) noexcept { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0F))}; }
inline Vector with_sign_of(Vector positive, Vector sign) noexcept {
  return {_mm512_or_ps(positive.v, _mm512_and_ps(sign.v, _mm512_set1_ps(-0.0F)))};
}
// a * 2^n for an integer n, rounded once.
inline Vector scaled(Vector a, Vector n) noexcept { return {_mm512_scalef_ps(a.v, n.v)}; }
inline Vector power_of_two(Vector n) noexcept { return scaled(all_lanes(1.0F), n); }
inline Vector where_below(Vector a, float bound, Vector then, Vector otherwise) noexcept {
  const __mmask16 below = _mm512_cmp_ps_mask(a.v, _mm512_set1_ps(bound), _CMP_LT_OQ);
  return {_mm512_mask_blend_ps(below, otherwise.v, then.v)};
}
inline Vector where_above(Vector a, float bound, Vector then, Vector otherwise) noexcept {
  const __mmask16 above = _mm512_cmp_ps_mask(a.v, _mm512_set1_ps(bound), _CMP_GT_OQ);
  return {_mm512_mask_blend_ps(above, otherwise.v, then.v)};
}
inline __mmask16 mask_of(std::size_t lanes) noexcept {
  return static_cast<__mmask16>((1U << lanes) - 1U);
}
// Lanes beyond `lanes` are zero, and their memory is not touched.
inline Vector load_lanes(const float* p, std::size_t lanes) noexcept {
  return {_mm512_maskz_loadu_ps(mask_of(lanes), p)};
}
inline void store_lanes(Vector a, float* p, std::size_t lanes) noexcept {
  _mm512_mask_storeu_ps(p, mask_of(lanes), a.v);
}

}  // namespace
}  // namespace tocsin

#define TOCSIN_OWN_VECTOR_MATH
#include "kernels/variant.inc"

const KernelTable& avx512_kernels() noexcept { return kTable; }

}  // namespace tocsin
