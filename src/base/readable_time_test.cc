// What people read, and in UTC whatever the machine's zone is.
#include "base/readable_time.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

TEST(ReadableTime, IsADateAndATimeOrATimeOfDay) {
  EXPECT_EQ(readable_time(1'723'161'256'299'000'000), "2024-08-08 23:54:16.299");
  EXPECT_EQ(readable_time(34'200'004'000'000), "09:30:00.004");
  EXPECT_EQ(readable_time(0), "00:00:00.000");
  EXPECT_EQ(readable_time(-1), "1969-12-31 23:59:59.999");
}

}  // namespace
}  // namespace tocsin
