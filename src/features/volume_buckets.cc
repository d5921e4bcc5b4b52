// A bucket's size is set when it begins: so many mean trades. A trade that is itself among them
// fills eleven buckets at most.
#include "features/volume_buckets.h"

#include <algorithm>
#include <cstdlib>

namespace tocsin {

std::int64_t VolumeBuckets::size_now() const noexcept {
  const WideInteger wanted =
      WideInteger{volumes_.sum(0)} * kBucketTrades / static_cast<std::int64_t>(volumes_.count());
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted));
}

void VolumeBuckets::fill(std::int64_t volume_steps, std::int64_t sign) noexcept {
  while (volume_steps > 0) {
    if (size_ == 0) size_ = size_now();
    const std::int64_t taken = std::min(volume_steps, size_ - filled_);
    filled_ += taken;
    imbalance_ += sign * taken;
    volume_steps -= taken;
    if (filled_ < size_) return;
    buckets_.push({std::abs(imbalance_), size_});
    sums_ = {.imbalance = buckets_.sum(0), .volume = buckets_.sum(1)};
    size_ = filled_ = imbalance_ = 0;
  }
}

void VolumeBuckets::on_trades(const UpdateTrades& trades) noexcept {
  volumes_.push({trades.bought_steps + trades.sold_steps + trades.unsided_steps});
  fill(trades.bought_steps, 1);
  fill(trades.sold_steps, -1);
  fill(trades.unsided_steps, 0);
}

}  // namespace tocsin
