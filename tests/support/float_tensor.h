// A float32 tensor of one's own, for sessions of any engine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "support/data_path.h"

namespace tocsin {

struct FloatTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  explicit FloatTensor(std::vector<std::int64_t> dimensions) : shape(std::move(dimensions)) {
    std::size_t count = 1;
    for (const std::int64_t dimension : shape) count *= static_cast<std::size_t>(dimension);
    values.assign(count, 0.0F);
  }
  TensorView view() {
    return {DataType::kFloat32, shape, values.data(), values.size() * sizeof(float)};
  }
  // Standard normal values.
  void fill(std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random);
  }
};

// A model of tests/data/models.
inline std::string model_fixture(const std::string& name) {
  return tocsin_source_path("tests/data/models/") + name;
}

}  // namespace tocsin
