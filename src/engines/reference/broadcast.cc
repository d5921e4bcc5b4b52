// Merging of dimensions for broadcasting loops.
#include "engines/reference/broadcast.h"

#include <algorithm>

namespace tocsin {

Result<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  if (rank > kRankMax) return unsupported("its output has more than 8 dimensions");
  Shape shape(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t da = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t db = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (da != db && da != 1 && db != 1)
      return invalid("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast");
    shape[i] = da == 1 ? db : da;
  }
  if (!checked_element_count(shape))
    return invalid("shapes " + shape_text(a) + " and " + shape_text(b) + " broadcast to " +
                   shape_text(shape) + ", which is negative or too large");
  return shape;
}

template <std::size_t Count>
BroadcastLoop<Count>::BroadcastLoop(
    const Shape& output, const std::array<std::span<const std::int64_t>, Count>& inputs) {
  const std::size_t rank = output.size();
  TOCSIN_ASSERT(rank <= kRankMax);
  struct Dimension {
    std::size_t count = 1;
    std::array<std::size_t, Count> strides{};
  };
  // From the innermost dimension outwards; a dimension joins the one inside it if every input goes
  // on there with the stride it would have anyway.
  std::array<Dimension, kRankMax> merged;
  std::size_t merged_count = 0;
  std::array<std::size_t, Count> dense_strides;
  dense_strides.fill(1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t count = static_cast<std::size_t>(output[rank - 1 - i]);
    if (count == 0) is_empty_ = true;
    Dimension dimension{count, {}};
    bool joins = merged_count > 0;
    for (std::size_t n = 0; n < Count; ++n) {
      const std::size_t size =
          i < inputs[n].size() ? static_cast<std::size_t>(inputs[n][inputs[n].size() - 1 - i]) : 1;
      dimension.strides[n] = size == 1 ? 0 : dense_strides[n];
      dense_strides[n] *= size;
      if (merged_count > 0) {
        const Dimension& inner = merged[merged_count - 1];
        joins = joins && dimension.strides[n] == inner.strides[n] * inner.count;
      }
    }
    if (count == 1) continue;
    if (joins)
      merged[merged_count - 1].count *= count;
    else
      merged[merged_count++] = dimension;
  }
  if (merged_count == 0) return;
  row_count_ = merged[0].count;
  row_steps_ = merged[0].strides;
  outer_rank_ = merged_count - 1;
  for (std::size_t i = 0; i < outer_rank_; ++i) {
    const Dimension& dimension = merged[merged_count - 1 - i];
    counts_[i] = dimension.count;
    for (std::size_t n = 0; n < Count; ++n) strides_[n][i] = dimension.strides[n];
  }
}

template class BroadcastLoop<1>;
template class BroadcastLoop<2>;
template class BroadcastLoop<3>;

}  // namespace tocsin
