// The library's own functions against libm, which they must come close to but not depend on.
#include "features/portable_math.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tocsin
