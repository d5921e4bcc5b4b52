// The reading side of the histogram.
#include "telemetry/histogram.h"

#include <cmath>

#include "base/assert.h"

namespace tocsin {

LatencyHistogram::LatencyHistogram() : counts_(kBucketCount) {}

void LatencyHistogram::merge(const LatencyHistogram& other) noexcept {
  for (std::size_t i = 0; i < kBucketCount; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

std::int64_t LatencyHistogram::mean_ns() const noexcept {
  if (count_ == 0) return 0;
  return static_cast<std::int64_t>((sum_ns_ + count_ / 2) / count_);
}

std::int64_t LatencyHistogram::quantile_ns(double quantile) const noexcept {
  TOCSIN_ASSERT(quantile >= 0.0 && quantile <= 1.0);
  if (count_ == 0) return 0;
  constexpr std::uint64_t kBillion = 1'000'000'000;
  const auto billionths = static_cast<std::uint64_t>(std::llround(quantile * 1e9));
  const auto scaled = static_cast<unsigned __int128>(count_) * billionths;
  const auto rank = static_cast<std::uint64_t>((scaled + kBillion - 1) / kBillion);
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    cumulative += counts_[i];
    // An empty bucket is no answer, not even to the quantile 0.
    if (counts_[i] != 0 && cumulative >= rank) return std::min(upper_of(i), max_ns_);
  }
  return max_ns_;
}

Distribution LatencyHistogram::distribution() const noexcept {
  return Distribution{count_,
                      mean_ns(),
                      quantile_ns(0.5),
                      quantile_ns(0.9),
                      quantile_ns(0.99),
                      quantile_ns(0.999),
                      quantile_ns(0.9999),
                      max_ns_};
}

std::vector<HistogramBucket> LatencyHistogram::buckets() const {
  std::vector<HistogramBucket> filled;
  for (std::size_t i = 0; i < kBucketCount; ++i) {
    if (counts_[i] == 0) continue;
    filled.push_back(HistogramBucket{i == 0 ? 0 : upper_of(i - 1) + 1, upper_of(i), counts_[i]});
  }
  return filled;
}

std::int64_t LatencyHistogram::upper_of(std::size_t index) noexcept {
  const std::size_t shift = index < 2 * kSubBucketCount ? 0 : index / kSubBucketCount - 1;
  const std::uint64_t place = index - shift * kSubBucketCount;
  return static_cast<std::int64_t>(((place + 1) << shift) - 1);
}

}  // namespace tocsin
