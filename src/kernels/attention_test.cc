// Attention pooling against a plain twin of its definition: bits, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 4711;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float exp_kernel(float x) {
  kernels_of(Isa::kDefault).exp(&x, &x, 1);
  return x;
}

// scores [steps], values [steps, width].
std::vector<float> pooling_twin(const std::vector<float>& scores, const std::vector<float>& values,
                                std::size_t width) {
  float m = -kInfinity;
  float s = 0.0F;
  std::vector<float> c(width, 0.0F);
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const float x = scores[t];
    const float* v = values.data() + t * width;
    if (x > m) {
      const float e = exp_kernel(m - x);
      s = std::fma(s, e, 1.0F);
      for (std::size_t j = 0; j < width; ++j) c[j] = std::fma(c[j], e, v[j]);
      m = x;
    } else if (x != -kInfinity) {
      const float e = exp_kernel(x - m);
      s = s + e;
      for (std::size_t j = 0; j < width; ++j) c[j] = std::fma(e, v[j], c[j]);
    }
  }
  for (float& value : c) value /= s + (m - m);
  return c;
}

TEST(Attend, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (int problem = 0; problem < 60; ++problem) {
    const std::size_t rows = 1 + random.below(5);
    const std::size_t steps = 1 + random.below(40);
    const std::size_t width = 1 + random.below(70);
    std::vector<std::vector<float>> scores;
    std::vector<std::vector<float>> values;
    for (std::size_t r = 0; r < rows; ++r) {
      scores.push_back(random.vector(steps, 4.0F));
      values.push_back(random.vector(steps * width, 2.0F));
      // Masked steps, all of them in some rows; a row that is spoiled leaves the others alone.
      if (problem % 3 == 0) scores[r][random.below(steps)] = -kInfinity;
      if (problem % 10 == 1 && r == 1) scores[r].assign(steps, -kInfinity);
      if (problem % 10 == 2 && r == 1) scores[r][steps / 2] = std::nanf("");
    }
    for (const Isa isa : available_isas()) {
      std::vector<float> maximum(rows, -kInfinity);
      std::vector<float> sum(rows, 0.0F);
      std::vector<float> context(rows * width, 0.0F);
      for (std::size_t t = 0; t < steps; ++t) {
        std::vector<float> x;
        std::vector<float> v;
        for (std::size_t r = 0; r < rows; ++r) {
          x.push_back(scores[r][t]);
          v.insert(v.end(), values[r].begin() + static_cast<std::ptrdiff_t>(t * width),
                   values[r].begin() + static_cast<std::ptrdiff_t>((t + 1) * width));
        }
        kernels_of(isa).attend({rows, width, x.data(), 1, v.data(), width, maximum.data(),
                                sum.data(), context.data(), width});
      }
      for (std::size_t r = 0; r < rows; ++r) {
        std::vector<float> y(width + 1, 99.0F);
        kernels_of(isa).pooled({width, maximum[r], sum[r], context.data() + r * width, y.data()});
        const std::vector<float> expected = pooling_twin(scores[r], values[r], width);
        for (std::size_t j = 0; j < width; ++j)
          ASSERT_TRUE(same_bits(y[j], expected[j]))
              << isa_name(isa) << " problem " << problem << " of seed " << kSeed << ", row " << r;
        ASSERT_EQ(y[width], 99.0F) << "wrote past the end";
      }
    }
  }
}

}  // namespace
}  // namespace tocsin
