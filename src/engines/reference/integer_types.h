// 8-bit integers with zero points: what the quantised operators read and write.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engines/reference/operator.h"

namespace tocsin {

inline bool is_8_bit(DataType type) noexcept {
  return type == DataType::kInt8 || type == DataType::kUint8;
}

// The integer at `index` of an int8, uint8 or int32 tensor; 0 where there is none.
inline std::int32_t integer_at(DataType type, const void* values, std::size_t index) noexcept {
  if (values == nullptr) return 0;
  if (type == DataType::kUint8) return static_cast<const std::uint8_t*>(values)[index];
  if (type == DataType::kInt8) return static_cast<const std::int8_t*>(values)[index];
  return static_cast<const std::int32_t*>(values)[index];
}

// The nearest integer that T holds, halves to even; NaN becomes the zero point.
template <typename T>
T quantized(float scaled, std::int32_t zero_point) noexcept {
  if (std::isnan(scaled)) return static_cast<T>(zero_point);
  // Beyond 2^20 every 8- or 16-bit type is saturated.
  const float bounded = std::clamp(std::nearbyint(scaled), -0x1p20F, 0x1p20F);
  const std::int32_t value = static_cast<std::int32_t>(bounded) + zero_point;
  return static_cast<T>(std::clamp<std::int32_t>(value, std::numeric_limits<T>::min(),
                                                 std::numeric_limits<T>::max()));
}

inline void store_8_bit(DataType type, void* values, std::size_t index, float scaled,
                        std::int32_t zero_point) noexcept {
  if (type == DataType::kUint8)
    static_cast<std::uint8_t*>(values)[index] = quantized<std::uint8_t>(scaled, zero_point);
  else
    static_cast<std::int8_t*>(values)[index] = quantized<std::int8_t>(scaled, zero_point);
}

}  // namespace tocsin
