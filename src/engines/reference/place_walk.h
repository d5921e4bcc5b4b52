// The places of a tensor in row-major order, with the offset that each has in another tensor.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "engines/reference/operator.h"

namespace tocsin {

// How far apart the elements along each dimension are, the last one's being 1.
inline std::vector<std::size_t> row_major_strides(const Shape& shape) {
  std::vector<std::size_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * static_cast<std::size_t>(shape[i - 1]);
  return strides;
}

// Elements of dimensions `first` to `end` together.
inline std::size_t element_count_of(const Shape& shape, std::size_t first, std::size_t end) {
  std::size_t count = 1;
  for (std::size_t i = first; i < end; ++i) count *= static_cast<std::size_t>(shape[i]);
  return count;
}

// Walks a shape without allocating. A stride of 0 stands still along its dimension.
class PlaceWalk {
 public:
  PlaceWalk(std::span<const std::int64_t> shape, std::span<const std::size_t> strides)
      : rank_(shape.size()) {
    TOCSIN_ASSERT(rank_ <= kRankMax && strides.size() == rank_);
    for (std::size_t i = 0; i < rank_; ++i) {
      counts_[i] = static_cast<std::size_t>(shape[i]);
      strides_[i] = strides[i];
      count_ *= counts_[i];
    }
  }

  std::size_t count() const noexcept { return count_; }

  // visit(offset) for each place; false ends the walk.
  template <typename Visit>
  void run(Visit&& visit) const {
    std::array<std::size_t, kRankMax> index{};
    std::size_t offset = 0;
    for (std::size_t left = count_; left > 0; --left) {
      if (!visit(offset)) return;
      for (std::size_t d = rank_; d > 0; --d) {
        offset += strides_[d - 1];
        if (++index[d - 1] < counts_[d - 1]) break;
        offset -= strides_[d - 1] * counts_[d - 1];
        index[d - 1] = 0;
      }
    }
  }

 private:
  std::size_t rank_ = 0;
  std::size_t count_ = 1;
  std::array<std::size_t, kRankMax> counts_{};
  std::array<std::size_t, kRankMax> strides_{};
};

}  // namespace tocsin
