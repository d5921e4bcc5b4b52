#include "ingest/china_fields.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

std::int64_t rounded(std::string_view text) {
  std::int64_t nanos = -1;
  return parse_rounded_nanos(text, nanos) ? nanos : -1;
}

TEST(ChinaFields, PricesThatWentThroughAFloatAreRoundedToTheirTick) {
  EXPECT_EQ(rounded("1801.00999999999999"), 1'801'010'000'000);
  EXPECT_EQ(rounded("1854.980000000000018"), 1'854'980'000'000);
  EXPECT_EQ(rounded("0.9999999995"), 1'000'000'000);
  EXPECT_EQ(rounded("0.9999999994"), 999'999'999);
  EXPECT_EQ(rounded("1745"), 1'745'000'000'000);
  EXPECT_EQ(rounded("0"), 0);
}

TEST(ChinaFields, WhatIsNoPriceOrDoesNotFitIsRefused) {
  for (const char* text : {"", "-1", "1.2.3", "1e9", "1.0000000001x", "9223372037", ".5", "x"}) {
    EXPECT_EQ(rounded(text), -1) << text;
  }
  EXPECT_EQ(rounded("9223372036.8547758079"), -1);
}

TEST(ChinaFields, TimesOfADay) {
  std::int64_t time_ns = -1;
  EXPECT_TRUE(parse_day_time_ns("09:15:00.020", time_ns));
  EXPECT_EQ(time_ns, 33'300'020'000'000);
  EXPECT_TRUE(parse_day_time_ns("23:59:59", time_ns));
  EXPECT_EQ(time_ns, 86'399'000'000'000);
  for (const char* text : {"", "9:15:00", "24:00:00", "09:60:00", "09:15:60", "09-15-00",
                           "09:15:00.", "09:15:00.1234567890", "09:15:00.02x", "09:15:00 020"}) {
    EXPECT_FALSE(parse_day_time_ns(text, time_ns)) << text;
  }
}

TEST(ChinaFields, DaysInTextAndPaths) {
  constexpr std::int64_t kFirstOfFebruary = 1'675'180'800'000'000'000;  // 2023-01-31 16:00 UTC
  EXPECT_EQ(shanghai_midnight_of("20230201"), kFirstOfFebruary);
  EXPECT_EQ(shanghai_midnight_of("2023.02.01"), kFirstOfFebruary);
  EXPECT_EQ(shanghai_midnight_of("2023-02-01"), kFirstOfFebruary);
  EXPECT_EQ(shanghai_midnight_of("2023-02.01"), std::nullopt);
  EXPECT_EQ(shanghai_midnight_of("20230230"), std::nullopt);
  EXPECT_EQ(shanghai_midnight_in_path("x/600519_20230201_all.zip/1.csv"), kFirstOfFebruary);
  EXPECT_EQ(shanghai_midnight_in_path("x/20239999/20230201/99999999.csv"), kFirstOfFebruary);
  EXPECT_EQ(shanghai_midnight_in_path("x/123456789.csv"), std::nullopt);
}

}  // namespace
}  // namespace tocsin
