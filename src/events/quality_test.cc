#include "events/quality.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

TEST(QualityFlags, NamesWhatIsSet) {
  EXPECT_EQ(quality_names(QualityFlags()), "");
  EXPECT_EQ(quality_names(Quality::kGap | Quality::kCrossedBook), "gap, crossed_book");
  EXPECT_EQ(quality_names(Quality::kNotTrading), "not_trading");
  EXPECT_EQ(quality_names(Quality::kStaleFeed), "stale_feed");
}

TEST(QualityFlags, AddAndRemoveSingleFlags) {
  QualityFlags flags = Quality::kGap | Quality::kDuplicate;
  EXPECT_TRUE(flags.has(Quality::kDuplicate));
  flags.remove(Quality::kDuplicate);
  EXPECT_FALSE(flags.has(Quality::kDuplicate));
  EXPECT_EQ(flags, QualityFlags(Quality::kGap));
}

}  // namespace
}  // namespace tocsin
