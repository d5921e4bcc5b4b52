#include "telemetry/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();

// Rank by integers: parts of ten thousand, so that no rounding of a double enters.
std::int64_t exact_quantile(const std::vector<std::int64_t>& sorted,
                            std::uint64_t per_ten_thousand) {
  const std::uint64_t rank = (sorted.size() * per_ten_thousand + 9'999) / 10'000;
  return sorted[std::max<std::uint64_t>(rank, 1) - 1];
}

LatencyHistogram histogram_of(const std::vector<std::int64_t>& durations_ns) {
  LatencyHistogram histogram;
  for (const std::int64_t duration_ns : durations_ns) histogram.record(duration_ns);
  return histogram;
}

void expect_near_exact(std::vector<std::int64_t> durations_ns) {
  const LatencyHistogram histogram = histogram_of(durations_ns);
  std::sort(durations_ns.begin(), durations_ns.end());
  ASSERT_EQ(histogram.count(), durations_ns.size());
  EXPECT_EQ(histogram.max_ns(), durations_ns.back());
  for (std::uint64_t part = 0; part <= 10'000; part += 1) {
    const std::int64_t exact_ns = exact_quantile(durations_ns, part);
    const std::int64_t read_ns = histogram.quantile_ns(static_cast<double>(part) / 10'000.0);
    ASSERT_GE(read_ns, exact_ns) << part;
    ASSERT_LE(read_ns - exact_ns, exact_ns / 128) << part;
    ASSERT_LE(read_ns, histogram.max_ns()) << part;
  }
}

TEST(LatencyHistogram, QuantilesOfRandomDataAreWithinOnePartIn128OfTheSortedOnes) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  std::lognormal_distribution<double> latency(8.0, 1.5);
  std::uniform_int_distribution<int> bits(0, 62);
  for (const std::size_t size : {1U, 2U, 3U, 10U, 999U, 1'000U, 10'000U, 20'011U}) {
    std::vector<std::int64_t> like_latencies(size);
    std::vector<std::int64_t> of_any_size(size);
    std::vector<std::int64_t> small(size);
    for (std::size_t i = 0; i < size; ++i) {
      like_latencies[i] = std::llround(latency(random));
      of_any_size[i] = static_cast<std::int64_t>(random() >> (63 - bits(random)) >> 1U);
      small[i] = static_cast<std::int64_t>(random() % 300);
    }
    expect_near_exact(like_latencies);
    expect_near_exact(of_any_size);
    expect_near_exact(small);
  }
}

TEST(LatencyHistogram, ValuesBelow256AreExact) {
  for (std::int64_t value_ns = 0; value_ns < 256; ++value_ns) {
    LatencyHistogram histogram = histogram_of({value_ns, 1'000'000});
    EXPECT_EQ(histogram.quantile_ns(0.5), value_ns);
  }
}

TEST(LatencyHistogram, EveryBucketIsNarrowAndTouchesTheNext) {
  std::int64_t lower_ns = 0;
  int bucket_count = 0;
  for (;;) {
    const HistogramBucket bucket = histogram_of({lower_ns}).buckets().front();
    ASSERT_EQ(bucket.lower_ns, lower_ns);
    ASSERT_LE(bucket.upper_ns - bucket.lower_ns, bucket.lower_ns / 128);
    // The upper bound belongs to it too.
    ASSERT_EQ(histogram_of({bucket.upper_ns}).buckets().front().lower_ns, lower_ns);
    ++bucket_count;
    if (bucket.upper_ns == kLongest) break;
    lower_ns = bucket.upper_ns + 1;
  }
  EXPECT_EQ(bucket_count, 57 * 128);
}

TEST(LatencyHistogram, TakesTheLongestAndNegativeDurations) {
  const LatencyHistogram histogram = histogram_of({kLongest, -5, kLongest});
  EXPECT_EQ(histogram.max_ns(), kLongest);
  EXPECT_EQ(histogram.quantile_ns(1.0), kLongest);
  EXPECT_EQ(histogram.quantile_ns(0.0), 0);
  EXPECT_EQ(histogram.mean_ns(), kLongest / 3 * 2 + 1);  // 2 * (2^63 - 1) / 3, rounded
}

TEST(LatencyHistogram, QuantileCountsValuesAsTheFractionReads) {
  // 0.9 as a double is a little more than nine tenths; it must not take the tenth of ten values.
  const LatencyHistogram ten = histogram_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(ten.quantile_ns(0.9), 9);
  EXPECT_EQ(ten.quantile_ns(0.91), 10);
  EXPECT_EQ(ten.quantile_ns(0.1), 1);
  EXPECT_EQ(ten.quantile_ns(0.11), 2);
}

TEST(LatencyHistogram, NoQuantileIsAboveTheMaximum) {
  const LatencyHistogram histogram = histogram_of({1'000'001, 1'000'000});
  EXPECT_EQ(histogram.quantile_ns(0.5), 1'000'001);  // The bucket goes on to 1,003,519.
  EXPECT_EQ(histogram.quantile_ns(1.0), 1'000'001);
}

TEST(LatencyHistogram, MeanIsExactAndRoundedToTheNearest) {
  EXPECT_EQ(histogram_of({1'000'000'007, 1'000'000'008}).mean_ns(), 1'000'000'008);
  EXPECT_EQ(histogram_of({1, 1, 2}).mean_ns(), 1);
  EXPECT_EQ(histogram_of({1, 2, 2}).mean_ns(), 2);
}

TEST(LatencyHistogram, AnEmptyOneIsAllZeros) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.distribution(), Distribution{});
  EXPECT_TRUE(histogram.buckets().empty());
}

TEST(LatencyHistogram, DistributionNamesItsQuantilesRightly) {
  LatencyHistogram histogram;
  for (std::int64_t i = 1; i <= 100'000; ++i) histogram.record(i * 1'000);
  const Distribution distribution = histogram.distribution();
  EXPECT_EQ(distribution.count, 100'000U);
  EXPECT_EQ(distribution.mean, 50'000'500);
  EXPECT_EQ(distribution.p50, histogram.quantile_ns(0.5));
  EXPECT_NEAR(static_cast<double>(distribution.p50), 50'000'000.0, 50'000'000.0 / 128);
  EXPECT_NEAR(static_cast<double>(distribution.p90), 90'000'000.0, 90'000'000.0 / 128);
  EXPECT_EQ(distribution.p99, histogram.quantile_ns(0.99));
  EXPECT_EQ(distribution.p999, histogram.quantile_ns(0.999));
  EXPECT_EQ(distribution.p9999, histogram.quantile_ns(0.9999));
  EXPECT_EQ(distribution.max, 100'000'000);
}

TEST(LatencyHistogram, MergingEqualsRecordingAll) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  LatencyHistogram parts[3];
  LatencyHistogram whole;
  for (int i = 0; i < 30'000; ++i) {
    const auto duration_ns = static_cast<std::int64_t>(random() >> (1 + random() % 60));
    parts[random() % 2].record(duration_ns);  // The third stays empty.
    whole.record(duration_ns);
  }
  parts[0].merge(parts[1]);
  parts[0].merge(parts[2]);
  EXPECT_EQ(parts[0].distribution(), whole.distribution());
  const auto merged = parts[0].buckets();
  const auto recorded = whole.buckets();
  ASSERT_EQ(merged.size(), recorded.size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    EXPECT_EQ(merged[i].upper_ns, recorded[i].upper_ns);
    EXPECT_EQ(merged[i].count, recorded[i].count);
  }
}

TEST(LatencyHistogram, RecordingAllocatesNothing) {
  LatencyHistogram histogram;
  const std::uint64_t before = allocation_count();
  for (std::int64_t i = 0; i < 1'000; ++i) histogram.record(i * i * i * i * i);
  (void)histogram.distribution();
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
