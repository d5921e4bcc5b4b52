// Decimal text and fixed-point integers: exact, no floating point in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tocsin {

inline constexpr std::int64_t kNanosPerUnit = 1'000'000'000;

enum class DecimalStatus : std::uint8_t { kOk, kNotANumber, kOverflow, kTooManyDigits };

// Parses [-]digits[.digits] into units of 1e-9. Digits past the ninth place must be zero.
// `nanos` is written only when kOk is returned. Limit: +-9,223,372,036.854775807.
DecimalStatus parse_decimal_nanos(std::string_view text, std::int64_t& nanos) noexcept;

// The shortest decimal text of `nanos`: 61800200000000 -> "61800.2".
std::string format_decimal_nanos(std::int64_t nanos);

}  // namespace tocsin
