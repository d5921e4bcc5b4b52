#include "kernels/half_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/random_floats.h"

namespace tocsin {
namespace {

// The plain statement: of the two neighbours among 16-bit values the nearer, of equals the even.
template <float (*From)(std::uint16_t)>
std::uint16_t nearest(float value, std::uint16_t infinity) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double magnitude = std::fabs(static_cast<double>(value));
  std::uint16_t low = 0;
  std::uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (static_cast<double>(From(middle)) <= magnitude ? low : high) = middle;
  }
  // Infinity stands for the next value after the largest finite one.
  const double step = From(low) - static_cast<double>(From(static_cast<std::uint16_t>(low - 1)));
  const double above = high == infinity ? From(low) + step : static_cast<double>(From(high));
  const double to_low = magnitude - static_cast<double>(From(low));
  const double to_high = above - magnitude;
  const bool goes_up = to_low > to_high || (to_low == to_high && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (goes_up ? high : low));
}

TEST(HalfFloat, EveryPatternSurvivesTheWayThere) {
  for (std::uint32_t i = 0; i <= 0xffffU; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (std::isnan(from_float16(bits)))
      EXPECT_TRUE(std::isnan(from_float16(to_float16(from_float16(bits)))));
    else
      ASSERT_EQ(to_float16(from_float16(bits)), bits);
    if (std::isnan(from_bfloat16(bits)))
      EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(from_bfloat16(bits)))));
    else
      ASSERT_EQ(to_bfloat16(from_bfloat16(bits)), bits);
  }
}

TEST(HalfFloat, RoundsToTheNearestAndTiesToEven) {
  RandomFloats random(20260801);
  for (int i = 0; i < 200'000; ++i) {
    auto bits = static_cast<std::uint32_t>(random.next_bits());
    if (i % 2 == 0) bits = (bits & 0x8fffffffU) | 0x30000000U;  // the range of FP16
    if (i % 8 == 1) bits = (bits & 0xffff0000U) | 0x8000U;      // ties of BF16
    if (i % 8 == 2) bits = (bits & 0xffffe000U) | 0x1000U;      // ties of FP16
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(to_bfloat16(value), nearest<from_bfloat16>(value, 0x7f80)) << value;
    const std::uint16_t expected = std::fabs(value) >= 65520.0F
                                       ? static_cast<std::uint16_t>(bits >> 31U << 15U | 0x7c00U)
                                       : nearest<from_float16>(value, 0x7c00);
    ASSERT_EQ(to_float16(value), expected) << value;
  }
}

TEST(HalfFloat, BeyondTheRangeIsInfinity) {
  EXPECT_EQ(from_float16(to_float16(65519.0F)), 65504.0F);
  EXPECT_EQ(from_float16(to_float16(65520.0F)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(from_float16(to_float16(-1e30F)), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(from_bfloat16(to_bfloat16(std::numeric_limits<float>::max())),
            std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace tocsin
