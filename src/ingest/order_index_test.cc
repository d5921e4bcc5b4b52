// The index against a map over random adds, replacements and erasures.
#include "ingest/order_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace tocsin {
namespace {

TEST(OrderIndex, AgreesWithAMapOverRandomOperations) {
  constexpr unsigned kSeed = 41;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  OrderIndex index;
  std::unordered_map<std::uint64_t, std::uint32_t> twin;
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t id = random() % 4'000 + 1;
    if (random() % 2 == 0) {
      const auto quantity = static_cast<std::uint32_t>(random());
      ASSERT_TRUE(index.put({.id = id, .symbol = 7, .is_ask = 1, .quantity = quantity}));
      twin[id] = quantity;
    } else {
      index.erase(id);
      twin.erase(id);
    }
    const std::uint64_t other = random() % 4'000 + 1;
    const OrderIndex::Entry* found = index.find(other);
    const auto expected = twin.find(other);
    ASSERT_EQ(found != nullptr, expected != twin.end());
    if (found != nullptr) {
      ASSERT_EQ(found->quantity, expected->second);
    }
    ASSERT_EQ(index.size(), twin.size());
  }
  index.clear();
  EXPECT_EQ(index.size(), 0U);
  for (const auto& [id, quantity] : twin) EXPECT_EQ(index.find(id), nullptr);
}

TEST(OrderIndex, HasNoOrderZero) {
  OrderIndex index;
  EXPECT_FALSE(index.put({.id = 0, .symbol = 1, .is_ask = 0, .quantity = 1}));
  EXPECT_EQ(index.find(0), nullptr);
}

}  // namespace
}  // namespace tocsin
