// What every x86-64 has: fused multiply-adds are calls of libm's fma, so sums stay out of registers
// anyway.
#include <cstddef>

namespace tocsin {
namespace {

struct Vector {
  float v[16];
};

constexpr std::size_t kVectorLanes = 16;
constexpr int kTileVectors = 1;
constexpr int kSingleRowVectors = 1;
template <int Vectors>
constexpr int kRowsOf = 1;

inline Vector zeros() noexcept { return {}; }
inline Vector load_vector(const float* p) noexcept {
  Vector a;
  for (std::size_t i = 0; i < kVectorLanes; ++i) a.v[i] = p[i];
  return a;
}
inline Vector broadcast(const float* p) noexcept {
  Vector a;
  for (float& lane : a.v) lane = *p;
  return a;
}
inline Vector fused_vectors(const Vector& a, const Vector& b, const Vector& c) noexcept {
  Vector sum;
  for (std::size_t i = 0; i < kVectorLanes; ++i) sum.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return sum;
}
inline Vector add_vectors(const Vector& a, const Vector& b) noexcept {
  Vector sum;
  for (std::size_t i = 0; i < kVectorLanes; ++i) sum.v[i] = a.v[i] + b.v[i];
  return sum;
}
inline Vector subtract_vectors(const Vector& a, const Vector& b) noexcept {
  Vector difference;
  for (std::size_t i = 0; i < kVectorLanes; ++i) difference.v[i] = a.v[i] - b.v[i];
  return difference;
}
inline Vector multiply_vectors(const Vector& a, const Vector& b) noexcept {
  Vector product;
  for (std::size_t i = 0; i < kVectorLanes; ++i) product.v[i] = a.v[i] * b.v[i];
  return product;
}
inline Vector divide_vectors(const Vector& a, const Vector& b) noexcept {
  Vector quotient;
  for (std::size_t i = 0; i < kVectorLanes; ++i) quotient.v[i] = a.v[i] / b.v[i];
  return quotient;
}
inline Vector at_least(const Vector& a, float low) noexcept {
  Vector bounded;
  for (std::size_t i = 0; i < kVectorLanes; ++i) bounded.v[i] = a.v[i] < low ? low : a.v[i];
  return bounded;
}
inline Vector at_most(const Vector& a, float high) noexcept {
  Vector bounded;
  for (std::size_t i = 0; i < kVectorLanes; ++i) bounded.v[i] = a.v[i] > high ? high : a.v[i];
  return bounded;
}
inline Vector all_lanes(float value) noexcept { return broadcast(&value); }
// The first where they are equal or one is NaN.
inline Vector larger_of(const Vector& a, const Vector& low) noexcept {
  Vector bounded;
  for (std::size_t i = 0; i < kVectorLanes; ++i)
    bounded.v[i] = a.v[i] < low.v[i] ? low.v[i] : a.v[i];
  return bounded;
}
inline Vector smaller_of(const Vector& a, const Vector& high) noexcept {
  Vector bounded;
  for (std::size_t i = 0; i < kVectorLanes; ++i)
    bounded.v[i] = a.v[i] > high.v[i] ? high.v[i] : a.v[i];
  return bounded;
}
inline Vector negated(Vector a) noexcept {
  Vector opposite;
  for (std::size_t i = 0; i < kVectorLanes; ++i) opposite.v[i] = -a.v[i];
  return opposite;
}
inline Vector magnitude(Vector a) noexcept {
  Vector positive;
  for (std::size_t i = 0; i < kVectorLanes; ++i) positive.v[i] = __builtin_fabsf(a.v[i]);
  return positive;
}
inline Vector root_of(Vector a) noexcept {
  Vector root;
  for (std::size_t i = 0; i < kVectorLanes; ++i) root.v[i] = __builtin_sqrtf(a.v[i]);
  return root;
}
inline Vector where_below(const Vector& a, float bound, const Vector& then,
                          const Vector& otherwise) noexcept {
  Vector chosen;
  for (std::size_t i = 0; i < kVectorLanes; ++i)
    chosen.v[i] = a.v[i] < bound ? then.v[i] : otherwise.v[i];
  return chosen;
}
inline Vector select_above(const Vector& a, const Vector& b, const Vector& then,
                           const Vector& otherwise) noexcept {
  Vector chosen;
  for (std::size_t i = 0; i < kVectorLanes; ++i)
    chosen.v[i] = a.v[i] > b.v[i] ? then.v[i] : otherwise.v[i];
  return chosen;
}
inline Vector select_equal(const Vector& a, const Vector& b, const Vector& then,
                           const Vector& otherwise) noexcept {
  Vector chosen;
  for (std::size_t i = 0; i < kVectorLanes; ++i)
    chosen.v[i] = a.v[i] == b.v[i] ? then.v[i] : otherwise.v[i];
  return chosen;
}
// Lane r of vector c becomes lane c of vector r.
inline void transpose_lanes(Vector (&rows)[kVectorLanes]) noexcept {
  for (std::size_t r = 0; r < kVectorLanes; ++r) {
    for (std::size_t c = 0; c < r; ++c) {
      const float value = rows[r].v[c];
      rows[r].v[c] = rows[c].v[r];
      rows[c].v[r] = value;
    }
  }
}
inline Vector load_lanes(const float* p, std::size_t lanes) noexcept {
  Vector a{};
  for (std::size_t i = 0; i < lanes; ++i) a.v[i] = p[i];
  return a;
}
inline void store_lanes(const Vector& a, float* p, std::size_t lanes) noexcept {
  for (std::size_t i = 0; i < lanes; ++i) p[i] = a.v[i];
}

}  // namespace
}  // namespace tocsin

#include "kernels/variant.inc"

const KernelTable& default_kernels() noexcept { return kTable; }

}  // namespace tocsin
