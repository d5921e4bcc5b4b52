// The figures of an audit, from scores whose AUC is known by hand and from a real day.
#include "runtime/precision_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_path.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

TEST(RocAuc, IsTheShareOfPairsInOrder) {
  const std::vector<float> scores = {0.1F, 0.4F, 0.35F, 0.8F};
  EXPECT_DOUBLE_EQ(*roc_auc(scores, {false, false, true, true}), 0.75);
  EXPECT_DOUBLE_EQ(*roc_auc(scores, {true, false, true, true}), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(*roc_auc(scores, {false, false, false, true}), 1.0);
}

TEST(RocAuc, CountsTiesHalf) {
  EXPECT_DOUBLE_EQ(*roc_auc(std::vector<float>(4, 0.5F), {true, false, true, false}), 0.5);
  EXPECT_DOUBLE_EQ(*roc_auc(std::vector<float>{0.5F, 0.5F, 0.9F}, {false, true, true}), 0.75);
}

TEST(RocAuc, NeedsBothKinds) {
  EXPECT_FALSE(roc_auc(std::vector<float>{0.5F, 0.6F}, {true, true}).has_value());
  EXPECT_FALSE(roc_auc(std::vector<float>{}, {}).has_value());
}

TEST(PrecisionAudit, OfARealDayFindsEveryPrecisionFitAndTheBandTight) {
  SystemClock clock;
  const auto audit = audit_precisions(
      tocsin_source_path("models/btcusdt_burst_lstm/1"),
      {.config_path = tocsin_source_path("config/btcusdt.yaml"), .samples_path = {}}, clock, {});
  ASSERT_TRUE(audit.ok()) << audit.error().message();
  EXPECT_TRUE(audit->ok());
  ASSERT_EQ(audit->rows.size(), 4U);
  const PrecisionAuditRow& full = audit->rows.front();
  EXPECT_EQ(full.precision, Precision::kFloat32);
  EXPECT_EQ(full.worst_error, 0.0);
  EXPECT_EQ(full.flips(), 0U);
  // What the training framework measured on the same records.
  EXPECT_NEAR(full.auc.value(), 0.750101, 0.002);
  for (const PrecisionAuditRow& row : audit->rows) {
    EXPECT_EQ(row.flips_with_band, 0U) << precision_name(row.precision);
    EXPECT_EQ(row.alert_flips, row.missed + row.false_orders);
    EXPECT_LT(row.rescored, audit->windows / 20);
    EXPECT_LT(std::abs(row.auc_change.value()), kAucFallMax);
    EXPECT_GT(row.latency_ns.count, 0U);
  }
  const PrecisionAuditRow& int8 = audit->rows.back();
  EXPECT_GT(int8.worst_error, audit->rows[2].worst_error);
  EXPECT_LT(int8.weight_bytes, full.weight_bytes / 3);
  EXPECT_GT(int8.flips(), 0U);
}

TEST(PrecisionAudit, RefusesAPrecisionWhoseAucFalls) {
  PrecisionAudit audit;
  audit.rows.resize(1);
  audit.rows[0].auc_change = -0.0049;
  EXPECT_TRUE(audit.ok());
  audit.rows[0].auc_change = -0.0051;
  EXPECT_FALSE(audit.ok());
  EXPECT_THAT(precision_audit_json(audit), HasSubstr("\"ok\": false"));
}

TEST(PrecisionAudit, NeedsEnoughSamplesToCalibrateWith) {
  SystemClock clock;
  const std::string folder = tocsin_source_path("models/btcusdt_burst_lstm/1");
  const auto audit = audit_precisions(
      folder, {.config_path = {}, .samples_path = folder + "/samples.npz"}, clock, {});
  // A package's samples are too few to calibrate with.
  ASSERT_FALSE(audit.ok());
  EXPECT_THAT(audit.error().message(), HasSubstr("at least 1000 sample windows are needed"));
}

}  // namespace
}  // namespace tocsin
