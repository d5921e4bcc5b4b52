#include "base/clock.h"

#include <gtest/gtest.h>

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
