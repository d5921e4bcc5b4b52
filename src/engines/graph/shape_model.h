// Models of the shapes that latency benchmarks of the field name: stacks of LSTM layers with a
// dense head, weights random. Written as ONNX files, so that any engine can load them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engines/engine.h"

namespace tocsin {

struct ModelShape {
  std::int64_t steps = 0;
  std::int64_t features = 0;
  std::int64_t layers = 0;
  std::int64_t units = 0;
};

// "S2x100" (50 steps of 100 features), "S3x200" (100 of 250), "S4x1000" (100 of 500).
Result<ModelShape> model_shape_of(std::string_view name);

// Input "x" [batch, steps, features], output "y" [batch, 1], a probability. Weights are uniform
// within 1 / sqrt(units), as exporters initialise them; a seed always gives the same file.
Status write_shape_model(const ModelShape& shape, std::uint64_t seed, const std::string& path);

// The scales of its activations for standard normal inputs: 4.5 standard deviations are kept, and
// the states of an LSTM lie within 1.
ActivationScales shape_model_scales(const ModelShape& shape);

}  // namespace tocsin
