// Packed weights, one copy a session: plans for different batch sizes share them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include "kernels/packed_matrix.h"

namespace tocsin {

class WeightStore {
 public:
  // Packs the matrix. A weight that lives as long as the session is packed once and found again;
  // other constants are packed anew and belong to the caller.
  std::shared_ptr<const PackedMatrix> pack(const MatrixView& matrix, bool lives_with_session);

 private:
  using Key = std::tuple<const float*, std::size_t, std::size_t, std::size_t, std::size_t>;
  std::map<Key, std::shared_ptr<const PackedMatrix>> packed_;
};

}  // namespace tocsin
