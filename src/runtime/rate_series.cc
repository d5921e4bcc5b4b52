// Numbers of buckets are times divided by their length, so that doubling joins the same pairs
// whatever came first.
#include "runtime/rate_series.h"

#include <algorithm>

namespace tocsin {
namespace {

std::int64_t floor_quotient(std::int64_t dividend, std::int64_t divisor) noexcept {
  const std::int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

void RateSeries::double_buckets() {
  const std::int64_t first = floor_quotient(first_, 2);
  std::vector<std::uint64_t> joined;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const std::int64_t number = floor_quotient(first_ + static_cast<std::int64_t>(i), 2);
    const auto place = static_cast<std::size_t>(number - first);
    if (joined.size() <= place) joined.resize(place + 1);
    joined[place] += counts_[i];
  }
  counts_ = std::move(joined);
  first_ = first;
  bucket_ns_ *= 2;
}

void RateSeries::add(std::int64_t time_ns, std::uint64_t count) {
  for (;;) {
    const std::int64_t number = floor_quotient(time_ns, bucket_ns_);
    if (counts_.empty()) first_ = number;
    const std::int64_t last =
        std::max(first_ + static_cast<std::int64_t>(counts_.size()) - 1, number);
    const std::int64_t begin = std::min(first_, number);
    if (last - begin < static_cast<std::int64_t>(kBucketsMax)) {
      counts_.insert(counts_.begin(), static_cast<std::size_t>(first_ - begin), 0);
      first_ = begin;
      counts_.resize(std::max(counts_.size(), static_cast<std::size_t>(last - begin + 1)));
      counts_[static_cast<std::size_t>(number - begin)] += count;
      return;
    }
    double_buckets();
  }
}

}  // namespace tocsin
