// Text to integers, exact but for the rounding that the feeds need.
#include "ingest/china_fields.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/decimal.h"

namespace tocsin {
namespace {

constexpr std::size_t kNanoPlaces = 9;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Two digits at `place`, below `limit`.
bool parse_two(std::string_view text, std::size_t place, std::int64_t limit,
               std::int64_t& value) noexcept {
  if (text.size() < place + 2 || !is_digit(text[place]) || !is_digit(text[place + 1])) return false;
  value = 10 * (text[place] - '0') + (text[place + 1] - '0');
  return value < limit;
}

}  // namespace

bool parse_rounded_nanos(std::string_view text, std::int64_t& nanos) noexcept {
  if (text.empty() || !is_digit(text.front())) return false;
  const std::size_t point = text.find('.');
  std::string_view rest;
  if (point != std::string_view::npos && text.size() > point + 1 + kNanoPlaces) {
    rest = text.substr(point + 1 + kNanoPlaces);
    text = text.substr(0, point + 1 + kNanoPlaces);
  }
  if (!std::all_of(rest.begin(), rest.end(), is_digit)) return false;
  std::int64_t value = 0;
  if (parse_decimal_nanos(text, value) != DecimalStatus::kOk) return false;
  if (!rest.empty() && rest.front() >= '5') {
    if (value == INT64_MAX) return false;
    ++value;
  }
  nanos = value;
  return true;
}

bool parse_count(std::string_view text, std::uint64_t& count) noexcept {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && after == end;
}

bool parse_day_time_ns(std::string_view text, std::int64_t& time_ns) noexcept {
  constexpr std::size_t kSecondsEnd = 8;  // "09:15:00"
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  if (!parse_two(text, 0, 24, hour) || !parse_two(text, 3, 60, minute) ||
      !parse_two(text, 6, 60, second) || text[2] != ':' || text[5] != ':') {
    return false;
  }
  std::int64_t fraction_ns = 0;
  const std::string_view fraction = text.substr(kSecondsEnd);
  if (!fraction.empty()) {
    if (fraction.size() < 2 || fraction.size() > 1 + kNanoPlaces || fraction.front() != '.') {
      return false;
    }
    // ".020" without its point is as many nanoseconds as "0.020" has nanos.
    std::int64_t scale = kNanosPerUnit;
    for (const char c : fraction.substr(1)) {
      if (!is_digit(c)) return false;
      scale /= 10;
      fraction_ns += (c - '0') * scale;
    }
  }
  time_ns = ((hour * 60 + minute) * 60 + second) * kNanosPerUnit + fraction_ns;
  return true;
}

std::optional<std::int64_t> shanghai_midnight_ns(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!date.ok() || year < 1992 || year > 2200) return std::nullopt;
  constexpr hours kAheadOfUtc{8};
  return duration_cast<nanoseconds>(sys_days(date).time_since_epoch() - kAheadOfUtc).count();
}

std::optional<std::int64_t> shanghai_midnight_of(std::string_view date) {
  const bool separated = date.size() == 10;
  if (!separated && date.size() != 8) return std::nullopt;
  if (separated && (date[4] != date[7] || (date[4] != '-' && date[4] != '.'))) return std::nullopt;
  std::uint64_t year = 0;
  std::uint64_t month = 0;
  std::uint64_t day = 0;
  if (!parse_count(date.substr(0, 4), year) ||
      !parse_count(date.substr(separated ? 5 : 4, 2), month) ||
      !parse_count(date.substr(separated ? 8 : 6, 2), day)) {
    return std::nullopt;
  }
  return shanghai_midnight_ns(static_cast<int>(year), static_cast<unsigned>(month),
                              static_cast<unsigned>(day));
}

std::optional<std::int64_t> shanghai_midnight_in_path(std::string_view path) {
  std::optional<std::int64_t> found;
  constexpr std::size_t kDayDigits = 8;
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t end = begin;
    while (end < path.size() && is_digit(path[end])) ++end;
    if (end - begin == kDayDigits) {
      const auto midnight = shanghai_midnight_of(path.substr(begin, kDayDigits));
      if (midnight.has_value()) found = midnight;
    }
    begin = end + 1;
  }
  return found;
}

}  // namespace tocsin
