// BF16 and FP16 as 16-bit patterns: rounding to nearest, ties to even, and the exact way back.
#pragma once

#include <cstdint>

namespace tocsin {

// Beyond the range: infinity. NaN becomes a quiet NaN.
std::uint16_t to_bfloat16(float value) noexcept;
std::uint16_t to_float16(float value) noexcept;

float from_bfloat16(std::uint16_t bits) noexcept;
float from_float16(std::uint16_t bits) noexcept;

}  // namespace tocsin
