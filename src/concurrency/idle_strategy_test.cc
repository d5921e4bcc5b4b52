#include "concurrency/idle_strategy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tocsin {
namespace {

constexpr int kCycleCount = 1000;

// How often the calling thread gave up its CPU of its own accord: to sleep, not to yield.
long sleeps_of_this_thread() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

long sleeps_in(IdleStrategy idle, std::uint32_t work_count) {
  const long before = sleeps_of_this_thread();
  for (int cycle = 0; cycle < kCycleCount; ++cycle) idle.idle(work_count);
  return sleeps_of_this_thread() - before;
}

TEST(IdleStrategy, SleepsOnlyAfterManyCyclesWithoutWork) {
  EXPECT_GE(sleeps_in(IdleStrategy(), 0), kCycleCount / 2);
  EXPECT_EQ(sleeps_in(IdleStrategy(), 1), 0);
}

TEST(IdleStrategy, NeverSleepsWhenItSpins) {
  EXPECT_EQ(sleeps_in(IdleStrategy(IdlePolicy::kSpin), 0), 0);
}

}  // namespace
}  // namespace tocsin
