// Packed weights by where they come from.
#include "engines/reference/weight_store.h"

#include <utility>

namespace tocsin {

Result<SharedWeights> WeightStore::pack(const MatrixView& matrix,
                                        const DenseWeightsOptions& options,
                                        bool lives_with_session) {
  const Key key{matrix.data,         matrix.output_count, matrix.input_count, matrix.output_stride,
                matrix.input_stride, options.precision,   options.input_scale};
  if (lives_with_session) {
    const auto found = packed_.find(key);
    if (found != packed_.end()) return found->second;
  }
  TOCSIN_ASSIGN_OR_RETURN(DenseWeights weights, DenseWeights::pack(matrix, options));
  SharedWeights packed = std::make_shared<const DenseWeights>(std::move(weights));
  if (lives_with_session) packed_[key] = packed;
  return packed;
}

std::size_t WeightStore::size_bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& entry : packed_) sum += entry.second->size_bytes();
  return sum;
}

}  // namespace tocsin
