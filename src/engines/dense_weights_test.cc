#include "engines/dense_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16,
                                     Precision::kInt8};

// The largest error of a product of values in [-1, 1) against double precision.
double largest_error(Precision precision, bool per_output) {
  constexpr std::size_t kOutputs = 77;
  constexpr std::size_t kInputs = 200;
  constexpr std::size_t kRows = 19;
  RandomFloats random(20260803);
  std::vector<float> weights = random.vector(kOutputs * kInputs, 1.0F);
  // Outputs of very different size: what scales per output are for.
  for (std::size_t k = 0; k < kInputs; ++k) weights[k] *= 100.0F;
  const std::vector<float> x = random.vector(kRows * kInputs, 1.0F);
  const std::vector<float> bias = random.vector(kOutputs, 1.0F);
  const auto packed = DenseWeights::pack({weights.data(), kOutputs, kInputs, kInputs, 1},
                                         {precision, 1.0F / 127.0F, per_output});
  EXPECT_TRUE(packed.ok());
  std::vector<std::byte> scratch(packed->scratch_bytes(kRows));
  std::vector<float> y(kRows * kOutputs);
  packed->run({x.data(), kInputs, kRows, bias.data(), 0, y.data(), kOutputs}, scratch.data());
  double worst = 0;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t n = 1; n < kOutputs; ++n) {
      double sum = bias[n];
      for (std::size_t k = 0; k < kInputs; ++k)
        sum += static_cast<double>(weights[n * kInputs + k]) * x[r * kInputs + k];
      worst = std::max(worst, std::fabs(sum - y[r * kOutputs + n]));
    }
  }
  return worst;
}

TEST(DenseWeights, TheErrorIsThatOfThePrecision) {
  // 200 products of up to 1; one rounding of a weight is up to 2^-9, 2^-12 and 1/254.
  EXPECT_LT(largest_error(Precision::kFloat32, true), 1e-5);
  EXPECT_LT(largest_error(Precision::kFloat16, true), 0.01);
  EXPECT_GT(largest_error(Precision::kFloat16, true), 1e-4);
  EXPECT_LT(largest_error(Precision::kBfloat16, true), 0.1);
  EXPECT_GT(largest_error(Precision::kBfloat16, true), 0.005);
  EXPECT_LT(largest_error(Precision::kInt8, true), 0.25);
  EXPECT_GT(largest_error(Precision::kInt8, false), 1.0);
}

TEST(DenseWeights, QuantisingOnceGivesTheSameBits) {
  RandomFloats random(20260804);
  const std::vector<float> weights = random.vector(2'800, 1.0F);
  const std::vector<float> x = random.vector(210, 1.0F);
  const auto packed =
      DenseWeights::pack({weights.data(), 40, 70, 70, 1}, {Precision::kInt8, 0.01F, true});
  ASSERT_TRUE(packed.ok());
  std::vector<std::byte> scratch(packed->scratch_bytes(3));
  std::vector<float> at_once(120);
  packed->run({x.data(), 70, 3, nullptr, 0, at_once.data(), 40}, scratch.data());
  std::vector<std::uint8_t> q(packed->scratch_bytes(3));
  std::vector<float> in_steps(120);
  const DenseRows rows{x.data(), 70, 3, nullptr, 0, in_steps.data(), 40};
  packed->quantise(rows, q.data());
  packed->run_quantised(rows, q.data());
  EXPECT_EQ(at_once, in_steps);
}

TEST(DenseWeights, LowPrecisionIsSmaller) {
  const std::vector<float> weights(40'000, 0.5F);
  std::size_t sizes[4] = {};
  for (const Precision precision : kPrecisions) {
    const auto packed =
        DenseWeights::pack({weights.data(), 400, 100, 100, 1}, {precision, 0.01F, true});
    ASSERT_TRUE(packed.ok());
    sizes[static_cast<std::size_t>(precision)] = packed->size_bytes();
  }
  EXPECT_EQ(sizes[0], 160'000U);
  EXPECT_EQ(sizes[1], 416U * 100 * 2);
  EXPECT_EQ(sizes[2], sizes[1]);
  EXPECT_LT(sizes[3], 50'000U);
}

TEST(DenseWeights, WhatAPrecisionCannotHoldIsAnErrorWithItsPlace) {
  std::vector<float> weights = {1.0F, 2.0F, 70'000.0F, 4.0F};
  const MatrixView view{weights.data(), 2, 2, 2, 1};
  EXPECT_TRUE(DenseWeights::pack(view, {Precision::kBfloat16}).ok());
  const auto overflow = DenseWeights::pack(view, {Precision::kFloat16});
  ASSERT_FALSE(overflow.ok());
  EXPECT_NE(overflow.error().message().find("weight [1, 0] is 70000"), std::string::npos)
      << overflow.error().message();
  weights[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(DenseWeights::pack(view, {Precision::kFloat32}).ok());
  EXPECT_FALSE(DenseWeights::pack(view, {Precision::kInt8, 1.0F}).ok());
  weights[2] = 0;
  EXPECT_TRUE(DenseWeights::pack(view, {Precision::kInt8, 1.0F}).ok());
  for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(), 1e-44F})
    EXPECT_FALSE(DenseWeights::pack(view, {Precision::kInt8, scale}).ok()) << scale;
}

}  // namespace
}  // namespace tocsin
