// Errors and bits of the element-wise functions and of power().
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"
#include "kernels/ulp_error.h"

namespace tocsin {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every `stride`-th of all floats, and the special ones.
std::vector<float> floats_by_stride(std::uint64_t stride) {
  std::vector<float> values = {0.0F,      -0.0F,     kInfinity,  -kInfinity,  kNan,
                               1.0F,      -1.0F,     0x1p-149F,  -0x1p-149F,  0x1p-126F,
                               88.72283F, 88.72284F, -87.33654F, -103.97207F, -103.97209F,
                               0.91999F,  0.92001F,  9.01F,      3.9192F,     0x1.fffffep127F};
  for (std::uint64_t bits = 0; bits < (1ULL << 32U); bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return values;
}

TEST(MathFunctions, ErrorIsWithinTheStatedBound) {
  const std::vector<float> x = floats_by_stride(4099);
  std::vector<float> y(x.size());
  for (const MeasuredFunction& function : kMeasuredFunctions) {
    (kernels().*function.kernel)(x.data(), y.data(), x.size());
    double worst = 0;
    float worst_x = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = ulp_error(y[i], function.exact(static_cast<double>(x[i])));
      if (error > worst) {
        worst = error;
        worst_x = x[i];
      }
    }
    EXPECT_LE(worst, function.ulp_bound) << function.name << " at " << worst_x;
    EXPECT_GT(worst, 0.4) << function.name << ": the measurement itself is broken";
  }
}

TEST(MathFunctions, EveryIsaGivesTheSameBits) {
  const std::vector<float> x = floats_by_stride(16411);
  std::vector<float> expected(x.size());
  std::vector<float> y(x.size());
  for (const MeasuredFunction& function : kMeasuredFunctions) {
    (kernels_of(Isa::kDefault).*function.kernel)(x.data(), expected.data(), x.size());
    for (const Isa isa : available_isas()) {
      (kernels_of(isa).*function.kernel)(x.data(), y.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE(same_bits(y[i], expected[i]))
            << function.name << "(" << x[i] << ") on " << isa_name(isa);
    }
  }
}

TEST(MathFunctions, LengthAlignmentAndPlaceChangeNothing) {
  RandomFloats random(11);
  const std::vector<float> x = random.vector(80, 6.0F);
  for (const MeasuredFunction& function : kMeasuredFunctions) {
    std::vector<float> one_by_one(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      (kernels().*function.kernel)(&x[i], &one_by_one[i], 1);
    for (std::size_t offset = 0; offset < 4; ++offset) {
      for (std::size_t count = 0; offset + count < x.size(); ++count) {
        std::vector<float> y(x.size() + 1, 77.0F);
        (kernels().*function.kernel)(x.data() + offset, y.data() + offset, count);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_TRUE(same_bits(y[offset + i], one_by_one[offset + i])) << function.name;
        ASSERT_EQ(y[offset + count], 77.0F) << function.name << " wrote past its end";
      }
    }
  }
}

float apply(MapFunction function, float x) {
  float y = 0;
  function(&x, &y, 1);
  return y;
}

TEST(MathFunctions, SpecialCasesAreAsDefined) {
  const KernelTable& table = kernels();
  EXPECT_EQ(apply(table.exp, kInfinity), kInfinity);
  EXPECT_EQ(apply(table.exp, -kInfinity), 0.0F);
  EXPECT_EQ(apply(table.exp, 0.0F), 1.0F);
  EXPECT_EQ(apply(table.exp, -103.0F), 0x1p-149F);
  EXPECT_EQ(apply(table.tanh, kInfinity), 1.0F);
  EXPECT_EQ(apply(table.tanh, -kInfinity), -1.0F);
  EXPECT_TRUE(std::signbit(apply(table.tanh, -0.0F)));
  EXPECT_EQ(apply(table.tanh, 0x1p-149F), 0x1p-149F);
  EXPECT_EQ(apply(table.sigmoid, kInfinity), 1.0F);
  EXPECT_EQ(apply(table.sigmoid, -kInfinity), 0.0F);
  EXPECT_EQ(apply(table.sigmoid, 0.0F), 0.5F);
  EXPECT_EQ(apply(table.erf, 4.0F), 1.0F);
  EXPECT_EQ(apply(table.erf, -kInfinity), -1.0F);
  EXPECT_EQ(apply(table.expm1, -kInfinity), -1.0F);
  EXPECT_EQ(apply(table.log, 1.0F), 0.0F);
  EXPECT_EQ(apply(table.log, 0.0F), -kInfinity);
  EXPECT_EQ(apply(table.log, -0.0F), -kInfinity);
  EXPECT_EQ(apply(table.log, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(apply(table.log, -1.0F)));
  for (const MeasuredFunction& function : kMeasuredFunctions)
    EXPECT_TRUE(std::isnan(apply(table.*function.kernel, kNan))) << function.name;
}

TEST(Power, ErrorIsWithinTheStatedBound) {
  constexpr std::uint64_t kSeed = 5;
  RandomFloats random(kSeed);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = std::exp2(random.next(130.0F));
    const float y = i % 2 == 0 ? random.next(3.0F) : random.next(0.5F);
    const double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
    const double error = ulp_error(power(x, y), exact);
    ASSERT_LE(error, 0.51) << x << " to the power " << y << ", seed " << kSeed;
    worst = std::max(worst, error);
  }
  EXPECT_GT(worst, 0.4);
}

TEST(Power, SpecialCasesAreThoseOfTheStandard) {
  const std::vector<float> values = {0.0F,       -0.0F, 1.0F,  -1.0F, 2.0F,    -2.0F,
                                     0.5F,       -0.5F, 3.0F,  -3.0F, 2.5F,    kInfinity,
                                     -kInfinity, kNan,  1e30F, -7.0F, 0x1p25F, 1e-40F};
  for (const float x : values)
    for (const float y : values)
      EXPECT_TRUE(same_bits(power(x, y), std::pow(x, y))) << x << " to the power " << y;
}

}  // namespace
}  // namespace tocsin
