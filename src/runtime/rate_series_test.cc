#include "runtime/rate_series.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace tocsin {
namespace {

TEST(RateSeries, CountsEachMessageInItsStretchOfTime) {
  std::mt19937_64 random(7);
  RateSeries series;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 20'000; ++i) {
    times.push_back(1'723'161'256'299'000'000 +
                    static_cast<std::int64_t>(random() % 6'000'000'000'000));
    series.add(times.back(), 2);
  }
  EXPECT_LE(series.counts().size(), RateSeries::kBucketsMax);
  EXPECT_GE(series.counts().size(), RateSeries::kBucketsMax / 2);
  std::map<std::int64_t, std::uint64_t> expected;
  for (const std::int64_t time : times) expected[time / series.bucket_ns()] += 2;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < series.counts().size(); ++i) {
    const std::int64_t number =
        series.start_ns() / series.bucket_ns() + static_cast<std::int64_t>(i);
    EXPECT_EQ(series.counts()[i], expected[number]) << i;
    total += series.counts()[i];
  }
  EXPECT_EQ(total, 2 * times.size());
}

TEST(RateSeries, TakesTimesBeforeItsFirst) {
  RateSeries series;
  series.add(5'000'000, 1);
  series.add(2'999'999, 3);
  series.add(-1, 1);
  EXPECT_EQ(series.bucket_ns(), 1'000'000);
  EXPECT_EQ(series.start_ns(), -1'000'000);
  EXPECT_EQ(series.counts(), (std::vector<std::uint64_t>{1, 0, 0, 3, 0, 0, 1}));
}

TEST(RateSeries, HoldsTheLongestSpan) {
  RateSeries series;
  series.add(0, 1);
  series.add(INT64_MAX, 1);
  EXPECT_LE(series.counts().size(), RateSeries::kBucketsMax);
  EXPECT_EQ(series.counts().front(), 1U);
  EXPECT_EQ(series.counts().back(), 1U);
}

}  // namespace
}  // namespace tocsin
