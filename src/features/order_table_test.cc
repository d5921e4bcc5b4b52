// OrderTable against std::unordered_map, with ids as venues give them and ids that collide.
#include "features/order_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

TEST(OrderTable, AgreesWithAMapUnderChurn) {
  constexpr std::uint64_t kSeed = 99;
  SCOPED_TRACE(kSeed);
  for (const std::uint64_t stride : {1ULL, 8ULL, 1ULL << 20, 1ULL << 44, 0x9E3779B97F4A7C15ULL}) {
    std::mt19937_64 random(kSeed);
    OrderTable table(8);
    std::unordered_map<std::uint64_t, std::uint32_t> twin;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
      const std::uint64_t order_id = stride * (random() % 3'000);
      const auto found = twin.find(order_id);
      ASSERT_EQ(table.find(order_id), found == twin.end() ? kNoSlot : found->second);
      if (found == twin.end()) {
        table.insert(order_id, i);
        twin.emplace(order_id, i);
      } else {
        table.erase(order_id);
        twin.erase(found);
      }
      ASSERT_EQ(table.size(), twin.size());
    }
    for (const auto& [order_id, slot] : twin) ASSERT_EQ(table.find(order_id), slot);
  }
}

TEST(OrderTable, ChurnAtTheSameDepthNeverGrowsIt) {
  OrderTable table(1'000);
  for (std::uint64_t id = 1; id <= 1'000; ++id) table.insert(id, 1);
  const std::uint64_t before = allocation_count();
  for (std::uint64_t id = 1; id <= 500'000; ++id) {
    table.erase(id);
    table.insert(id + 1'000, 2);
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(table.find(500'001), 2U);
  EXPECT_EQ(table.find(500'000), kNoSlot);
}

}  // namespace
}  // namespace tocsin
