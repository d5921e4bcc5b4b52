#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "config/yaml_reader.h"

namespace tocsin {
namespace {

constexpr std::array<std::string_view, 6> kKnown = {
    "threshold", "release_threshold", "path", "cooldown_ns", "id", "batch"};

TEST(NearestName, FindsADroppedAnAddedAndAChangedLetter) {
  EXPECT_EQ(nearest_name("treshold", kKnown), "threshold");
  EXPECT_EQ(nearest_name("threshhold", kKnown), "threshold");
  EXPECT_EQ(nearest_name("batsh", kKnown), "batch");
}

TEST(NearestName, CountsSwappedNeighboursAsOneEdit) {
  EXPECT_EQ(nearest_name("htreshold", kKnown), "threshold");
  EXPECT_EQ(nearest_name("ptah", kKnown), "path");
  EXPECT_EQ(nearest_name("di", kKnown), "id");
}

TEST(NearestName, PrefersTheFirstOfEquallyNearNames) {
  constexpr std::array<std::string_view, 2> kTwins = {"bids", "aids"};
  EXPECT_EQ(nearest_name("cids", kTwins), "bids");
}

TEST(NearestName, PrefersTheNearerOfTwoNearNames) {
  constexpr std::array<std::string_view, 2> kNames = {"volumes", "volume"};
  EXPECT_EQ(nearest_name("volum", kNames), "volume");
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_TRUE(nearest_name("telemetry", kKnown).empty());
  EXPECT_TRUE(nearest_name("", kKnown).empty());
  EXPECT_TRUE(nearest_name("x", kKnown).empty());
  EXPECT_TRUE(nearest_name("threshold", {}).empty());
}

TEST(NearestName, RefusesHugeWordsWithoutComparingThem) {
  EXPECT_TRUE(nearest_name(std::string(1U << 20U, 'x'), kKnown).empty());
}

}  // namespace
}  // namespace tocsin
