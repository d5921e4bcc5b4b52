// One pass over the features of a frame.
#include "scoring/normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/assert.h"

namespace tocsin {

Normaliser::Normaliser(NormalisationParameters parameters) : parameters_(std::move(parameters)) {
  TOCSIN_ASSERT(parameters_.mean.size() == parameters_.scale.size());
  TOCSIN_ASSERT(parameters_.clip >= 0);
}

std::size_t Normaliser::apply(std::span<const float> raw,
                              std::span<float> normalised) const noexcept {
  TOCSIN_ASSERT(raw.size() == feature_count() && normalised.size() == feature_count());
  const float limit =
      parameters_.clip > 0 ? parameters_.clip : std::numeric_limits<float>::infinity();
  std::size_t replaced_count = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const float centred = raw[i] - parameters_.mean[i];
    const float scaled = std::clamp(centred * parameters_.scale[i], -limit, limit);
    const bool usable = std::isfinite(raw[i]) && std::isfinite(scaled);
    normalised[i] = usable ? scaled : 0.0F;
    replaced_count += usable ? 0 : 1;
  }
  return replaced_count;
}

}  // namespace tocsin
