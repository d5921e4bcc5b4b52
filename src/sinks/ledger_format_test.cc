#include "sinks/ledger_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sinks/ledger_chain.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

using Bytes = std::vector<std::byte>;

Bytes encoded(const LedgerDecision& decision) {
  Bytes payload;
  encode_decision(decision, payload);
  return payload;
}

Bytes encoded(const LedgerRunStart& run) {
  Bytes payload;
  EXPECT_TRUE(encode_run_start(run, payload).ok());
  return payload;
}

TEST(LedgerFormat, ARunStartReadsBackEqual) {
  const LedgerRunStart run = sample_run();
  const auto read = decode_run_start(encoded(run));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(same_run(run, *read));
  EXPECT_EQ(read->unix_time_ns, run.unix_time_ns);
  EXPECT_EQ(read->source_path, run.source_path);
  EXPECT_EQ(read->isa, run.isa);
  EXPECT_EQ(encoded(*read), encoded(run));
}

TEST(LedgerFormat, DecisionsReadBackBitForBit) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE("seed 3");
  std::mt19937_64 random(seed);
  for (std::uint64_t record = 1; record <= 300; ++record) {
    LedgerDecision written{record, "AAPL", random_decision(random, record)};
    DecisionRecord& decision = written.decision;
    decision.frame.feature_count = static_cast<std::uint16_t>(random() % (kMaxFrameFeatures + 1));
    for (std::size_t i = 0; i < decision.frame.feature_count; ++i)
      decision.frame.values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    decision.score = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    decision.rule_index = static_cast<std::uint16_t>(random());
    decision.frame.instrument = static_cast<InstrumentId>(random());
    decision.frame.position.partition = static_cast<std::uint32_t>(random());
    const auto read = decode_decision(encoded(written));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(encoded(*read), encoded(written));
    EXPECT_EQ(read->symbol, "AAPL");
    EXPECT_EQ(read->run_record, record);
    EXPECT_EQ(std::memcmp(read->decision.frame.values.data(), decision.frame.values.data(),
                          sizeof(float) * decision.frame.feature_count),
              0);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(read->decision.score),
              std::bit_cast<std::uint32_t>(decision.score));
    EXPECT_EQ(read->decision.durations.ns, decision.durations.ns);
  }
}

TEST(LedgerFormat, ADecisionTakesTheRoomOfItsFeaturesOnly) {
  LedgerDecision decision{1, "BTCUSDT", {}};
  const std::size_t empty_bytes = encoded(decision).size();
  decision.decision.frame.feature_count = 20;
  EXPECT_EQ(encoded(decision).size(), empty_bytes + 20 * sizeof(float));
  EXPECT_EQ(empty_bytes, 111 + 7 + kLedgerTimingBytes);
}

TEST(LedgerFormat, TheScoreStandsWhereItIsSaidTo) {
  LedgerDecision decision{1, "BTCUSDT", {}};
  decision.decision.score = 0.75F;  // 0x3f400000
  const Bytes payload = encoded(decision);
  EXPECT_EQ(payload[kLedgerScoreOffset + 2], std::byte{0x40});
  EXPECT_EQ(payload[kLedgerScoreOffset + 3], std::byte{0x3f});
}

TEST(LedgerFormat, RunEndAndResumeReadBackEqual) {
  LedgerRunEnd end = sample_run_end();
  end.reason = RunEndReason::kInterrupted;
  end.counters.held_back_remainder = 12;
  Bytes payload;
  encode_run_end(end, payload);
  const auto read_end = decode_run_end(payload);
  ASSERT_TRUE(read_end.ok());
  EXPECT_EQ(read_end->reason, end.reason);
  EXPECT_EQ(read_end->unix_time_ns, end.unix_time_ns);
  EXPECT_EQ(read_end->last_position, end.last_position);
  EXPECT_EQ(read_end->counters, end.counters);

  payload.clear();
  encode_resume({5, 6, 7, 8, "scalar"}, payload);
  const auto read_resume = decode_resume(payload);
  ASSERT_TRUE(read_resume.ok());
  EXPECT_EQ(read_resume->unix_time_ns, 5);
  EXPECT_EQ(read_resume->run_record, 6U);
  EXPECT_EQ(read_resume->durable_decision_count, 7U);
  EXPECT_EQ(read_resume->torn_bytes, 8U);
  EXPECT_EQ(read_resume->isa, "scalar");
}

TEST(LedgerFormat, APayloadOfAnyOtherLengthIsRefused) {
  std::mt19937_64 random(5);
  const Bytes decision = encoded(LedgerDecision{1, "X", random_decision(random, 1)});
  const Bytes run = encoded(sample_run());
  for (std::size_t size = 0; size < decision.size(); ++size)
    EXPECT_FALSE(decode_decision(std::span(decision).first(size)).ok()) << size;
  for (std::size_t size = 0; size < run.size(); ++size)
    EXPECT_FALSE(decode_run_start(std::span(run).first(size)).ok()) << size;
  Bytes longer = decision;
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_decision(longer).error().code(), ErrorCode::kDataLoss);
  longer = run;
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_run_start(longer).error().code(), ErrorCode::kDataLoss);
}

TEST(LedgerFormat, ValuesOutOfRangeAreRefused) {
  std::mt19937_64 random(6);
  const Bytes decision = encoded(LedgerDecision{1, "X", random_decision(random, 1)});
  constexpr std::size_t kVerdictOffset = kLedgerScoreOffset + 18;
  for (std::size_t i = 0; i < 4; ++i) {  // verdict, determinism, sampled, feature count
    Bytes bad = decision;
    bad[kVerdictOffset + i] = std::byte{0xFF};
    EXPECT_FALSE(decode_decision(bad).ok()) << i;
  }
  Bytes end;
  encode_run_end(sample_run_end(), end);
  end[0] = std::byte{3};
  EXPECT_FALSE(decode_run_end(end).ok());
}

TEST(LedgerFormat, ADescriptionTooLargeForARecordIsRefusedWithItsSize) {
  LedgerRunStart run = sample_run();
  run.config.assign(kLedgerPayloadBytesMax, 'x');
  Bytes payload(3);
  const Status status = encode_run_start(run, payload);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(payload.size(), 3U);
}

TEST(LedgerFormat, RunsAreTheSameByWhatDecidesTheirResults) {
  const LedgerRunStart run = sample_run();
  LedgerRunStart other = run;
  other.unix_time_ns += 1;
  other.source_path = "elsewhere/sample.csv";
  other.isa = "scalar";
  EXPECT_TRUE(same_run(run, other));
  for (std::string LedgerRunStart::*part :
       {&LedgerRunStart::config, &LedgerRunStart::tocsin_version, &LedgerRunStart::tocsin_commit,
        &LedgerRunStart::source_name, &LedgerRunStart::model_name, &LedgerRunStart::model_version,
        &LedgerRunStart::engine, &LedgerRunStart::engine_version}) {
    other = run;
    other.*part += "x";
    EXPECT_FALSE(same_run(run, other));
  }
  other = run;
  other.source_size_bytes += 1;
  EXPECT_FALSE(same_run(run, other));
  other = run;
  other.model_sha256[5] ^= 1;
  EXPECT_FALSE(same_run(run, other));
  other = run;
  other.schema_hash[5] ^= 1;
  EXPECT_FALSE(same_run(run, other));
  other = run;
  other.features.pop_back();
  EXPECT_FALSE(same_run(run, other));
  other = run;
  other.rules.push_back("second");
  EXPECT_FALSE(same_run(run, other));
  other = run;
  other.determinism = DeterminismClass::kTolerance;
  EXPECT_FALSE(same_run(run, other));
}

// Pins format version 1: this head was also derived by a reader written in another language from
// docs/adr/ledger-format.md alone. A change of it is a change of format and needs a new version.
TEST(LedgerFormat, VersionOneIsPinnedByTheHeadOfAKnownLedger) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_ledger(folder.path("ledger"), random_decisions(42, 20), 2000).ok());
  FolderLedgerStore store(folder.path("ledger"));
  const auto report = verify_ledger(store);
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->records, 22U);
  EXPECT_EQ(to_hex(report->head),
            "f2905589a13af3debe84dbf603ad1677c846658023204a47b2631538747e12cf");
}

}  // namespace
}  // namespace tocsin
