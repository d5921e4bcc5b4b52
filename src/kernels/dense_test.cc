// The matrix product against a plain twin of its definition: bits, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 20240808;

struct Problem {
  std::size_t outputs = 0;
  std::size_t inputs = 0;
  std::size_t rows = 0;
  std::size_t offset = 0;  // floats by which x, bias and y are out of alignment
  bool has_bias = false;
  bool bias_per_row = false;
  std::vector<float> weights;  // [outputs, inputs]
  std::vector<float> x;        // [rows, inputs + 3] from `offset` on
  std::vector<float> bias;
};

Problem random_problem(RandomFloats& random) {
  Problem problem;
  problem.outputs = 1 + random.below(210);
  problem.inputs = random.below(2) == 0 ? 1 + random.below(40) : 100 + random.below(300);
  problem.rows = 1 + random.below(11);
  problem.offset = random.below(5);
  problem.has_bias = random.below(3) != 0;
  problem.bias_per_row = random.below(2) == 0;
  problem.weights = random.vector(problem.outputs * problem.inputs, 1.0F);
  problem.x = random.vector(problem.offset + problem.rows * (problem.inputs + 3), 2.0F);
  problem.bias = random.vector(problem.offset + problem.rows * problem.outputs, 1.0F);
  return problem;
}

// The definition, as plainly as it can be said.
std::vector<float> twin(const Problem& problem) {
  std::vector<float> y(problem.rows * problem.outputs);
  for (std::size_t r = 0; r < problem.rows; ++r) {
    for (std::size_t n = 0; n < problem.outputs; ++n) {
      const float* x = problem.x.data() + problem.offset + r * (problem.inputs + 3);
      const float* w = problem.weights.data() + n * problem.inputs;
      const std::size_t bias_row = problem.bias_per_row ? r * problem.outputs : 0;
      float total = problem.has_bias ? problem.bias[problem.offset + bias_row + n] : 0.0F;
      for (std::size_t first = 0; first < problem.inputs; first += 128) {
        float block = 0.0F;
        for (std::size_t k = first; k < std::min(first + 128, problem.inputs); ++k)
          block = std::fma(w[k], x[k], block);
        total += block;
      }
      y[r * problem.outputs + n] = total;
    }
  }
  return y;
}

// y as [rows, outputs + 2] from `offset` on, filled with 99 where the kernel must not write.
std::vector<float> run(const Problem& problem, const PackedMatrix& packed, Isa isa) {
  const std::size_t y_stride = problem.outputs + 2;
  std::vector<float> y(problem.offset + problem.rows * y_stride, 99.0F);
  DenseCall call;
  call.weights = packed.view();
  call.x = problem.x.data() + problem.offset;
  call.x_stride = problem.inputs + 3;
  call.row_count = problem.rows;
  call.bias = problem.has_bias ? problem.bias.data() + problem.offset : nullptr;
  call.bias_stride = problem.bias_per_row ? problem.outputs : 0;
  call.y = y.data() + problem.offset;
  call.y_stride = y_stride;
  kernels_of(isa).dense(call);
  return y;
}

TEST(Dense, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (int i = 0; i < 150; ++i) {
    const Problem problem = random_problem(random);
    const PackedMatrix packed(
        {problem.weights.data(), problem.outputs, problem.inputs, problem.inputs, 1});
    const std::vector<float> expected = twin(problem);
    for (const Isa isa : available_isas()) {
      const std::vector<float> y = run(problem, packed, isa);
      for (std::size_t r = 0; r < problem.rows; ++r) {
        const float* row = y.data() + problem.offset + r * (problem.outputs + 2);
        for (std::size_t n = 0; n < problem.outputs; ++n)
          ASSERT_TRUE(same_bits(row[n], expected[r * problem.outputs + n]))
              << isa_name(isa) << " problem " << i << " of seed " << kSeed << ", row " << r
              << " output " << n << " of " << problem.rows << " x " << problem.outputs << " x "
              << problem.inputs;
        ASSERT_EQ(row[problem.outputs], 99.0F) << "wrote past the row";
        ASSERT_EQ(row[problem.outputs + 1], 99.0F) << "wrote past the row";
      }
    }
  }
}

TEST(Dense, ARowDependsOnItselfAlone) {
  RandomFloats random(kSeed + 1);
  const std::size_t inputs = 129;
  const std::size_t outputs = 83;
  const std::vector<float> weights = random.vector(outputs * inputs, 1.0F);
  const PackedMatrix packed({weights.data(), outputs, inputs, inputs, 1});
  const std::vector<float> row = random.vector(inputs, 1.0F);
  for (const Isa isa : available_isas()) {
    std::vector<float> alone(outputs);
    kernels_of(isa).dense(
        {packed.view(), row.data(), inputs, 1, nullptr, 0, alone.data(), outputs});
    for (std::size_t rows = 1; rows <= 9; ++rows) {
      for (std::size_t place = 0; place < rows; ++place) {
        std::vector<float> x(rows * inputs, std::numeric_limits<float>::quiet_NaN());
        if (rows > 1) x[(place == 0 ? 1 : 0) * inputs] = std::numeric_limits<float>::infinity();
        std::copy(row.begin(), row.end(), x.begin() + static_cast<std::ptrdiff_t>(place * inputs));
        std::vector<float> y(rows * outputs);
        kernels_of(isa).dense(
            {packed.view(), x.data(), inputs, rows, nullptr, 0, y.data(), outputs});
        for (std::size_t n = 0; n < outputs; ++n)
          ASSERT_TRUE(same_bits(y[place * outputs + n], alone[n])) << isa_name(isa);
      }
    }
  }
}

TEST(Dense, NoInputsGiveTheBias) {
  const std::vector<float> bias = {1.0F, -2.0F};
  std::vector<float> y(2, 99.0F);
  for (const Isa isa : available_isas()) {
    kernels_of(isa).dense({{nullptr, 2, 0}, nullptr, 0, 1, bias.data(), 0, y.data(), 2});
    EXPECT_EQ(y, bias);
  }
}

TEST(Dense, NanInWeightsAndInputsComesOut) {
  std::vector<float> weights = {1.0F, 2.0F, std::numeric_limits<float>::quiet_NaN(), 4.0F};
  const PackedMatrix packed({weights.data(), 2, 2, 2, 1});
  const std::vector<float> x = {std::numeric_limits<float>::infinity(), 1.0F};
  for (const Isa isa : available_isas()) {
    std::vector<float> y(2);
    kernels_of(isa).dense({packed.view(), x.data(), 2, 1, nullptr, 0, y.data(), 2});
    EXPECT_EQ(y[0], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(y[1]));
  }
}

TEST(PackedMatrix, TransposedSourcePacksToTheSame) {
  RandomFloats random(3);
  const std::size_t outputs = 70;
  const std::size_t inputs = 9;
  const std::vector<float> by_output = random.vector(outputs * inputs, 1.0F);
  std::vector<float> by_input(by_output.size());
  for (std::size_t n = 0; n < outputs; ++n)
    for (std::size_t k = 0; k < inputs; ++k) by_input[k * outputs + n] = by_output[n * inputs + k];
  const PackedMatrix a({by_output.data(), outputs, inputs, inputs, 1});
  const PackedMatrix b({by_input.data(), outputs, inputs, 1, outputs});
  const std::size_t count = packed_float_count(outputs, inputs);
  EXPECT_EQ(count, 80U * inputs);
  EXPECT_TRUE(std::equal(a.view().data, a.view().data + count, b.view().data));
}

}  // namespace
}  // namespace tocsin
