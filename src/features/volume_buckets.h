// Buckets of equal volume with what was bought and sold in each: VPIN.
#pragma once

#include <cstdint>

#include "features/feature_inputs.h"
#include "features/last_values.h"

namespace tocsin {

class VolumeBuckets {
 public:
  // To be called for updates with trades. Bought volume fills a bucket before sold, and that before
  // what has no side.
  void on_trades(const UpdateTrades& trades) noexcept;
  const BucketSums& sums() const noexcept { return sums_; }

 private:
  void fill(std::int64_t volume_steps, std::int64_t sign) noexcept;
  std::int64_t size_now() const noexcept;

  LastValues<1, kBucketSizeTrades> volumes_;
  LastValues<2, kBucketWindow> buckets_;  // imbalance, volume
  std::int64_t size_ = 0;                 // of the bucket at hand; 0: none is begun
  std::int64_t filled_ = 0;
  std::int64_t imbalance_ = 0;
  BucketSums sums_;
};

}  // namespace tocsin
