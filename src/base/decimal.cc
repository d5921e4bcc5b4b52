// Exact conversion between decimal text and units of 1e-9.
#include "base/decimal.h"

namespace tocsin {

DecimalStatus parse_decimal_nanos(std::string_view text, std::int64_t& nanos) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  constexpr std::uint64_t kLimit = INT64_MAX;
  std::uint64_t value = 0;
  int fraction_digits = -1;  // -1: the point has not been seen
  bool any_digit = false;
  for (const char c : text) {
    if (c == '.') {
      if (fraction_digits >= 0) return DecimalStatus::kNotANumber;
      fraction_digits = 0;
      continue;
    }
    if (c < '0' || c > '9') return DecimalStatus::kNotANumber;
    any_digit = true;
    if (fraction_digits == 9) {
      if (c != '0') return DecimalStatus::kTooManyDigits;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kLimit - digit) / 10) return DecimalStatus::kOverflow;
    value = value * 10 + digit;
    if (fraction_digits >= 0) ++fraction_digits;
  }
  if (!any_digit) return DecimalStatus::kNotANumber;
  for (int places = fraction_digits < 0 ? 0 : fraction_digits; places < 9; ++places) {
    if (value > kLimit / 10) return DecimalStatus::kOverflow;
    value *= 10;
  }
  nanos = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return DecimalStatus::kOk;
}

std::string format_decimal_nanos(std::int64_t nanos) {
  const bool negative = nanos < 0;
  const std::uint64_t magnitude =
      negative ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  constexpr std::uint64_t kUnit = 1'000'000'000;
  std::string text = (negative ? "-" : "") + std::to_string(magnitude / kUnit);
  std::uint64_t fraction = magnitude % kUnit;
  if (fraction == 0) return text;
  std::string digits = std::to_string(kUnit + fraction).substr(1);
  while (digits.back() == '0') digits.pop_back();
  return text + "." + digits;
}

}  // namespace tocsin
