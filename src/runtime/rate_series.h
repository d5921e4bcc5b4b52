// How many messages came in each stretch of time, for a file whose length is not known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tocsin {

class RateSeries {
 public:
  static constexpr std::size_t kBucketsMax = 120;

  // Times may come in any order. Buckets begin at a millisecond and double while there are too
  // many.
  void add(std::int64_t time_ns, std::uint64_t count);

  std::int64_t bucket_ns() const noexcept { return bucket_ns_; }
  // Of the first bucket; a multiple of bucket_ns().
  std::int64_t start_ns() const noexcept { return first_ * bucket_ns_; }
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }

 private:
  void double_buckets();

  std::int64_t bucket_ns_ = 1'000'000;
  std::int64_t first_ = 0;  // number of the first bucket: its time over bucket_ns_
  std::vector<std::uint64_t> counts_;
};

}  // namespace tocsin
