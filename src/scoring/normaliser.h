// Raw feature values to what the model sees. Plain 32-bit operations in a fixed order: the same
// bits on every machine, and the same as the exporter's (docs/model-packages.md, "Normalisation").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tocsin {

struct NormalisationParameters {
  std::vector<float> mean;   // one a feature, finite
  std::vector<float> scale;  // one a feature, finite, above 0
  float clip = 0;            // results are clamped to [-clip, clip]; 0: not
};

class Normaliser {
 public:
  explicit Normaliser(NormalisationParameters parameters);

  std::size_t feature_count() const noexcept { return parameters_.mean.size(); }

  // normalised[i] = (raw[i] - mean[i]) * scale[i], clamped. A raw value that is NaN or infinite,
  // and a result that overflows, becomes 0 (the feature's mean). Both spans hold feature_count()
  // values. Returns how many values were replaced by 0.
  std::size_t apply(std::span<const float> raw, std::span<float> normalised) const noexcept;

 private:
  NormalisationParameters parameters_;
};

}  // namespace tocsin
