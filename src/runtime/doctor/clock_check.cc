// Each span ends with one reading of both clocks, between which nothing came.
#include "runtime/doctor/clock_check.h"

#include <algorithm>

namespace tocsin {
namespace {

constexpr double kMillion = 1e6;

}  // namespace

double ClockCheck::median_frequency_hz() const {
  if (frequency_hz.empty()) return 0;
  std::vector<double> sorted = frequency_hz;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

ClockCheck check_clock(SystemClock& clock, const ClockCheckOptions& options) {
  ClockCheck check;
  check.invariant = clock.uses_time_stamp_counter();
  if (!check.invariant) return check;
  const ClockReading start = read_clocks();
  ClockReading last = start;
  for (int i = 0; i < options.repetition_count; ++i) {
    clock.sleep_until(clock.monotonic_time_ns() + options.span_ns);
    const ClockReading now = read_clocks();
    check.frequency_hz.push_back(static_cast<double>(now.ticks - last.ticks) * 1e9 /
                                 static_cast<double>(now.time_ns - last.time_ns));
    last = now;
  }
  const auto [low, high] = std::ranges::minmax(check.frequency_hz);
  check.spread_ppm = (high / low - 1) * kMillion;
  const auto clock_ns = static_cast<double>(clock.time_at(last.ticks) - clock.time_at(start.ticks));
  check.drift_ppm = (clock_ns / static_cast<double>(last.time_ns - start.time_ns) - 1) * kMillion;
  return check;
}

}  // namespace tocsin
