#include "sinks/ledger_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "sinks/sample_ledger.h"
#include "sinks/sink.h"

namespace tocsin {
namespace {

FoundDecision sample_found() {
  FoundDecision found;
  std::mt19937_64 random(1);
  found.run = sample_run();
  found.decision = {1, "BTCUSDT", random_decision(random, 70)};
  found.segment = 1;
  found.record = 9;
  found.byte = 4711;
  found.report.records = 12;
  DecisionRecord& decision = found.decision.decision;
  decision.id.value = 0x1a2b3c4d5e6f7081U;
  decision.verdict = Verdict::kAlert;
  decision.sampled = false;
  decision.score = 0.95F;
  decision.suppressed_count = 4;
  decision.frame.quality = {};
  decision.frame.mid_price_nanos_x2 = 123'600'500'000'000;
  decision.frame.exchange_time_ns = 1'723'075'200'123'456'789;
  decision.frame.values = {2.5F, -3.0F, 1.0F};  // 0.25, -12 and 0 deviations
  for (std::size_t i = 0; i < kStageCount; ++i)
    decision.durations.ns[i] = 100 * static_cast<std::int64_t>(i + 1);
  return found;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

TEST(LedgerText, SaysWhyAnAlertWasGiven) {
  const std::string text = explain_decision(sample_found());
  expect_contains(
      text,
      "tocsin:1a2b3c4d5e6f7081: alert\n  because the score 0.95 is at or above the threshold 0.9");
  expect_contains(text, "0.95 (bits 0x3f733333)");
  expect_contains(text, "4 qualifying events");
}

TEST(LedgerText, NamesInputModelAndPlace) {
  const std::string text = explain_decision(sample_found());
  for (const char* part :
       {"BTCUSDT (instrument 0)", "2024-08-08T00:00:00.123456789Z (1723075200123456789 ns)",
        "sample.csv (12345 bytes)", "record 70, partition 0", "61800.25", "nothing noticed",
        "lstm/1", "1111111111111111111111111111111111111111111111111111111111111111",
        "60 frames, the oldest from record 10", "reference 0.1.0 on avx2", "exact", "commit abc",
        "record 9, segment 1, byte 4711", "the ledger verifies: 12 records"})
    expect_contains(text, part);
}

TEST(LedgerText, PutsTheFeaturesFurthestFromTheMeanFirst) {
  const std::string text = explain_decision(sample_found());
  const std::size_t ofi = text.find("ofi");
  const std::size_t spread = text.find("spread");
  const std::size_t age = text.find("age ");
  EXPECT_LT(ofi, spread);
  EXPECT_LT(spread, age);
  expect_contains(text, "-12.00 deviations  bits 0xc0400000");
}

TEST(LedgerText, TheStagesSumToTheWhole) {
  const std::string text = explain_decision(sample_found());
  expect_contains(text, "the sinks: 2.800 us");
  expect_contains(text, "  decode                100 ns    3.6 %");
  expect_contains(text, "  handoff               700 ns   25.0 %");
  expect_contains(text, "  sum                  2800 ns");
}

TEST(LedgerText, GivesTheReasonOfEveryVerdict) {
  FoundDecision found = sample_found();
  DecisionRecord& decision = found.decision.decision;
  decision.verdict = Verdict::kHeld;
  expect_contains(explain_decision(found), "an alert stands");
  decision.verdict = Verdict::kSuppressedCooldown;
  expect_contains(explain_decision(found), "within the cooldown");
  decision.verdict = Verdict::kSuppressedUntrusted;
  decision.frame.quality = Quality::kBookUntrusted;
  expect_contains(explain_decision(found), "may not be trusted: book_untrusted");
  decision.verdict = Verdict::kQuiet;
  decision.score = 0.2F;
  expect_contains(explain_decision(found), "the score 0.2 is too low");
  decision.score = std::numeric_limits<float>::quiet_NaN();
  expect_contains(explain_decision(found), "is not a number to judge");
}

TEST(LedgerText, SaysAloudIfTheLedgerDoesNotVerify) {
  FoundDecision found = sample_found();
  found.report.fault = LedgerFault{1, 11, 999, LedgerFaultKind::kChanged, "its hash does not fit"};
  expect_contains(explain_decision(found),
                  "DOES NOT VERIFY: segment 1, record 11, byte 999: changed");
}

TEST(LedgerText, DescribesADifference) {
  const LedgerDecision recorded = sample_found().decision;
  LedgerDecision derived = recorded;
  derived.decision.durations.ns[0] += 5;  // times do not count
  EXPECT_EQ(describe_difference(recorded, derived), "nothing");
  derived.decision.verdict = Verdict::kQuiet;
  derived.decision.frame.values[1] = 7.0F;
  EXPECT_EQ(describe_difference(recorded, derived),
            "verdict alert in the ledger, quiet now; feature 1 -3 (bits 0xc0400000) in the ledger, "
            "7 (bits 0x40e00000) now");
}

TEST(FindDecision, FindsByFullAndShortIdInTheLastRun) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  auto decisions = random_decisions(5, 12);
  for (std::size_t i = 0; i < decisions.size(); ++i)
    decisions[i].id.value = (std::uint64_t{0xabc0} + i) << 48 | 0x1234;
  decisions[3].id.value = decisions[4].id.value + 1;
  ASSERT_TRUE(write_ledger(path, decisions, 1500).ok());
  ASSERT_TRUE(write_ledger(path, decisions, 1500).ok());  // once more: a second run
  FolderLedgerStore store(path);
  const auto full = find_decision(store, format_alert_id(decisions[7].id));
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->decision.decision.frame.position.record, 8U);
  EXPECT_EQ(full->record, 14U + 1 + 8);
  EXPECT_EQ(full->decision.run_record, 15U);
  EXPECT_EQ(full->run.model_name, "lstm");
  EXPECT_TRUE(full->report.ok());
  const auto by_short = find_decision(store, "abc7");
  ASSERT_TRUE(by_short.ok());
  EXPECT_EQ(by_short->record, full->record);
  EXPECT_EQ(find_decision(store, "abc4").error().code(), ErrorCode::kInvalidArgument);  // two
  EXPECT_EQ(find_decision(store, "ffff").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(find_decision(store, "what").error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tocsin
