#include "sinks/alert_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace tocsin {
namespace {

TEST(AlertText, TimesAreUtcWithAllTheirDigits) {
  EXPECT_EQ(format_time(1'723'075'200'123'456'789), "2024-08-08T00:00:00.123456789Z");
  EXPECT_EQ(format_time(951'782'399'999'999'999), "2000-02-28T23:59:59.999999999Z");
  EXPECT_EQ(format_time(86'400'000'000'000), "1970-01-02T00:00:00.000000000Z");
}

TEST(AlertText, TimesWithoutADateAreTimesOfDay) {
  EXPECT_EQ(format_time(34'200'004'241'176), "09:30:00.004241176");
  EXPECT_EQ(format_time(0), "00:00:00.000000000");
  EXPECT_EQ(format_time(-5), "-5 ns");
}

TEST(AlertText, MidPricesAreExact) {
  EXPECT_EQ(format_mid_price(123'600'500'000'000), "61800.25");
  EXPECT_EQ(format_mid_price(2), "0.000000001");
  EXPECT_EQ(format_mid_price(0), "unknown");
}

TEST(AlertText, FloatsReadBackEqual) {
  EXPECT_EQ(format_float(0.95F), "0.95");
  EXPECT_EQ(shortest_double(0.95F), 0.95);
  EXPECT_TRUE(std::isnan(shortest_double(std::numeric_limits<float>::quiet_NaN())));
  std::mt19937 random(1);
  SCOPED_TRACE("seed 1");
  for (int i = 0; i < 10'000; ++i) {
    const float value = static_cast<float>(random()) / 4294967296.0F;
    EXPECT_EQ(std::strtof(format_float(value).c_str(), nullptr), value);
    EXPECT_EQ(static_cast<float>(shortest_double(value)), value);
  }
}

TEST(AlertText, DurationsAreInTheUnitThatFits) {
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(1234), "1.234 us");
  EXPECT_EQ(format_duration(1'234'567), "1.235 ms");
  EXPECT_EQ(format_duration(2'500'000'000), "2.500 s");
}

}  // namespace
}  // namespace tocsin
