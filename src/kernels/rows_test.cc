// Softmax and layer normalisation against plain twins of their definitions: bits, on every
// instruction set; and against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 4711;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float exp_kernel(float x) {
  kernels_of(Isa::kDefault).exp(&x, &x, 1);
  return x;
}

std::vector<float> softmax_twin(const std::vector<float>& x, bool logarithmic) {
  float m = -kInfinity;
  float s = 0.0F;
  for (const float value : x) {
    if (value > m) {
      s = std::fma(s, exp_kernel(m - value), 1.0F);
      m = value;
    } else if (value != -kInfinity) {
      s += exp_kernel(value - m);
    }
  }
  s += m - m;
  float log_s = s;
  kernels_of(Isa::kDefault).log(&log_s, &log_s, 1);
  std::vector<float> y;
  y.reserve(x.size());
  for (const float value : x)
    y.push_back(logarithmic ? (value - m) - log_s : exp_kernel(value - m) / s);
  return y;
}

std::vector<float> softmax(Isa isa, const std::vector<float>& x, bool logarithmic = false) {
  std::vector<float> y(x.size());
  kernels_of(isa).softmax({x.data(), y.data(), x.size(), 1, logarithmic});
  return y;
}

TEST(Softmax, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (std::size_t count = 1; count <= 150; ++count) {
    std::vector<float> x = random.vector(count, count % 2 == 0 ? 4.0F : 60.0F);
    if (count % 5 == 0) std::sort(x.begin(), x.end());
    if (count % 7 == 0) x[0] = -kInfinity;
    for (const bool logarithmic : {false, true}) {
      const std::vector<float> expected = softmax_twin(x, logarithmic);
      for (const Isa isa : available_isas()) {
        const std::vector<float> y = softmax(isa, x, logarithmic);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_TRUE(same_bits(y[i], expected[i])) << isa_name(isa) << " " << i << " of " << count;
      }
    }
  }
}

TEST(Softmax, IsCloseToDoublePrecision) {
  RandomFloats random(kSeed);
  const std::vector<float> x = random.vector(128, 10.0F);
  double sum = 0;
  for (const float value : x) sum += std::exp(static_cast<double>(value));
  const std::vector<float> y = softmax(available_isas().back(), x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i])) / sum;
    EXPECT_NEAR(static_cast<double>(y[i]), exact, exact * 2e-6);
  }
}

TEST(Softmax, RowsGiveTheBitsOfEachRowAlone) {
  RandomFloats random(kSeed);
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    const std::size_t count = 1 + rows * 7 % 67;
    const std::size_t row_stride = count + rows % 3;
    std::vector<float> x = random.vector(rows * row_stride, 20.0F);
    if (rows % 4 == 0) x[row_stride] = -kInfinity;
    if (rows % 5 == 0) x[2 * row_stride] = kNan;
    std::vector<float> columns(rows * count);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < count; ++i) columns[i * rows + r] = x[r * row_stride + i];
    for (const Isa isa : available_isas()) {
      for (const bool logarithmic : {false, true}) {
        std::vector<float> y(x.size(), 55.0F);
        std::vector<float> across(columns.size());
        kernels_of(isa).softmax({x.data(), y.data(), count, 1, logarithmic, rows, row_stride});
        kernels_of(isa).softmax({columns.data(), across.data(), count, rows, logarithmic, rows, 1});
        for (std::size_t r = 0; r < rows; ++r) {
          const float* row = x.data() + r * row_stride;
          const std::vector<float> expected = softmax_twin({row, row + count}, logarithmic);
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(same_bits(y[r * row_stride + i], expected[i]))
                << isa_name(isa) << " row " << r << " of " << rows << ", " << i;
            ASSERT_TRUE(same_bits(across[i * rows + r], expected[i])) << isa_name(isa);
          }
          for (std::size_t i = count; i < row_stride; ++i) ASSERT_EQ(y[r * row_stride + i], 55.0F);
        }
      }
    }
  }
}

TEST(Softmax, StridedValuesGiveTheSameBitsAndLeaveTheOthersAlone) {
  RandomFloats random(kSeed);
  const std::vector<float> x = random.vector(37, 5.0F);
  const std::vector<float> expected = softmax(Isa::kDefault, x);
  std::vector<float> strided(x.size() * 3, 55.0F);
  for (std::size_t i = 0; i < x.size(); ++i) strided[i * 3] = x[i];
  kernels().softmax({strided.data(), strided.data(), x.size(), 3, false});
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same_bits(strided[i * 3], expected[i]));
    EXPECT_EQ(strided[i * 3 + 1], 55.0F);
  }
}

TEST(Softmax, MaskedValuesGetZeroAndBadOnesSpoilTheRow) {
  for (const Isa isa : available_isas()) {
    const std::vector<float> masked = softmax(isa, {-kInfinity, 1.0F, -kInfinity, 1.0F});
    EXPECT_EQ(masked, (std::vector<float>{0.0F, 0.5F, 0.0F, 0.5F}));
    for (const std::vector<float>& x : {std::vector<float>{1.0F, kNan, 2.0F},
                                        {0.0F, kInfinity, 1.0F},
                                        {-kInfinity, -kInfinity}}) {
      for (const float value : softmax(isa, x)) EXPECT_TRUE(std::isnan(value));
    }
  }
}

std::vector<float> layer_norm_twin(const std::vector<float>& x, const std::vector<float>& scale,
                                   const std::vector<float>& bias) {
  const auto blocked_sum = [&x](auto&& step) {
    float total = 0.0F;
    for (std::size_t first = 0; first < x.size(); first += 128) {
      float block = 0.0F;
      for (std::size_t i = first; i < std::min(first + 128, x.size()); ++i)
        block = step(block, x[i]);
      total += block;
    }
    return total;
  };
  const float n = static_cast<float>(x.size());
  const float mean = blocked_sum([](float sum, float value) { return sum + value; }) / n;
  const float variance = blocked_sum([mean](float sum, float value) {
                           return std::fma(value - mean, value - mean, sum);
                         }) /
                         n;
  const float r = 1.0F / std::sqrt(variance + 1e-5F);
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back(std::fma((x[i] - mean) * r, scale[i], bias[i]));
  return y;
}

TEST(LayerNorm, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 127U, 128U, 129U, 300U}) {
    const std::vector<float> x = random.vector(count, 7.0F);
    const std::vector<float> scale = random.vector(count, 2.0F);
    const std::vector<float> bias = random.vector(count, 1.0F);
    const std::vector<float> expected = layer_norm_twin(x, scale, bias);
    for (const Isa isa : available_isas()) {
      std::vector<float> y(count);
      float mean = 0;
      LayerNormCall call;
      call.count = count;
      call.x = x.data();
      call.scale = scale.data();
      call.bias = bias.data();
      call.epsilon = 1e-5F;
      call.y = y.data();
      call.mean = &mean;
      kernels_of(isa).layer_norm(call);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(same_bits(y[i], expected[i])) << isa_name(isa) << " " << i << " of " << count;
    }
  }
}

TEST(LayerNorm, RowsGiveTheBitsOfEachRowAlone) {
  RandomFloats random(kSeed);
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    const std::size_t count = 1 + rows * 53 % 300;
    const std::vector<float> x = random.vector(rows * count, 7.0F);
    const std::vector<float> scale = random.vector(count, 2.0F);
    const std::vector<float> bias = random.vector(count, 1.0F);
    for (const Isa isa : available_isas()) {
      std::vector<float> y(x.size());
      std::vector<float> mean(rows);
      std::vector<float> inverse(rows);
      kernels_of(isa).layer_norm({count, x.data(), scale.data(), bias.data(), 1e-5F, y.data(),
                                  mean.data(), inverse.data(), rows, count});
      std::vector<float> sums(rows);
      kernels_of(isa).row_sum({rows, count, x.data(), count, sums.data()});
      for (std::size_t r = 0; r < rows; ++r) {
        const float* row = x.data() + r * count;
        const std::vector<float> expected = layer_norm_twin({row, row + count}, scale, bias);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_TRUE(same_bits(y[r * count + i], expected[i]))
              << isa_name(isa) << " row " << r << " of " << rows << ", " << i;
        ASSERT_TRUE(same_bits(mean[r], sums[r] / static_cast<float>(count)));
        ASSERT_GT(inverse[r], 0.0F);
      }
    }
  }
}

TEST(Transpose, MovesEachValueAndTouchesNothingElse) {
  for (const Isa isa : available_isas()) {
    for (const std::size_t rows : {1U, 5U, 8U, 16U, 17U, 33U}) {
      for (const std::size_t columns : {1U, 7U, 8U, 16U, 31U, 60U}) {
        std::vector<float> x(rows * columns);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
        const std::size_t y_stride = rows + 2;
        std::vector<float> y(columns * y_stride, -1.0F);
        kernels_of(isa).transpose({rows, columns, x.data(), columns, y.data(), y_stride});
        for (std::size_t c = 0; c < columns; ++c)
          for (std::size_t r = 0; r < y_stride; ++r)
            ASSERT_EQ(y[c * y_stride + r], r < rows ? x[r * columns + c] : -1.0F)
                << isa_name(isa) << " " << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace tocsin
