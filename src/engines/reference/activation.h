// The activation functions of the standard's recurrent operators, with their alpha and beta.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

enum class ActivationKind : std::uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};

struct Activation {
  ActivationKind kind = ActivationKind::kTanh;
  float alpha = 0, beta = 0;

  // y[i] = f(x[i]); y may be x.
  void apply(const float* x, float* y, std::size_t count) const noexcept;
};

// Reads activations, activation_alpha and activation_beta: as many as `defaults` for each
// direction. Alphas and betas are taken in order by the functions that have them.
Result<std::vector<Activation>> read_activations(const NodeContext& context, std::size_t directions,
                                                 const std::vector<ActivationKind>& defaults);

// Whether all activations that the node names stay in [-1, 1]; the usual ones, unnamed, do.
bool has_bounded_activations(const NodeContext& context);

// max(x, 0) + log(1 + e^-|x|) of up to kActivationBlock values.
inline constexpr std::size_t kActivationBlock = 256;
void softplus_block(const float* x, float* y, std::size_t count) noexcept;

}  // namespace tocsin
