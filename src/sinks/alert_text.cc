// Formats times, prices, scores and durations.
#include "sinks/alert_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

#include "base/decimal.h"

namespace tocsin {

std::string format_time(std::int64_t time_ns) {
  if (time_ns < 0) return fmt::format("{} ns", time_ns);
  using std::chrono::days, std::chrono::floor, std::chrono::nanoseconds;
  const std::chrono::sys_time<nanoseconds> time{nanoseconds(time_ns)};
  const auto day = floor<days>(time);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string time_of_day =
      fmt::format("{:02}:{:02}:{:02}.{:09}", clock.hours().count(), clock.minutes().count(),
                  clock.seconds().count(), clock.subseconds().count());
  if (day == std::chrono::sys_days{}) return time_of_day;
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}T{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time_of_day);
}

std::string format_mid_price(std::int64_t mid_price_nanos_x2) {
  return mid_price_nanos_x2 == 0 ? "unknown" : format_decimal_nanos(mid_price_nanos_x2 / 2);
}

std::string format_float(float value) { return fmt::format("{}", value); }

double shortest_double(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  const std::string text = format_float(value);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string format_duration(std::int64_t duration_ns) {
  const double ns = static_cast<double>(duration_ns);
  if (std::abs(ns) < 1e3) return fmt::format("{} ns", duration_ns);
  if (std::abs(ns) < 1e6) return fmt::format("{:.3f} us", ns / 1e3);
  if (std::abs(ns) < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}

}  // namespace tocsin
