// Windows against sums from scratch, in integers, and their bounds.
#include "features/rolling_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

constexpr std::int64_t kSummandMax = std::int64_t{1} << 47;

WindowSums sum_of(const std::vector<UpdateRecord>& records, std::size_t first, std::size_t w) {
  const Columns columns = kWindowColumns[w];
  WindowSums window{.sums = {}, .first_update = first, .update_count = records.size() - first};
  for (std::size_t i = first; i < records.size(); ++i) {
    for (std::size_t s = columns.first; s < columns.first + columns.count; ++s) {
      window.sums[s] += records[i].summands[s];
    }
  }
  return window;
}

AllWindows recompute(const std::vector<UpdateRecord>& records, std::size_t window_updates_max) {
  AllWindows all;
  const std::size_t count = records.size();
  for (std::size_t w = 0; w < kWindowUpdates.size(); ++w) {
    all[w] = sum_of(records, count - std::min<std::size_t>(count, kWindowUpdates[w]), w);
  }
  for (std::size_t w = 0; w < kWindowDurationNs.size(); ++w) {
    std::size_t first = count - std::min(count, window_updates_max);
    const auto length_ns = static_cast<std::int64_t>(kWindowDurationNs[w]);
    while (records.back().time_ns - records[first].time_ns >= length_ns) ++first;
    all[kWindowUpdates.size() + w] = sum_of(records, first, kWindowUpdates.size() + w);
  }
  return all;
}

UpdateRecord random_record(std::int64_t time_ns, std::mt19937_64& random) {
  UpdateRecord record{};
  record.time_ns = time_ns;
  for (std::int64_t& summand : record.summands) {
    summand = static_cast<std::int64_t>(random() % (2 * kSummandMax + 1)) - kSummandMax;
  }
  return record;
}

std::int64_t sum(const WindowSums& window, Summand summand) {
  return window.sums[static_cast<std::size_t>(summand)];
}

TEST(RollingWindows, EqualSumsFromScratchWhateverThePace) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const std::size_t limit : {std::size_t{500}, std::size_t{3'000}, kWindowUpdatesMax}) {
    RollingWindows windows({.updates_max = limit});
    std::vector<UpdateRecord> records;
    std::int64_t time_ns = -5'000'000'000;
    std::int64_t pace_ns = 1;
    for (int i = 0; i < 30'000; ++i) {
      if (i % 1'000 == 0) pace_ns = std::int64_t{1} << (random() % 33);
      if (random() % 3 != 0) {
        time_ns += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pace_ns));
      }
      records.push_back(random_record(time_ns, random));
      windows.push(records.back());
      if (i % 251 == 0 || i < 30) {
        ASSERT_EQ(windows.windows(), recompute(records, limit)) << "update " << i;
      }
    }
    EXPECT_EQ(windows.truncated_count() > 0, limit < kWindowUpdatesMax);
  }
}

TEST(RollingWindows, SumsOfTheLargestSummandsFitAFullWindow) {
  RollingWindows windows({});
  UpdateRecord record{};
  record.summands.fill(kSummandMax - 1);
  record[Summand::kArrivals] = -kSummandMax;
  for (std::size_t i = 0; i < kWindowUpdatesMax + 10; ++i) windows.push(record);
  const WindowSums& window = windows.windows().back();
  EXPECT_EQ(window.update_count, kWindowUpdatesMax);
  EXPECT_EQ(sum(window, Summand::kArrivals), INT64_MIN);
  EXPECT_EQ(sum(window, Summand::kCancels), INT64_MAX - (std::int64_t{1} << 16) + 1);
  EXPECT_EQ(windows.truncated_count(), 20U);
}

TEST(RollingWindows, AWindowOfTimeHoldsWhatIsYoungerThanItsLength) {
  RollingWindows windows({});
  UpdateRecord record{};
  const auto count_at = [&](std::int64_t time_ns) {
    record.time_ns = time_ns;
    windows.push(record);
    return windows.windows()[static_cast<std::size_t>(Window::k1Second)].update_count;
  };
  EXPECT_EQ(count_at(0), 1U);
  EXPECT_EQ(count_at(999'999'999), 2U);
  EXPECT_EQ(count_at(1'000'000'000), 2U);
  EXPECT_EQ(count_at(1'999'999'999), 2U);
}

TEST(RollingWindows, TimeThatFallsBelowAllTheyHoldEmptiesTheWindowsOfTime) {
  RollingWindows windows({});
  UpdateRecord record{};
  record.summands.fill(1);
  record.time_ns = 100'000'000'000;
  for (int i = 0; i < 30; ++i) windows.push(record);
  record.time_ns = 7;
  windows.push(record);
  const AllWindows& all = windows.windows();
  EXPECT_EQ(sum(all[0], Summand::kSquaredMove), 20);
  EXPECT_EQ(sum(all[1], Summand::kMove), 31);
  EXPECT_EQ(sum(all[3], Summand::kTrades), 1);
  EXPECT_EQ(sum(all[4], Summand::kCancels), 1);
}

TEST(RollingWindows, AllocateNothingOnceAsFullBefore) {
  RollingWindows windows({});
  UpdateRecord record{};
  const auto burst = [&] {
    for (int i = 0; i < 5'000; ++i) {
      record.time_ns += 1'000'000;
      windows.push(record);
    }
    record.time_ns += 60'000'000'000;
  };
  burst();
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 20; ++i) burst();
  EXPECT_EQ(allocation_count(), before);
}

TEST(RollingWindows, AllocateNothingWithinTheirCapacity) {
  RollingWindows windows({.updates_capacity = 5'000});
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 5'000; ++i) windows.push(UpdateRecord{});
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(windows.windows().back().update_count, 5'000U);
}

TEST(RollingRange, EqualsTheRangeFromScratch) {
  constexpr std::uint64_t kSeed = 6;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  RollingRange rolling;
  EXPECT_EQ(rolling.range(), 0U);
  std::vector<std::int64_t> values;
  std::int64_t value = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (i % 700 == 0) value = random() % 2 == 0 ? INT64_MIN / 2 : INT64_MAX / 2;
    value += static_cast<std::int64_t>(random() % 5) - 2;
    values.push_back(value);
    rolling.push(value);
    const auto first = values.end() - static_cast<std::ptrdiff_t>(
                                          std::min<std::size_t>(values.size(), kMidRangeUpdates));
    const auto [least, greatest] = std::minmax_element(first, values.end());
    const std::uint64_t expected =
        static_cast<std::uint64_t>(*greatest) - static_cast<std::uint64_t>(*least);
    ASSERT_EQ(rolling.range(), expected) << "value " << i;
  }
}

}  // namespace
}  // namespace tocsin
