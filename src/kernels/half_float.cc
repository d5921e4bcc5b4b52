// Rounding and widening of 16-bit floats.
#include "kernels/half_float.h"

#include <bit>
#include <cmath>

namespace tocsin {

std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  // Half of the last place kept, less one unless that place is odd: a tie goes to the even one.
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
  return static_cast<std::uint16_t>(rounded >> 16U);
}

std::uint16_t to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 1/2 leaves value * 2^24, rounded to an integer, in the low bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

float from_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

float from_float16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U)
    return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13U));
  if (magnitude < 0x400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13U) + 0x38000000U));
}

}  // namespace tocsin
