// The system's clocks, read through the time stamp counter where it is invariant.
#include "base/clock.h"

#include <time.h>

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

SystemClock::SystemClock() {
  base_time_ns_ = read_clock(CLOCK_MONOTONIC);
  if (!has_invariant_tsc()) return;
  base_ticks_ = read_ticks();
  // 2 ms are enough for an error below 50 parts in a million of any span measured.
  constexpr std::int64_t kCalibrationNs = 2'000'000;
  std::int64_t now_ns = base_time_ns_;
  while (now_ns - base_time_ns_ < kCalibrationNs) now_ns = read_clock(CLOCK_MONOTONIC);
  const std::uint64_t ticks = read_ticks() - base_ticks_;
  if (ticks == 0) return;
  const auto span_ns = static_cast<unsigned __int128>(now_ns - base_time_ns_);
  tsc_multiplier_ = static_cast<std::uint64_t>((span_ns << 32) / ticks);
}

std::int64_t SystemClock::monotonic_time_ns() const noexcept {
  if (tsc_multiplier_ == 0) return read_clock(CLOCK_MONOTONIC);
  const auto ticks = static_cast<unsigned __int128>(read_ticks() - base_ticks_);
  return base_time_ns_ + static_cast<std::int64_t>((ticks * tsc_multiplier_) >> 32);
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
