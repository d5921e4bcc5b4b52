// Packed weights, one copy a process: plans for different batch sizes share them, and so do all
// sessions whose weights are equal, whatever files they come from.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include "base/result.h"
#include "engines/dense_weights.h"
#include "engines/engine.h"
#include "kernels/packed_matrix.h"

namespace tocsin {

using SharedWeights = std::shared_ptr<const DenseWeights>;

// How a session computes the products with its weights.
struct QuantisationOptions {
  Precision precision = Precision::kFloat32;
  // INT8: products of values that are not named here stay in FP32. Null: as if empty.
  std::shared_ptr<const ActivationScales> activation_scales{};
  bool scale_per_output = true;  // INT8: of the weights; otherwise one for each matrix

  static QuantisationOptions of(const SessionOptions& options) {
    return {options.precision, options.activation_scales, options.weight_scale_per_output};
  }
};

class WeightStore {
 public:
  explicit WeightStore(QuantisationOptions quantisation) : quantisation_(std::move(quantisation)) {}

  const QuantisationOptions& quantisation() const noexcept { return quantisation_; }

  // Packs the matrix. A weight that lives as long as the session is packed once and found again,
  // here or, by its content, with any other store of the process; other constants are packed anew
  // and belong to the caller.
  Result<SharedWeights> pack(const MatrixView& matrix, const DenseWeightsOptions& options,
                             bool lives_with_session);

  // Of the weights that were packed to stay.
  std::size_t size_bytes() const noexcept;

 private:
  // Where the matrix is, its layout, and how it was packed.
  using Key = std::tuple<const float*, std::size_t, std::size_t, std::size_t, std::size_t,
                         Precision, float>;

  QuantisationOptions quantisation_;
  std::map<Key, SharedWeights> packed_;
};

}  // namespace tocsin
