// Walks tensors that broadcast against each other, row by row, without allocating.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

// The common shape under NumPy's rules, or an error that names both.
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);

// Loops over an output shape and Count inputs that broadcast to it. Adjacent dimensions that no
// input distinguishes are merged, so equal shapes are one row.
template <std::size_t Count>
class BroadcastLoop {
 public:
  // Each input's shape must broadcast to `output`, whose rank is at most kRankMax.
  BroadcastLoop(const Shape& output,
                const std::array<std::span<const std::int64_t>, Count>& inputs);

  // Calls row(output offset, input offsets, count, input steps) for each innermost row; a step is
  // 1, or 0 where the input is the same all along the row. Offsets are in elements.
  template <typename Row>
  void run(Row&& row) const {
    if (is_empty_) return;
    std::array<std::size_t, kRankMax> index{};
    std::array<std::size_t, Count> offsets{};
    std::size_t output_offset = 0;
    while (true) {
      row(output_offset, offsets, row_count_, row_steps_);
      output_offset += row_count_;
      std::size_t dimension = outer_rank_;
      while (dimension > 0) {
        --dimension;
        ++index[dimension];
        for (std::size_t i = 0; i < Count; ++i) offsets[i] += strides_[i][dimension];
        if (index[dimension] < counts_[dimension]) break;
        index[dimension] = 0;
        for (std::size_t i = 0; i < Count; ++i)
          offsets[i] -= strides_[i][dimension] * counts_[dimension];
        if (dimension == 0) return;
      }
      if (outer_rank_ == 0) return;
    }
  }

 private:
  bool is_empty_ = false;
  std::size_t outer_rank_ = 0;
  std::size_t row_count_ = 1;
  std::array<std::size_t, Count> row_steps_{};
  std::array<std::size_t, kRankMax> counts_{};
  std::array<std::array<std::size_t, kRankMax>, Count> strides_{};
};

extern template class BroadcastLoop<1>;
extern template class BroadcastLoop<2>;
extern template class BroadcastLoop<3>;

}  // namespace tocsin
