#include "base/decimal.h"

#include <gtest/gtest.h>

#include <random>

namespace tocsin {
namespace {

std::int64_t parsed(std::string_view text) {
  std::int64_t nanos = -1;
  EXPECT_EQ(parse_decimal_nanos(text, nanos), DecimalStatus::kOk) << text;
  return nanos;
}

TEST(Decimal, ParsesExactly) {
  EXPECT_EQ(parsed("61800.20"), 61'800'200'000'000);
  EXPECT_EQ(parsed("0.000000001"), 1);
  EXPECT_EQ(parsed("-1.5"), -1'500'000'000);
  EXPECT_EQ(parsed("9223372036.854775807"), INT64_MAX);
  EXPECT_EQ(parsed("1.0000000000000"), kNanosPerUnit);
}

TEST(Decimal, RefusesWhatItCannotHold) {
  std::int64_t nanos = 7;
  EXPECT_EQ(parse_decimal_nanos("9223372036.854775808", nanos), DecimalStatus::kOverflow);
  EXPECT_EQ(parse_decimal_nanos("99999999999", nanos), DecimalStatus::kOverflow);
  EXPECT_EQ(parse_decimal_nanos("0.0000000001", nanos), DecimalStatus::kTooManyDigits);
  for (const char* text : {"", "-", ".", "1.2.3", "1e5", " 1", "+1", "nan"})
    EXPECT_EQ(parse_decimal_nanos(text, nanos), DecimalStatus::kNotANumber) << text;
  EXPECT_EQ(nanos, 7);
}

TEST(Decimal, FormatIsTheInverseOfParse) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 10'000; ++i) {
    const auto nanos = static_cast<std::int64_t>(random() >> (random() % 64));
    EXPECT_EQ(parsed(format_decimal_nanos(nanos)), nanos);
    EXPECT_EQ(parsed(format_decimal_nanos(-nanos)), -nanos);
  }
}

}  // namespace
}  // namespace tocsin
