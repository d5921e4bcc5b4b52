// PriceIndex against std::map: random, rising, falling and thinned-out keys, every node checked.
#include "features/price_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

using Twin = std::map<std::int64_t, std::uint32_t>;

void expect_equal(const PriceIndex& index, const Twin& twin) {
  ASSERT_TRUE(index.consistent());
  ASSERT_EQ(index.size(), twin.size());
  std::vector<std::uint32_t> levels;
  index.for_each([&](std::uint32_t level) { levels.push_back(level); });
  ASSERT_EQ(levels.size(), twin.size());
  ASSERT_TRUE(
      std::equal(twin.rbegin(), twin.rend(), levels.begin(),
                 [](const auto& entry, std::uint32_t level) { return entry.second == level; }));
  if (twin.empty()) return;
  EXPECT_EQ(index.worst(), twin.begin()->second);
  for (const std::size_t rank : {std::size_t{0}, twin.size() / 2, twin.size() - 1}) {
    EXPECT_EQ(index.level_at_rank(rank), levels[rank]);
  }
}

void toggle(PriceIndex& index, Twin& twin, std::int64_t key, std::uint32_t level) {
  const auto found = twin.find(key);
  ASSERT_EQ(index.find(key), found == twin.end() ? kNoSlot : found->second);
  if (found == twin.end()) {
    index.insert(key, level);
    twin.emplace(key, level);
  } else {
    index.erase(key);
    twin.erase(found);
  }
}

TEST(PriceIndex, AgreesWithAMapOverRandomKeys) {
  constexpr std::uint64_t kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const std::int64_t key_range : {20, 300, 5'000, 200'000}) {
    PriceIndex index;
    Twin twin;
    for (std::uint32_t i = 0; i < 60'000; ++i) {
      // Half of the keys lie near the greatest, as prices do.
      const std::int64_t range = random() % 2 == 0 ? key_range : key_range / 16 + 1;
      const auto offset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
      toggle(index, twin, key_range - offset, i);
      if (i % 5'000 == 0) expect_equal(index, twin);
    }
    expect_equal(index, twin);
    index.clear();
    twin.clear();
    expect_equal(index, twin);
    toggle(index, twin, 7, 7);
    expect_equal(index, twin);
  }
}

TEST(PriceIndex, StaysConsistentWhileItDrainsFromEitherEndAndFromTheMiddle) {
  for (const int way : {0, 1, 2, 3}) {
    PriceIndex index;
    Twin twin;
    constexpr std::int64_t kKeys = 20'000;
    for (std::int64_t key = 0; key < kKeys; ++key) {
      const std::int64_t k = way % 2 == 0 ? key : -key;
      toggle(index, twin, k, static_cast<std::uint32_t>(key));
    }
    expect_equal(index, twin);
    // Leaves one key of 37: the worst case for nodes that are freed only when empty.
    for (auto at = twin.begin(); at != twin.end();) {
      const std::int64_t key = at->first;
      ++at;
      if (key % 37 != 0) toggle(index, twin, key, 0);
    }
    expect_equal(index, twin);
    while (!twin.empty()) {
      const std::int64_t key = way < 2 ? twin.begin()->first : twin.rbegin()->first;
      toggle(index, twin, key, 0);
      if (twin.size() % 50 == 0) expect_equal(index, twin);
    }
  }
}

TEST(PriceIndex, HoldsTheExtremesOfItsKeys) {
  PriceIndex index;
  Twin twin;
  for (const std::int64_t key : {INT64_MIN, INT64_MAX, std::int64_t{0}, INT64_MIN + 1}) {
    toggle(index, twin, key, static_cast<std::uint32_t>(twin.size()));
  }
  expect_equal(index, twin);
}

TEST(PriceIndex, AllocatesNothingWithinItsReserveWhateverTheHistory) {
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  constexpr std::size_t kKeys = 3'000;
  PriceIndex index;
  index.reserve(kKeys);
  std::vector<std::int64_t> held;
  held.reserve(kKeys);
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 400'000; ++i) {
    // Long swings between full and nearly empty split and merge nodes at every height.
    const bool filling = (i / 20'000) % 2 == 0;
    if (held.size() < kKeys && (held.empty() || random() % 10 < (filling ? 8U : 2U))) {
      const auto key = static_cast<std::int64_t>(random() >> 1);
      if (index.find(key) != kNoSlot) continue;
      index.insert(key, 1);
      held.push_back(key);
    } else {
      const std::size_t at = random() % held.size();
      index.erase(held[at]);
      held[at] = held.back();
      held.pop_back();
    }
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(index.consistent());
}

}  // namespace
}  // namespace tocsin
