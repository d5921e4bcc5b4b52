// Numbers as a feed writes them, JSON's notation included: exact value, and how many decimals.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/decimal.h"

namespace tocsin {

struct WrittenNumber {
  std::int64_t nanos = 0;  // units of 1e-9
  int decimals = 0;        // digits behind the point as written: "0.00100000" has eight
};

// [-]digits[.digits][e[+-]digits]. kTooManyDigits: digits past the ninth place that are not zero.
// `number` is written only when kOk is returned.
DecimalStatus parse_written_number(std::string_view text, WrittenNumber& number) noexcept;

// "1618678133.365913" or with exponent, counted in units of `unit_ns` nanoseconds, to nanoseconds;
// digits past the nanosecond are cut off. False if it is no such number, negative or out of range.
bool parse_time_ns(std::string_view text, std::int64_t unit_ns, std::int64_t& time_ns) noexcept;

// "2023-10-06T17:35:55.440295Z" (also with a space for T, an offset like +08:00, or none: UTC).
bool parse_iso_time_ns(std::string_view text, std::int64_t& time_ns) noexcept;

}  // namespace tocsin
