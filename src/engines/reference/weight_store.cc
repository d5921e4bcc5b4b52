// Packed weights by where they come from.
#include "engines/reference/weight_store.h"

namespace tocsin {

std::shared_ptr<const PackedMatrix> WeightStore::pack(const MatrixView& matrix,
                                                      bool lives_with_session) {
  if (!lives_with_session) return std::make_shared<const PackedMatrix>(matrix);
  const Key key{matrix.data, matrix.output_count, matrix.input_count, matrix.output_stride,
                matrix.input_stride};
  std::shared_ptr<const PackedMatrix>& packed = packed_[key];
  if (packed == nullptr) packed = std::make_shared<const PackedMatrix>(matrix);
  return packed;
}

}  // namespace tocsin
