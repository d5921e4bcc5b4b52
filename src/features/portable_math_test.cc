// The library's own functions against libm, which they must come close to but not depend on.
#include "features/portable_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tocsin {
namespace {

TEST(PortableMath, PiecewiseLog2IsExactAtPowersOfTwoAndLinearBetween) {
  for (int exponent = 0; exponent < 64; ++exponent) {
    EXPECT_EQ(piecewise_log2(std::uint64_t{1} << exponent), exponent);
  }
  EXPECT_EQ(piecewise_log2(3), 1.5);
  EXPECT_EQ(piecewise_log2(1280), 10.25);
  double last = -1.0;
  for (std::uint64_t value = 1; value < 100'000; ++value) {
    const double now = piecewise_log2(value);
    ASSERT_GT(now, last);
    ASSERT_NEAR(now, std::log2(static_cast<double>(value)), 0.0861);
    last = now;
  }
}

TEST(PortableMath, DayAngleIsThatOfLibmToTenDigits) {
  constexpr std::int64_t kDayNs = 86'400'000'000'000;
  for (std::int64_t time_ns = 0; time_ns < kDayNs; time_ns += 7'654'321'987) {
    const double angle = 2.0 * 3.14159265358979323846 * static_cast<double>(time_ns) / 86'400e9;
    const SineCosine own = day_angle(time_ns);
    ASSERT_NEAR(own.sine, std::sin(angle), 1e-11) << time_ns;
    ASSERT_NEAR(own.cosine, std::cos(angle), 1e-11) << time_ns;
  }
  EXPECT_EQ(day_angle(0).sine, 0.0);
  EXPECT_EQ(day_angle(kDayNs / 2).sine, 0.0);
}

// The bits themselves: another compiler or machine that forms others fails here.
TEST(PortableMath, DayAngleHasTheseBits) {
  EXPECT_EQ(day_angle(34'200'000'000'000).sine, 0x1.37af93f9513e9p-1);
  EXPECT_EQ(day_angle(34'200'000'000'000).cosine, -0x1.963268b57248cp-1);
  EXPECT_EQ(day_angle(86'399'999'999'999).sine, -0x1.4782d15b75c14p-44);
}

TEST(PortableMath, WideIntegersRoundToTheNearestDouble) {
  EXPECT_EQ(to_double(WideInteger{INT64_MIN}), -0x1p63);
  EXPECT_EQ(to_double(WideInteger{INT64_MAX} + 1), 0x1p63);
  EXPECT_EQ(to_double((WideInteger{1} << 100) + 1), 0x1p100);
  EXPECT_EQ(difference(INT64_MAX, INT64_MIN), 0x1p64);
  EXPECT_EQ(ratio(1.0, 0.0), 0.0);
}

std::int64_t ulps_between(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

TEST(PortableMath, ExpAndLogAreThoseOfLibmToTwoUnitsInTheLastPlace) {
  for (int i = -69'000; i <= 69'000; i += 7) {
    const double x = i / 100.0 + i * 1e-7;
    ASSERT_LE(ulps_between(portable_exp(x), std::exp(x)), 2) << x;
    const double y = std::exp(x);
    ASSERT_NEAR(portable_log(y), std::log(y), std::max(std::abs(x) * 4e-16, 1e-16)) << y;
  }
  for (int i = 1; i < 200'000; ++i) {
    const double x = i;
    ASSERT_NEAR(portable_log(x), std::log(x), std::log(x) * 4e-16) << x;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_log(1.0), 0.0);
}

// The bits themselves: another compiler or machine that forms others fails here.
TEST(PortableMath, ExpAndLogHaveTheseBits) {
  std::uint64_t exp_bits = 0;
  std::uint64_t log_bits = 0;
  for (int i = -2'000; i <= 2'000; ++i) {
    exp_bits = std::rotl(exp_bits, 7) ^ std::bit_cast<std::uint64_t>(portable_exp(i / 128.0));
    log_bits = std::rotl(log_bits, 7) ^
               std::bit_cast<std::uint64_t>(portable_log(1.0 + (i + 2'000) * 3.7));
  }
  EXPECT_EQ(exp_bits, 9'537'554'230'537'966'658U);
  EXPECT_EQ(log_bits, 6'329'716'518'485'749'785U);
}

TEST(PortableMath, QuotientsAreRoundedDown) {
  EXPECT_EQ(floor_quotient(7, 2), 3);
  EXPECT_EQ(floor_quotient(-7, 2), -4);
  EXPECT_EQ(floor_quotient(-8, 2), -4);
  EXPECT_EQ(floor_remainder(-7, 2), 1);
  EXPECT_EQ(floor_remainder(INT64_MIN, 1'000'000'000), 145'224'192);
}

}  // namespace
}  // namespace tocsin
