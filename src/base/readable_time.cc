// By the C library's calendar.
#include "base/readable_time.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace tocsin {

std::string readable_time(std::int64_t time_ns) {
  constexpr std::int64_t kSecondsPerDay = 86'400;
  const auto whole = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(time_ns));
  const std::time_t seconds = whole.count();
  const auto millis =
      static_cast<int>((time_ns - std::chrono::nanoseconds(whole).count()) / 1'000'000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  std::size_t size = 0;
  if (seconds < 0 || seconds >= kSecondsPerDay)
    size = std::strftime(text.data(), text.size(), "%Y-%m-%d ", &utc);
  std::snprintf(text.data() + size, text.size() - size, "%02d:%02d:%02d.%03d", utc.tm_hour,
                utc.tm_min, utc.tm_sec, millis);
  return text.data();
}

}  // namespace tocsin
