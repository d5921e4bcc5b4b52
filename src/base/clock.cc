// The system's clocks, read through the time stamp counter where it is invariant.
#include "base/clock.h"

#include <time.h>

#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t id) noexcept {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kNanosPerSecond + now.tv_nsec;
}

#if defined(__x86_64__)
// CPUID 0x80000007, EDX bit 8: the counter runs at a constant rate in all power states
// (Intel SDM volume 3, 18.17.1; AMD APM volume 3, E.4.6).
bool has_invariant_tsc() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

std::uint64_t read_ticks() noexcept { return __rdtsc(); }
#else
bool has_invariant_tsc() noexcept { return false; }
std::uint64_t read_ticks() noexcept { return 0; }
#endif

}  // namespace

// Of several readings the one counts around which the time moved least: some 50 ns.
ClockReading read_clocks() noexcept {
  constexpr int kReadings = 32;
  ClockReading best;
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t before_ns = read_clock(CLOCK_MONOTONIC);
    const std::uint64_t ticks = read_ticks();
    const std::int64_t width_ns = read_clock(CLOCK_MONOTONIC) - before_ns;
    if (width_ns >= least_ns) continue;
    least_ns = width_ns;
    best = {before_ns + width_ns / 2, ticks};
  }
  return best;
}

SystemClock::SystemClock() {
  if (!has_invariant_tsc()) return;
  const ClockReading start = read_clocks();
  base_time_ns_ = start.time_ns;
  base_ticks_ = start.ticks;
  // 2 ms are enough for an error below 50 parts in a million of any span measured.
  constexpr std::int64_t kCalibrationNs = 2'000'000;
  while (read_clock(CLOCK_MONOTONIC) - base_time_ns_ < kCalibrationNs) {
  }
  const ClockReading end = read_clocks();
  if (end.ticks == base_ticks_) return;
  const auto span_ns = static_cast<unsigned __int128>(end.time_ns - base_time_ns_);
  tsc_multiplier_ = static_cast<std::uint64_t>((span_ns << 32) / (end.ticks - base_ticks_));
}

std::int64_t SystemClock::monotonic_time_ns() const noexcept {
  return tsc_multiplier_ == 0 ? read_clock(CLOCK_MONOTONIC) : time_at(read_ticks());
}

std::int64_t SystemClock::time_at(std::uint64_t ticks) const noexcept {
  const auto span = static_cast<unsigned __int128>(ticks - base_ticks_);
  return base_time_ns_ + static_cast<std::int64_t>((span * tsc_multiplier_) >> 32);
}

std::int64_t SystemClock::unix_time_ns() const noexcept { return read_clock(CLOCK_REALTIME); }

void SystemClock::sleep_until(std::int64_t time_ns) noexcept {
  for (;;) {
    const std::int64_t left_ns = time_ns - monotonic_time_ns();
    if (left_ns <= 0) return;
    const timespec span{left_ns / kNanosPerSecond, left_ns % kNanosPerSecond};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
  }
}

}  // namespace tocsin
