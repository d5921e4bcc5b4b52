#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tocsin {
namespace {

TEST(SystemClock, NeverRunsBackwards) {
  const SystemClock clock;
  std::int64_t last_ns = clock.monotonic_time_ns();
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t now_ns = clock.monotonic_time_ns();
    ASSERT_GE(now_ns, last_ns);
    last_ns = now_ns;
  }
}

TEST(SystemClock, SleepsAtLeastAsLongAsAsked) {
  SystemClock clock;
  const std::int64_t until_ns = clock.monotonic_time_ns() + 2'000'000;
  clock.sleep_until(until_ns);
  EXPECT_GE(clock.monotonic_time_ns(), until_ns);
}

TEST(SystemClock, KeepsTheSystemsPaceThoughTheMachineIsBusy) {
  const auto ahead_ns = [](const SystemClock& clock) {
    const ClockReading reading = read_clocks();
    return clock.time_at(reading.ticks) - reading.time_ns;
  };
  for (int i = 0; i < 10; ++i) {
    SystemClock clock;
    if (!clock.uses_time_stamp_counter()) GTEST_SKIP() << "no invariant counter on this machine";
    const std::int64_t before_ns = ahead_ns(clock);
    constexpr std::int64_t kSpanNs = 20'000'000;
    clock.sleep_until(clock.monotonic_time_ns() + kSpanNs);
    // 50 parts in a million of the span, and what the readings themselves are off by.
    EXPECT_LT(std::abs(ahead_ns(clock) - before_ns), 50 * kSpanNs / 1'000'000 + 500);
  }
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(5);
  EXPECT_EQ(clock.monotonic_time_ns(), 5);
  clock.advance(10);
  EXPECT_EQ(clock.unix_time_ns(), 15);
  clock.sleep_until(40);
  EXPECT_EQ(clock.monotonic_time_ns(), 40);
  clock.sleep_until(1);
  EXPECT_EQ(clock.monotonic_time_ns(), 40);
}

}  // namespace
}  // namespace tocsin
