// Exact values and decimals, with and without exponents; times in every notation.
#include "ingest/written_number.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

TEST(WrittenNumber, TellsValueAndDecimals) {
  struct Case {
    std::string_view text;
    std::int64_t nanos;
    int decimals;
  };
  for (const Case& c :
       {Case{"45285.2", 45'285'200'000'000, 1}, Case{"0.00100000", 1'000'000, 8},
        Case{"7", 7'000'000'000, 0}, Case{"-1.50", -1'500'000'000, 2}, Case{"1e-8", 10, 8},
        Case{"1.25E-7", 125, 9}, Case{"1.25e3", 1'250'000'000'000, 0},
        Case{"12.5e-1", 1'250'000'000, 2}, Case{"1.2345e+2", 123'450'000'000, 2},
        Case{"0.0000277200", 27'720, 10}, Case{"5e0", 5'000'000'000, 0},
        Case{"-2.5e-3", -2'500'000, 4}, Case{"123e-3", 123'000'000, 3}}) {
    WrittenNumber number;
    ASSERT_EQ(parse_written_number(c.text, number), DecimalStatus::kOk) << c.text;
    EXPECT_EQ(number.nanos, c.nanos) << c.text;
    EXPECT_EQ(number.decimals, c.decimals) << c.text;
  }
}

TEST(WrittenNumber, RefusesWhatIsNoneOrCannotBeHeld) {
  WrittenNumber number{.nanos = 42};
  for (const std::string_view text :
       {"", "e5", "1e", "1e+", "1e-x", "abc", "1.2.3e1", "1-2e1", "+1"})
    EXPECT_EQ(parse_written_number(text, number), DecimalStatus::kNotANumber) << text;
  for (const std::string_view text : {"1e10", "1e99999999999", "9300000000"})
    EXPECT_EQ(parse_written_number(text, number), DecimalStatus::kOverflow) << text;
  for (const std::string_view text : {"1e-10", "1e-400", "0.0000000001"})
    EXPECT_EQ(parse_written_number(text, number), DecimalStatus::kTooManyDigits) << text;
  EXPECT_EQ(number.nanos, 42);
}

TEST(WrittenNumber, ReadsTimesInUnits) {
  std::int64_t time_ns = 0;
  EXPECT_TRUE(parse_time_ns("1618678133.365913", kNanosPerUnit, time_ns));
  EXPECT_EQ(time_ns, 1'618'678'133'365'913'000);
  EXPECT_TRUE(parse_time_ns("1723161256090", 1'000'000, time_ns));
  EXPECT_EQ(time_ns, 1'723'161'256'090'000'000);
  EXPECT_TRUE(parse_time_ns("1643643584000123.4", 1'000, time_ns));
  EXPECT_EQ(time_ns, 1'643'643'584'000'123'400);
  EXPECT_TRUE(parse_time_ns("17.9", 1, time_ns));
  EXPECT_EQ(time_ns, 17);
  for (const std::string_view text :
       {"", ".5", "-1", "1x", "1.x", "99999999999999999999", "9999999999999"})
    EXPECT_FALSE(parse_time_ns(text, kNanosPerUnit, time_ns)) << text;
}

TEST(WrittenNumber, ReadsIsoTimes) {
  std::int64_t time_ns = 0;
  constexpr std::int64_t kTime = 1'696'613'755'440'295'000;
  for (const std::string_view text :
       {"2023-10-06T17:35:55.440295Z", "2023-10-06 17:35:55.440295",
        "2023-10-07T01:35:55.440295+08:00", "2023-10-06T13:05:55.440295-0430"}) {
    ASSERT_TRUE(parse_iso_time_ns(text, time_ns)) << text;
    EXPECT_EQ(time_ns, kTime) << text;
  }
  EXPECT_TRUE(parse_iso_time_ns("2024-02-29T00:00:00Z", time_ns));
  EXPECT_EQ(time_ns, 1'709'164'800'000'000'000);
  for (const std::string_view text :
       {"", "2023-10-06", "2023-13-06T00:00:00Z", "2023-10-06T24:00:00Z", "2023-10-06T17:35:55.4X",
        "2023-10-06T17:35:55+8", "1969-01-01T00:00:00Z"})
    EXPECT_FALSE(parse_iso_time_ns(text, time_ns)) << text;
}

}  // namespace
}  // namespace tocsin
