// Products with low-precision weights against plain twins of their definitions: bits, on every
// instruction set.
#include "kernels/low_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/half_float.h"
#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 20260802;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Problem {
  std::size_t outputs = 0;
  std::size_t inputs = 0;
  std::size_t rows = 0;
  std::size_t offset = 0;  // floats by which x, bias, scales and y are out of alignment
  bool has_bias = false;
  bool bias_per_row = false;
  std::vector<float> weights;  // [outputs, inputs]
  std::vector<float> x;        // [rows, inputs + 3] from `offset` on
  std::vector<float> bias;

  std::size_t x_stride() const { return inputs + 3; }
  std::size_t y_stride() const { return outputs + 2; }
  const float* row(std::size_t r) const { return x.data() + offset + r * x_stride(); }
  float start(std::size_t r, std::size_t n) const {
    return has_bias ? bias[offset + (bias_per_row ? r * outputs : 0) + n] : 0.0F;
  }
  DenseRows dense_rows(float* y) const {
    return {row(0),
            x_stride(),
            rows,
            has_bias ? bias.data() + offset : nullptr,
            bias_per_row ? outputs : 0,
            y + offset,
            y_stride()};
  }
  // Filled with 99 where a kernel must not write.
  std::vector<float> blank_y() const {
    return std::vector<float>(offset + rows * y_stride(), 99.0F);
  }
};

Problem random_problem(RandomFloats& random) {
  Problem problem;
  problem.outputs = 1 + random.below(210);
  problem.inputs = random.below(2) == 0 ? 1 + random.below(40) : 100 + random.below(300);
  problem.rows = random.below(3) == 0 ? 1 : 1 + random.below(40);
  problem.offset = random.below(5);
  problem.has_bias = random.below(3) != 0;
  problem.bias_per_row = random.below(2) == 0;
  problem.weights = random.vector(problem.outputs * problem.inputs, 1.0F);
  problem.x = random.vector(problem.offset + problem.rows * problem.x_stride(), 2.0F);
  problem.bias = random.vector(problem.offset + problem.rows * problem.outputs, 1.0F);
  return problem;
}

::testing::AssertionResult matches(const Problem& problem, const std::vector<float>& y,
                                   const std::vector<float>& expected) {
  for (std::size_t r = 0; r < problem.rows; ++r) {
    const float* row = y.data() + problem.offset + r * problem.y_stride();
    for (std::size_t n = 0; n < problem.outputs; ++n)
      if (!same_bits(row[n], expected[r * problem.outputs + n]))
        return ::testing::AssertionFailure()
               << "row " << r << " output " << n << " of " << problem.rows << " x "
               << problem.outputs << " x " << problem.inputs << ": " << row[n] << " instead of "
               << expected[r * problem.outputs + n];
    if (row[problem.outputs] != 99.0F || row[problem.outputs + 1] != 99.0F)
      return ::testing::AssertionFailure() << "wrote past row " << r;
  }
  return ::testing::AssertionSuccess();
}

std::vector<float> float_twin(const Problem& problem, float (*rounded)(float)) {
  std::vector<float> y(problem.rows * problem.outputs);
  for (std::size_t r = 0; r < problem.rows; ++r) {
    for (std::size_t n = 0; n < problem.outputs; ++n) {
      const float* w = problem.weights.data() + n * problem.inputs;
      float total = problem.start(r, n);
      for (std::size_t first = 0; first < problem.inputs; first += 128) {
        float block = 0.0F;
        for (std::size_t k = first; k < std::min(first + 128, problem.inputs); ++k)
          block = std::fma(rounded(w[k]), problem.row(r)[k], block);
        total += block;
      }
      y[r * problem.outputs + n] = total;
    }
  }
  return y;
}

MatrixView view_of(const Problem& problem) {
  return {problem.weights.data(), problem.outputs, problem.inputs, problem.inputs, 1};
}

TEST(DenseBfloat16, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (int i = 0; i < 100; ++i) {
    const Problem problem = random_problem(random);
    const PackedBfloat16Matrix packed(view_of(problem));
    const std::vector<float> expected =
        float_twin(problem, [](float w) { return from_bfloat16(to_bfloat16(w)); });
    for (const Isa isa : available_isas()) {
      std::vector<float> y = problem.blank_y();
      kernels_of(isa).low_precision.dense_bfloat16(packed.view(), problem.dense_rows(y.data()));
      ASSERT_TRUE(matches(problem, y, expected))
          << isa_name(isa) << " problem " << i << " of seed " << kSeed;
    }
  }
}

TEST(DenseFloat16, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed + 1);
  for (int i = 0; i < 100; ++i) {
    Problem problem = random_problem(random);
    // Down to the subnormals of FP16, whose widening is the one that could differ.
    if (i % 2 == 0)
      for (float& w : problem.weights) w = w * 0x1p-14F;
    const PackedFloat16Matrix packed(view_of(problem));
    const std::vector<float> expected =
        float_twin(problem, [](float w) { return from_float16(to_float16(w)); });
    for (const Isa isa : available_isas()) {
      std::vector<float> y = problem.blank_y();
      kernels_of(isa).low_precision.dense_float16(packed.view(), problem.dense_rows(y.data()));
      ASSERT_TRUE(matches(problem, y, expected))
          << isa_name(isa) << " problem " << i << " of seed " << kSeed + 1;
    }
  }
}

TEST(DenseBfloat16, ValuesThatSurviveRoundingGiveTheBitsOfFp32) {
  RandomFloats random(kSeed + 2);
  Problem problem = random_problem(random);
  for (float& w : problem.weights) w = from_bfloat16(to_bfloat16(w));
  const PackedBfloat16Matrix packed(view_of(problem));
  const PackedMatrix full(view_of(problem));
  std::vector<float> expected = problem.blank_y();
  const DenseRows rows = problem.dense_rows(expected.data());
  kernels().dense({full.view(), rows.x, rows.x_stride, rows.row_count, rows.bias, rows.bias_stride,
                   rows.y, rows.y_stride});
  std::vector<float> y = problem.blank_y();
  kernels().low_precision.dense_bfloat16(packed.view(), problem.dense_rows(y.data()));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_TRUE(same_bits(y[i], expected[i])) << i;
}

TEST(DenseHalf, NoInputsGiveTheBias) {
  const std::vector<float> bias = {-0.0F, -2.0F};
  for (const Isa isa : available_isas()) {
    std::vector<float> y(2, 99.0F);
    const DenseRows rows{nullptr, 0, 1, bias.data(), 0, y.data(), 2};
    kernels_of(isa).low_precision.dense_bfloat16({nullptr, 2, 0}, rows);
    EXPECT_TRUE(same_bits(y[0], -0.0F)) << isa_name(isa);
    EXPECT_EQ(y[1], -2.0F);
    std::fill(y.begin(), y.end(), 99.0F);
    kernels_of(isa).low_precision.dense_float16({nullptr, 2, 0}, rows);
    EXPECT_TRUE(same_bits(y[0], -0.0F)) << isa_name(isa);
    EXPECT_EQ(y[1], -2.0F);
  }
}

// Scales for each output, and the rows quantised by the definition.
struct Int8Problem {
  Problem base;
  float inverse_scale = 0;
  std::vector<float> output_scale;  // from base.offset on
  std::vector<std::int32_t> q;      // [rows, inputs]
};

std::int32_t quantised(float x, float inverse_scale) {
  const float value = x * inverse_scale;
  if (std::isnan(value)) return 0;
  return static_cast<std::int32_t>(std::clamp(std::nearbyint(value), -127.0F, 127.0F));
}

Int8Problem int8_problem(Problem base, float inverse_scale, const PackedInt8Matrix& packed) {
  Int8Problem problem{std::move(base), inverse_scale, {}, {}};
  problem.output_scale.assign(problem.base.offset, 0.0F);
  for (const float scale : packed.weight_scales())
    problem.output_scale.push_back(scale * (1.0F / inverse_scale));
  for (std::size_t r = 0; r < problem.base.rows; ++r)
    for (std::size_t k = 0; k < problem.base.inputs; ++k)
      problem.q.push_back(quantised(problem.base.row(r)[k], inverse_scale));
  return problem;
}

std::vector<float> int8_twin(const Int8Problem& problem, const PackedInt8Matrix& packed) {
  const Problem& base = problem.base;
  std::vector<float> y(base.rows * base.outputs);
  for (std::size_t n = 0; n < base.outputs; ++n) {
    std::vector<std::int64_t> w(base.inputs);
    for (std::size_t k = 0; k < base.inputs; ++k)
      w[k] = static_cast<std::int64_t>(
          std::clamp(std::nearbyint(base.weights[n * base.inputs + k] / packed.weight_scales()[n]),
                     -127.0F, 127.0F));
    for (std::size_t r = 0; r < base.rows; ++r) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < base.inputs; ++k) sum += w[k] * problem.q[r * base.inputs + k];
      y[r * base.outputs + n] = std::fma(static_cast<float>(sum),
                                         problem.output_scale[base.offset + n], base.start(r, n));
    }
  }
  return y;
}

std::vector<float> run_int8(const Int8Problem& problem, const PackedInt8Matrix& packed, Isa isa) {
  const Problem& base = problem.base;
  const std::size_t q_stride = int8_row_bytes(base.inputs) + 64;
  std::vector<std::uint8_t> q(1 + base.rows * q_stride, 0xee);
  std::vector<float> y = base.blank_y();
  const DenseRows rows = base.dense_rows(y.data());
  kernels_of(isa).low_precision.quantise_rows({rows.x, rows.x_stride, rows.row_count, base.inputs,
                                               problem.inverse_scale, q.data() + 1, q_stride});
  kernels_of(isa).low_precision.dense_int8({packed.view(), q.data() + 1, q_stride, base.rows,
                                            problem.output_scale.data() + base.offset, rows.bias,
                                            rows.bias_stride, rows.y, rows.y_stride});
  return y;
}

TEST(DenseInt8, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed + 3);
  for (int i = 0; i < 150; ++i) {
    Problem base = random_problem(random);
    if (i % 5 == 0) base.x[base.offset + base.x_stride() / 2] = kNan;
    const PackedInt8Matrix packed(view_of(base), i % 3 == 0 ? PackedInt8Matrix::Scales::kPerMatrix
                                                            : PackedInt8Matrix::Scales::kPerOutput);
    // With 127 a part of the inputs is beyond the range.
    const Int8Problem problem = int8_problem(base, i % 2 == 0 ? 60.0F : 127.0F, packed);
    const std::vector<float> expected = int8_twin(problem, packed);
    for (const Isa isa : available_isas())
      ASSERT_TRUE(matches(base, run_int8(problem, packed, isa), expected))
          << isa_name(isa) << " problem " << i << " of seed " << kSeed + 3;
  }
}

TEST(DenseInt8, SumsAreExactAtTheEndsOfTheRange) {
  Problem base;
  base.outputs = 35;
  base.inputs = kInt8InputCountMax;
  base.rows = 17;
  base.weights.resize(base.outputs * base.inputs);
  // Output 0: all products are +127 * 127; 1: all the opposite; others: alternating and mixed.
  RandomFloats random(kSeed + 4);
  for (std::size_t n = 0; n < base.outputs; ++n)
    for (std::size_t k = 0; k < base.inputs; ++k)
      base.weights[n * base.inputs + k] = n == 0   ? 1.0F
                                          : n == 1 ? -1.0F
                                          : n == 2 ? (k % 2 == 0 ? 1.0F : -1.0F)
                                                   : (random.below(2) == 0 ? 1.0F : -1.0F);
  base.x.assign(base.rows * base.x_stride(), 5.0F);
  for (std::size_t r = 0; r < base.rows; r += 3)
    std::fill_n(base.x.begin() + static_cast<std::ptrdiff_t>(r * base.x_stride()), base.inputs,
                -5.0F);
  const PackedInt8Matrix packed(view_of(base), PackedInt8Matrix::Scales::kPerOutput);
  const Int8Problem problem = int8_problem(base, 127.0F, packed);
  const std::vector<float> expected = int8_twin(problem, packed);
  for (const Isa isa : available_isas())
    ASSERT_TRUE(matches(base, run_int8(problem, packed, isa), expected)) << isa_name(isa);
}

TEST(DenseInt8, ARowDependsOnItselfAlone) {
  RandomFloats random(kSeed + 5);
  Problem base = random_problem(random);
  base.rows = 37;
  base.x = random.vector(base.offset + base.rows * base.x_stride(), 2.0F);
  base.bias_per_row = false;
  const PackedInt8Matrix packed(view_of(base), PackedInt8Matrix::Scales::kPerOutput);
  const std::vector<float> together =
      run_int8(int8_problem(base, 64.0F, packed), packed, available_isas().back());
  for (std::size_t r = 0; r < base.rows; ++r) {
    Problem alone = base;
    alone.rows = 1;
    std::copy_n(base.row(r), base.inputs,
                alone.x.begin() + static_cast<std::ptrdiff_t>(alone.offset));
    for (const Isa isa : available_isas()) {
      const std::vector<float> y = run_int8(int8_problem(alone, 64.0F, packed), packed, isa);
      for (std::size_t n = 0; n < base.outputs; ++n)
        ASSERT_TRUE(same_bits(y[base.offset + n], together[base.offset + r * base.y_stride() + n]))
            << isa_name(isa) << " row " << r << " output " << n;
    }
  }
}

TEST(QuantiseRows, RoundsHalvesToEvenClampsAndPads) {
  const std::vector<float> x = {0.5F,    1.5F,       2.5F,    -0.5F,       -1.5F, 126.5F,
                                127.5F,  1e30F,      -1e30F,  kNan,        -0.0F, kInfinity,
                                -127.5F, -kInfinity, -126.5F, 0.49999997F, 3.0F};
  const std::vector<int> expected = {0, 2, 2,   0,    -2,   126,  127, 127, -127,
                                     0, 0, 127, -127, -127, -126, 0,   3};
  for (const Isa isa : available_isas()) {
    std::vector<std::uint8_t> q(64 + 1, 0xee);
    kernels_of(isa).low_precision.quantise_rows(
        {x.data(), x.size(), 1, x.size(), 1.0F, q.data(), 64});
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(static_cast<int>(q[i]) - 128, expected[i]) << isa_name(isa) << " of " << x[i];
    for (std::size_t i = x.size(); i < 64; ++i) EXPECT_EQ(q[i], 0) << isa_name(isa) << " at " << i;
    EXPECT_EQ(q[64], 0xee) << isa_name(isa);
  }
}

TEST(PackedInt8Matrix, ScalesAreThoseOfTheLargestWeight) {
  const std::vector<float> weights = {0.5F, -1.0F, 0.0F, 0.0F, 0.25F, 0.125F};
  const PackedInt8Matrix per_output({weights.data(), 3, 2, 2, 1},
                                    PackedInt8Matrix::Scales::kPerOutput);
  EXPECT_EQ(per_output.weight_scales(), (std::vector<float>{1.0F / 127.0F, 1.0F, 0.25F / 127.0F}));
  const PackedInt8Matrix per_matrix({weights.data(), 3, 2, 2, 1},
                                    PackedInt8Matrix::Scales::kPerMatrix);
  EXPECT_EQ(per_matrix.weight_scales(), (std::vector<float>(3, 1.0F / 127.0F)));
}

}  // namespace
}  // namespace tocsin
