// The catalogue, its documentation and the schemas made from it.
#include "features/feature_catalogue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "features/feature_engine.h"
#include "features/feature_values.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

TEST(FeatureCatalogue, DescribesEachFeatureOnce) {
  ASSERT_EQ(feature_catalogue().size(), kFeatureCount);
  std::set<std::string_view> names;
  for (const FeatureDescription& feature : feature_catalogue()) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_FALSE(feature.formula.empty()) << feature.name;
    EXPECT_FALSE(feature.unit.empty()) << feature.name;
    EXPECT_FALSE(feature.source.empty()) << feature.name;
    EXPECT_GE(feature.version, 1) << feature.name;
    for (const std::string_view text : {feature.formula, feature.unit, feature.source}) {
      EXPECT_EQ(text.find('|'), std::string_view::npos) << "breaks the table: " << text;
    }
  }
}

// The enum and the table are two lists: these names pin their places against each other.
TEST(FeatureCatalogue, StandsInTheOrderOfItsEnumerators) {
  const auto name_of = [](Feature feature) {
    return feature_catalogue()[static_cast<std::size_t>(feature)].name;
  };
  EXPECT_EQ(name_of(Feature::kMid), "mid");
  EXPECT_EQ(name_of(Feature::kTopDepthRatio500), "top_depth_ratio_500");
  EXPECT_EQ(name_of(Feature::kOrderFlow1), "order_flow_1");
  EXPECT_EQ(name_of(Feature::kQueueTradeShare100), "queue_trade_share_100");
  EXPECT_EQ(name_of(Feature::kMidMove1), "mid_move_1");
  EXPECT_EQ(name_of(Feature::kVolatilityBurst1s), "volatility_burst_1s");
  EXPECT_EQ(name_of(Feature::kTradeSign), "trade_sign");
  EXPECT_EQ(name_of(Feature::kVolumeAnomaly), "volume_anomaly");
  EXPECT_EQ(name_of(Feature::kUpdateRateBurst), "update_rate_burst");
  EXPECT_EQ(name_of(Feature::kTimeSinceTrade), "time_since_trade");
  EXPECT_EQ(name_of(Feature::kTimeOfDayCosine), "time_of_day_cos");
  EXPECT_EQ(name_of(Feature::kOrderFlowLevel2), "order_flow_level_2_100");
  EXPECT_EQ(name_of(Feature::kDepthSlope10), "depth_slope_10");
  EXPECT_EQ(name_of(Feature::kVpin50), "vpin_50");
  EXPECT_EQ(name_of(Feature::kPriceImpact100), "price_impact_100");
  EXPECT_EQ(name_of(Feature::kIntensityImbalance), "intensity_imbalance");
  EXPECT_EQ(name_of(Feature::kKyleLambda60s), "kyle_lambda_60s");
  EXPECT_EQ(name_of(Feature::kJumpStatistic60s), "jump_statistic_60s");
  EXPECT_EQ(name_of(Feature::kLeadLagBalance60s), "lead_lag_balance_60s");
}

TEST(FeatureCatalogue, IsWhatTheDocumentationSays) {
  const std::string path = tocsin_source_path("docs/features.md");
  if (std::getenv("TOCSIN_WRITE_DOCS") != nullptr) {
    std::ofstream(path) << feature_catalogue_markdown();
  }
  std::ifstream file(path);
  const std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(written, feature_catalogue_markdown())
      << "docs/features.md is not what the catalogue says; to write it anew:\n"
         "  TOCSIN_WRITE_DOCS=1 build/dev/src/features/features_test "
         "--gtest_filter=FeatureCatalogue.*";
}

TEST(FeatureSchema, KeepsTheOrderOfItsNames) {
  const std::vector<std::string> names = {"spread", "mid", "time_of_day_cos"};
  const auto schema = FeatureSchema::from_names(names);
  ASSERT_TRUE(schema.ok());
  ASSERT_EQ(schema->size(), 3U);
  EXPECT_EQ(schema->name(0), "spread");
  EXPECT_EQ(schema->name(1), "mid");
  EXPECT_EQ(schema->indices()[2], kStandardFeatureCount - 1);
}

TEST(FeatureSchema, HashCoversNamesTheirVersionsAndTheirOrder) {
  const std::vector<std::string> names = {"mid", "spread"};
  const std::vector<std::string> turned = {"spread", "mid"};
  const auto schema = FeatureSchema::from_names(names);
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->hash(),
            digest_of(DigestKind::kBlake2s256, "tocsin-features\nmid 1\nspread 1\n"));
  EXPECT_NE(schema->hash(), FeatureSchema::from_names(turned)->hash());
  std::vector<std::string> all;
  for (const FeatureDescription& feature : feature_catalogue()) all.emplace_back(feature.name);
  EXPECT_EQ(FeatureSchema::from_names(all)->hash(), FeatureSchema::whole_catalogue().hash());
}

TEST(FeatureSchema, RefusesUnknownNamesAndNamesTheNearest) {
  const std::vector<std::string> names = {"mid", "depth_imbalence_5"};
  const auto schema = FeatureSchema::from_names(names);
  ASSERT_FALSE(schema.ok());
  EXPECT_EQ(schema.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(schema.error().message().find("'depth_imbalence_5'"), std::string::npos);
  EXPECT_NE(schema.error().message().find("'depth_imbalance_5'"), std::string::npos);
}

TEST(FeatureSchema, RefusesNothingAndTheSameTwice) {
  EXPECT_FALSE(FeatureSchema::from_names({}).ok());
  const std::vector<std::string> twice = {"mid", "spread", "mid"};
  const auto schema = FeatureSchema::from_names(twice);
  ASSERT_FALSE(schema.ok());
  EXPECT_NE(schema.error().message().find("'mid' is named twice"), std::string::npos);
}

}  // namespace
}  // namespace tocsin
