// Seeded random floats, and the comparison of results by their bits. For tests and benchmarks.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tocsin {

// A small generator of our own (splitmix64), so that a printed seed means the same everywhere.
class RandomFloats {
 public:
  explicit RandomFloats(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next_bits() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::size_t below(std::size_t limit) noexcept {
    return static_cast<std::size_t>(next_bits() % limit);
  }
  // Uniform in [-scale, scale).
  float next(float scale) noexcept {
    return scale * (static_cast<float>(next_bits() >> 40U) * 0x1p-23F - 1.0F);
  }
  std::vector<float> vector(std::size_t count, float scale) {
    std::vector<float> values(count);
    for (float& value : values) value = next(scale);
    return values;
  }

 private:
  std::uint64_t state_;
};

// Equal to the bit; any NaN equals any NaN (kernels.h leaves its payload open).
inline bool same_bits(float a, float b) noexcept {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

}  // namespace tocsin
