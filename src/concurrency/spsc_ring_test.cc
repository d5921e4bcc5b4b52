#include "concurrency/spsc_ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "concurrency/idle_strategy.h"

namespace tocsin {
namespace {

TEST(SpscRing, SaysFullAndEmptyByReturnValue) {
  SpscRing<int> ring(3);
  ASSERT_EQ(ring.capacity(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(i));
  EXPECT_FALSE(ring.try_push(4));
  int value = -1;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(ring.try_pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(ring.try_pop(value));
}

TEST(SpscRing, KeepsOrderBetweenTwoThreads) {
  constexpr std::uint64_t kCount = 200'000;
  SpscRing<std::uint64_t> ring(64);
  std::thread producer([&ring] {
    IdleStrategy idle;
    for (std::uint64_t i = 0; i < kCount;) {
      const bool pushed = ring.try_push(i);
      i += pushed ? 1 : 0;
      idle.idle(pushed ? 1 : 0);
    }
  });
  IdleStrategy idle;
  for (std::uint64_t expected = 0; expected < kCount;) {
    std::uint64_t value = 0;
    const bool popped = ring.try_pop(value);
    if (popped) {
      ASSERT_EQ(value, expected);
      ++expected;
    }
    idle.idle(popped ? 1 : 0);
  }
  producer.join();
}

}  // namespace
}  // namespace tocsin
