// Exact: digits are moved, never multiplied as floating point.
#include "ingest/written_number.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tocsin {
namespace {

constexpr int kExponentMax = 40;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The digits of `mantissa` with the point moved by `exponent`, as plain decimal text.
class PlainText {
 public:
  bool assign(std::string_view mantissa, int exponent) noexcept {
    const bool negative = mantissa.starts_with('-');
    if (negative) mantissa.remove_prefix(1);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const auto whole = static_cast<int>(point);
    const auto digits = static_cast<int>(mantissa.size() - (point < mantissa.size() ? 1 : 0));
    if (mantissa.size() + 2 * kExponentMax + 4 > text_.size()) return false;
    if (negative) put('-');
    const int new_whole = whole + exponent;
    if (new_whole <= 0) put('0');
    for (int i = std::min(new_whole, 0); i < std::max(digits, new_whole); ++i) {
      if (i == new_whole) put('.');
      put(i >= 0 && i < digits ? mantissa[static_cast<std::size_t>(i < whole ? i : i + 1)] : '0');
    }
    return true;
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  void put(char c) noexcept { text_[size_++] = c; }
  std::array<char, 160> text_{};
  std::size_t size_ = 0;
};

int decimals_of(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

// Days since 1970-01-01 of the proleptic Gregorian calendar (Howard Hinnant, "chrono-compatible
// low-level date algorithms").
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) noexcept {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

// Takes `size` digits off the front; -1 if they are not there.
std::int64_t take_digits(std::string_view& text, std::size_t size) noexcept {
  std::int64_t value = 0;
  if (text.size() < size) return -1;
  for (const char c : text.substr(0, size)) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(size);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) noexcept {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// "Z", nothing, or "+08:00"; seconds to take off.
bool take_offset(std::string_view text, std::int64_t& offset_s) noexcept {
  offset_s = 0;
  if (text.empty() || text == "Z" || text == "z") return true;
  const bool west = text.front() == '-';
  if (!take(text, "+-")) return false;
  const std::int64_t hours = take_digits(text, 2);
  take(text, ":");
  const std::int64_t minutes = take_digits(text, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.empty()) return false;
  offset_s = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

DecimalStatus parse_written_number(std::string_view text, WrittenNumber& number) noexcept {
  WrittenNumber parsed;
  const std::size_t mark = text.find_first_of("eE");
  if (mark == std::string_view::npos) {
    parsed.decimals = decimals_of(text);
    const DecimalStatus status = parse_decimal_nanos(text, parsed.nanos);
    if (status == DecimalStatus::kOk) number = parsed;
    return status;
  }
  const std::string_view mantissa = text.substr(0, mark);
  std::string_view exponent_text = text.substr(mark + 1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  std::int64_t checked = 0;
  // What the point is moved over must be digits and nothing else.
  for (const char c : mantissa) {
    if (!is_digit(c) && c != '.' && c != '-') return DecimalStatus::kNotANumber;
  }
  if (parse_decimal_nanos(mantissa, checked) == DecimalStatus::kNotANumber) {
    return DecimalStatus::kNotANumber;
  }
  int exponent = 0;
  const char* end = exponent_text.data() + exponent_text.size();
  const auto [after, error] = std::from_chars(exponent_text.data(), end, exponent);
  if (exponent_text.empty() || after != end) return DecimalStatus::kNotANumber;
  if (error != std::errc{} || exponent > kExponentMax) return DecimalStatus::kOverflow;
  if (exponent < -kExponentMax) return DecimalStatus::kTooManyDigits;
  PlainText plain;
  if (!plain.assign(mantissa, exponent)) return DecimalStatus::kTooManyDigits;
  parsed.decimals = decimals_of(plain.view());
  const DecimalStatus status = parse_decimal_nanos(plain.view(), parsed.nanos);
  if (status == DecimalStatus::kOk) number = parsed;
  return status;
}

bool parse_time_ns(std::string_view text, std::int64_t unit_ns, std::int64_t& time_ns) noexcept {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::int64_t whole = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + point, whole);
  if (point == 0 || error != std::errc{} || after != text.data() + point || whole < 0) return false;
  std::int64_t total_ns = 0;
  if (__builtin_mul_overflow(whole, unit_ns, &total_ns)) return false;
  std::int64_t place_ns = unit_ns;
  for (const char c : text.substr(std::min(point + 1, text.size()))) {
    if (!is_digit(c)) return false;
    place_ns /= 10;
    if (__builtin_add_overflow(total_ns, place_ns * (c - '0'), &total_ns)) return false;
  }
  time_ns = total_ns;
  return true;
}

bool parse_iso_time_ns(std::string_view text, std::int64_t& time_ns) noexcept {
  const std::int64_t year = take_digits(text, 4);
  if (year < 1970 || year > 2261 || !take(text, "-")) return false;
  const std::int64_t month = take_digits(text, 2);
  if (month < 1 || month > 12 || !take(text, "-")) return false;
  const std::int64_t day = take_digits(text, 2);
  if (day < 1 || day > 31 || !take(text, "Tt ")) return false;
  const std::int64_t hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ":")) return false;
  const std::int64_t minute = take_digits(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ":")) return false;
  const std::int64_t second = take_digits(text, 2);
  if (second < 0 || second > 60) return false;
  std::int64_t fraction_ns = 0;
  if (take(text, ".")) {
    std::int64_t place_ns = 100'000'000;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), place_ns /= 10) {
      fraction_ns += place_ns * (text.front() - '0');
    }
  }
  std::int64_t offset_s = 0;
  if (!take_offset(text, offset_s)) return false;
  const std::int64_t days = days_from_civil(year, month, day);
  const std::int64_t seconds = days * 86'400 + hour * 3600 + minute * 60 + second - offset_s;
  if (seconds < 0) return false;
  time_ns = seconds * kNanosPerUnit + fraction_ns;
  return true;
}

}  // namespace tocsin
