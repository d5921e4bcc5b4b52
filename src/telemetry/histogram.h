// A latency histogram of fixed size: recording is a shift, an index and an increment.
// Quantiles are at most 1/128 above the exact ones; count, mean and maximum are exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tocsin {

// Nanoseconds, as reports print them; the mean is rounded to the nearest.
struct Distribution {
  std::uint64_t count = 0;
  std::int64_t mean = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t p999 = 0;
  std::int64_t p9999 = 0;
  std::int64_t max = 0;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

struct HistogramBucket {
  std::int64_t lower_ns = 0;
  std::int64_t upper_ns = 0;  // inclusive
  std::uint64_t count = 0;
};

// Log-linear buckets: each power of two is cut into 128 of equal width, and values below 256 ns
// have a bucket each (the layout of HdrHistogram, https://hdrhistogram.org). A bucket's width over
// its lower bound is at most 1/128. Takes 57 KiB, allocated at construction only. Not thread-safe.
class LatencyHistogram {
 public:
  LatencyHistogram();

  // A negative duration (a clock that was set back) counts as 0.
  void record(std::int64_t duration_ns) noexcept {
    const std::int64_t value_ns = std::max<std::int64_t>(duration_ns, 0);
    ++counts_[index_of(static_cast<std::uint64_t>(value_ns))];
    ++count_;
    sum_ns_ += static_cast<std::uint64_t>(value_ns);
    max_ns_ = std::max(max_ns_, value_ns);
  }

  // As if all of `other` had been recorded here.
  void merge(const LatencyHistogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  std::int64_t max_ns() const noexcept { return max_ns_; }
  // Rounded to the nearest; 0 if empty.
  std::int64_t mean_ns() const noexcept;
  // The smallest upper bound of a bucket at which at least ceil(quantile * count) values are
  // counted, and never more than max_ns(); 0 if empty. `quantile` is in [0, 1] and taken to nine
  // decimals, so that 0.9 of 10 values is 9 of them.
  std::int64_t quantile_ns(double quantile) const noexcept;
  Distribution distribution() const noexcept;
  // The buckets that hold something, from low to high.
  std::vector<HistogramBucket> buckets() const;

 private:
  static constexpr unsigned kSubBucketBits = 7;
  static constexpr std::size_t kSubBucketCount = std::size_t{1} << kSubBucketBits;
  // 63 bits of a duration; the lowest kSubBucketBits + 1 of them need no shift.
  static constexpr std::size_t kBucketCount = (63 - kSubBucketBits + 1) * kSubBucketCount;

  static std::size_t index_of(std::uint64_t value) noexcept {
    const auto bits =
        std::max<unsigned>(static_cast<unsigned>(std::bit_width(value)), kSubBucketBits + 1);
    const unsigned shift = bits - (kSubBucketBits + 1);
    return shift * kSubBucketCount + static_cast<std::size_t>(value >> shift);
  }
  static std::int64_t upper_of(std::size_t index) noexcept;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  unsigned __int128 sum_ns_ = 0;
  std::int64_t max_ns_ = 0;
};

}  // namespace tocsin
