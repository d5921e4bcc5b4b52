#include "sinks/jsonl_sink.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sinks/file_size_limit.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

std::vector<Alert> sample_alerts(std::uint64_t count) {
  std::vector<Alert> alerts;
  for (const DecisionRecord& decision : random_decisions(1, count)) {
    Alert alert;
    alert.decision = decision;
    alert.symbol = "BTCUSDT";
    alert.source = "sample.csv";
    alert.rule = "burst";
    alert.model = "lstm/1";
    alert.engine = "reference";
    alerts.push_back(alert);
  }
  return alerts;
}

void take_all(JsonlSink& sink, const std::vector<Alert>& alerts) {
  for (const Alert& alert : alerts) ASSERT_TRUE(sink.take(alert).ok());
}

TEST(JsonlSink, WritesOneObjectALine) {
  TemporaryFolder folder;
  const std::string path = folder.path("out/alerts.jsonl");
  const auto alerts = sample_alerts(3);
  {
    auto sink = JsonlSink::open(path);
    ASSERT_TRUE(sink.ok());
    take_all(*sink, alerts);
    EXPECT_TRUE(sink->flush().ok());
  }
  std::string expected;
  for (const Alert& alert : alerts) expected += format_alert_json(alert);
  EXPECT_EQ(read_text(path), expected);
}

TEST(JsonlSink, TheLineHoldsTheDecision) {
  Alert alert = sample_alerts(1)[0];
  alert.decision.id.value = 0x1a2b3c4d5e6f7081U;
  alert.decision.score = 0.95F;
  alert.decision.frame.exchange_time_ns = 1'723'075'200'123'456'789;
  alert.decision.frame.quality = Quality::kGap | Quality::kNotTrading;
  alert.decision.frame.mid_price_nanos_x2 = 123'600'500'000'000;
  alert.decision.suppressed_count = 7;
  const std::string line = format_alert_json(alert);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto object = nlohmann::json::parse(line);
  EXPECT_EQ(object["id"], "tocsin:1a2b3c4d5e6f7081");
  EXPECT_EQ(object["time"], "2024-08-08T00:00:00.123456789Z");
  EXPECT_EQ(object["exchange_time_ns"], 1'723'075'200'123'456'789);
  EXPECT_EQ(object["score"], 0.95);
  EXPECT_EQ(object["score_bits"], 0x3f733333U);
  EXPECT_EQ(object["mid_price"], "61800.25");
  EXPECT_EQ(object["held_back"], 7);
  EXPECT_EQ(object["quality"], nlohmann::json({"gap", "not_trading"}));
  EXPECT_EQ(object["symbol"], "BTCUSDT");
  EXPECT_EQ(object["record"], 1);
}

TEST(JsonlSink, ASymbolOfAnyBytesGivesValidJson) {
  Alert alert = sample_alerts(1)[0];
  alert.symbol = "\xff\"\n\\";
  const auto object = nlohmann::json::parse(format_alert_json(alert), nullptr, false);
  EXPECT_FALSE(object.is_discarded());
}

TEST(JsonlSink, TakesAnAlertOnceAlsoAfterReopening) {
  TemporaryFolder folder;
  const std::string path = folder.path("alerts.jsonl");
  const auto alerts = sample_alerts(4);
  {
    auto sink = JsonlSink::open(path);
    EXPECT_TRUE(*sink->take(alerts[0]));
    EXPECT_FALSE(*sink->take(alerts[0]));
    EXPECT_TRUE(*sink->take(alerts[1]));
  }
  auto sink = JsonlSink::open(path);
  ASSERT_TRUE(sink.ok());
  EXPECT_EQ(sink->found_line_count(), 2U);
  EXPECT_EQ(sink->torn_bytes(), 0U);
  EXPECT_FALSE(*sink->take(alerts[0]));
  EXPECT_FALSE(*sink->take(alerts[1]));
  EXPECT_TRUE(*sink->take(alerts[2]));
}

TEST(JsonlSink, CutAtEveryByteTheFileBecomesTheSameAgain) {
  const auto alerts = sample_alerts(3);
  std::string full;
  for (const Alert& alert : alerts) full += format_alert_json(alert);
  TemporaryFolder folder;
  const std::string path = folder.path("alerts.jsonl");
  for (std::size_t size = 0; size <= full.size(); ++size) {
    write_text(path, full.substr(0, size));
    auto sink = JsonlSink::open(path);
    ASSERT_TRUE(sink.ok()) << size;
    const std::size_t line_end = full.substr(0, size).rfind('\n');
    EXPECT_EQ(sink->torn_bytes(), size - (line_end == std::string::npos ? 0 : line_end + 1))
        << size;
    take_all(*sink, alerts);
    ASSERT_EQ(read_text(path), full) << size;
  }
}

TEST(JsonlSink, AForeignLineIsRefusedAndTheFileLeftAlone) {
  TemporaryFolder folder;
  const std::string path = folder.path("alerts.jsonl");
  const std::string good = format_alert_json(sample_alerts(1)[0]);
  for (const std::string bad :
       {"not json\n", "{}\n", "[1]\n", "{\"id\":5}\n", "{\"id\":\"tocsin:12\"}\n", "\n",
        "{\"id\":\"tocsin:1a2b3c4d\"}\n"}) {
    const std::string content = good + bad + good.substr(0, 10);
    write_text(path, content);
    const auto sink = JsonlSink::open(path);
    ASSERT_FALSE(sink.ok()) << bad;
    EXPECT_EQ(sink.error().code(), ErrorCode::kDataLoss);
    EXPECT_NE(sink.error().message().find("alerts.jsonl:2:"), std::string::npos);
    EXPECT_EQ(read_text(path), content);
  }
}

TEST(JsonlSink, AFullDiskLeavesWholeLinesAndTakesTheAlertLater) {
  TemporaryFolder folder;
  const std::string path = folder.path("alerts.jsonl");
  const auto alerts = sample_alerts(5);
  auto sink = JsonlSink::open(path);
  ASSERT_TRUE(sink.ok());
  std::size_t taken_count = 0;
  {
    const FileSizeLimit full(1500);
    while (taken_count < alerts.size()) {
      const auto taken = sink->take(alerts[taken_count]);
      if (!taken.ok()) {
        EXPECT_EQ(taken.error().code(), ErrorCode::kResourceExhausted);
        EXPECT_NE(taken.error().message().find(path), std::string::npos);
        break;
      }
      ++taken_count;
    }
  }
  ASSERT_GT(taken_count, 0U);
  ASSERT_LT(taken_count, alerts.size());
  EXPECT_EQ(read_text(path).back(), '\n');
  take_all(*sink, alerts);
  std::string expected;
  for (const Alert& alert : alerts) expected += format_alert_json(alert);
  EXPECT_EQ(read_text(path), expected);
}

TEST(JsonlSink, WritesToADeviceAndReportsItFull) {
  auto sink = JsonlSink::open("/dev/full");
  ASSERT_TRUE(sink.ok());
  const auto taken = sink->take(sample_alerts(1)[0]);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code(), ErrorCode::kResourceExhausted);
  auto null = JsonlSink::open("/dev/null");
  ASSERT_TRUE(null.ok());
  EXPECT_TRUE(*null->take(sample_alerts(1)[0]));
  EXPECT_TRUE(null->flush().ok());
}

TEST(JsonlSink, AnUnwritablePathIsAnErrorWithThePath) {
  TemporaryFolder folder;
  write_text(folder.path("file"), "x");
  const auto sink = JsonlSink::open(folder.path("file/alerts.jsonl"));
  ASSERT_FALSE(sink.ok());
  EXPECT_NE(sink.error().message().find(folder.path("file")), std::string::npos);
  const auto directory = JsonlSink::open(folder.path("."));
  EXPECT_FALSE(directory.ok());
}

TEST(JsonlSink, OneProcessWritesAtATime) {
  TemporaryFolder folder;
  auto first = JsonlSink::open(folder.path("alerts.jsonl"));
  ASSERT_TRUE(first.ok());
  const auto second = JsonlSink::open(folder.path("alerts.jsonl"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tocsin
