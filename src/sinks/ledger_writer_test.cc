#include "sinks/ledger_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/allocation_counter.h"
#include "sinks/file_size_limit.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kOneSegment = std::uint64_t{1} << 20;

LedgerReport verified(const std::string& folder) {
  FolderLedgerStore store(folder);
  const auto report = verify_ledger(store);
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report->ok()) << format_ledger_fault(*report->fault);
  return *report;
}

std::vector<LedgerRecordKind> kinds_of(const std::string& folder) {
  FolderLedgerStore store(folder);
  std::vector<LedgerRecordKind> kinds;
  EXPECT_TRUE(verify_ledger(store, {}, [&](const LedgerEntry& entry) {
                kinds.push_back(entry.kind);
              }).ok());
  return kinds;
}

std::vector<std::vector<std::byte>> decisions_of(const std::string& folder) {
  FolderLedgerStore store(folder);
  return repeatable_decisions(store);
}

// Everything about a run that repeats: with other times, as a second run would have them.
std::vector<DecisionRecord> repeated(std::vector<DecisionRecord> decisions) {
  for (DecisionRecord& decision : decisions) {
    decision.decided_time_ns += 77;
    decision.durations[Stage::kScore] += 5;
  }
  return decisions;
}

Status append_all(LedgerWriter& writer, const std::vector<DecisionRecord>& decisions) {
  for (const DecisionRecord& decision : decisions)
    TOCSIN_RETURN_IF_ERROR(writer.append(decision, kSampleSymbol));
  return {};
}

TEST(LedgerWriter, AReaderFindsWhatWasWritten) {
  TemporaryFolder folder;
  const std::string path = folder.path("a/b/ledger");
  const auto decisions = random_decisions(1, 50);
  ASSERT_TRUE(write_ledger(path, decisions, kOneSegment).ok());
  FolderLedgerStore store(path);
  std::size_t next = 0;
  std::vector<LedgerRecordKind> kinds;
  const auto report = verify_ledger(store, {}, [&](const LedgerEntry& entry) {
    kinds.push_back(entry.kind);
    EXPECT_EQ(entry.number, kinds.size());
    if (entry.kind != LedgerRecordKind::kDecision) return;
    const LedgerDecision read = decode_decision(entry.payload).value();
    EXPECT_EQ(read.symbol, kSampleSymbol);
    EXPECT_EQ(read.run_record, 1U);
    EXPECT_EQ(read.decision.id, decisions[next].id);
    EXPECT_EQ(read.decision.durations.ns, decisions[next].durations.ns);
    ++next;
  });
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(next, decisions.size());
  EXPECT_EQ(kinds.front(), LedgerRecordKind::kRunStart);
  EXPECT_EQ(kinds.back(), LedgerRecordKind::kRunEnd);
  EXPECT_EQ(report->records, 52U);
}

TEST(LedgerWriter, SegmentsKeepToTheirLimitAndHoldEverything) {
  TemporaryFolder folder;
  constexpr std::uint64_t kLimit = 4096;
  const auto decisions = random_decisions(2, 200);
  ASSERT_TRUE(write_ledger(folder.path("ledger"), decisions, kLimit).ok());
  FolderLedgerStore store(folder.path("ledger"));
  const auto indices = store.segments().value();
  EXPECT_GT(indices.size(), 10U);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(indices[i], i + 1);
    EXPECT_LE(store.segment(indices[i])->size(), kLimit);
  }
  EXPECT_EQ(verified(folder.path("ledger")).records, decisions.size() + 2);
}

TEST(LedgerWriter, ASegmentIsFlushedBeforeTheNextOneBegins) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  auto writer = LedgerWriter::open({path, 2000}, sample_run());
  ASSERT_TRUE(append_all(**writer, random_decisions(2, 40)).ok());
  FolderLedgerStore store(path);
  const std::uint32_t last = store.segments()->back();
  ASSERT_GT(last, 3U);
  ASSERT_TRUE((*writer)->write_out().ok());
  const SegmentHeader header = *segment_header_of(store.segment(last).value());
  const LedgerHead head = *head_from_text(*store.head().value());
  EXPECT_EQ(head.records, header.first_record - 1);
  EXPECT_EQ(head.hash, header.previous);
}

TEST(LedgerWriter, ARecordLargerThanASegmentGetsOneOfItsOwn) {
  TemporaryFolder folder;
  LedgerRunStart run = sample_run();
  run.config.assign(5000, 'c');
  auto writer = LedgerWriter::open({folder.path("ledger"), 1024}, run);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(append_all(**writer, random_decisions(1, 3)).ok());
  ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
  EXPECT_EQ(verified(folder.path("ledger")).segments, 2U);
}

TEST(LedgerWriter, ASecondRunFollowsACompleteOne) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  const auto decisions = random_decisions(3, 10);
  ASSERT_TRUE(write_ledger(path, decisions, 2000).ok());
  auto writer = LedgerWriter::open({path, 2000}, sample_run());
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE((*writer)->opening().resumed);
  EXPECT_EQ((*writer)->opening().run_record, 13U);
  ASSERT_TRUE(append_all(**writer, decisions).ok());
  ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
  EXPECT_EQ(verified(path).records, 24U);
}

TEST(LedgerWriter, AnUnfinishedRunGoesOnWithoutWritingTwice) {
  const auto decisions = random_decisions(4, 40);
  TemporaryFolder reference;
  ASSERT_TRUE(write_ledger(reference.path("ledger"), decisions, 2000).ok());
  for (std::size_t stop = 0; stop <= decisions.size(); stop += 5) {
    SCOPED_TRACE("stopped after " + std::to_string(stop));
    TemporaryFolder folder;
    const std::string path = folder.path("ledger");
    {
      auto writer = LedgerWriter::open({path, 2000}, sample_run());
      ASSERT_TRUE(writer.ok());
      ASSERT_TRUE(
          append_all(**writer, {decisions.begin(), decisions.begin() + static_cast<long>(stop)})
              .ok());
      ASSERT_TRUE((*writer)->flush().ok());
    }
    auto writer = LedgerWriter::open({path, 2000}, sample_run());
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE((*writer)->opening().resumed);
    EXPECT_EQ((*writer)->opening().run_record, 1U);
    EXPECT_EQ((*writer)->opening().durable_decision_count, stop);
    std::size_t appended = 0;
    for (const DecisionRecord& decision : repeated(decisions)) {
      EXPECT_EQ((*writer)->catching_up(), appended == 0 && decision.frame.position.record <= stop);
      const auto taken = (*writer)->append(decision, kSampleSymbol);
      ASSERT_TRUE(taken.ok()) << taken.error().message();
      appended += *taken ? 1 : 0;
    }
    EXPECT_EQ(appended, decisions.size() - stop);
    ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
    EXPECT_EQ(decisions_of(path), decisions_of(reference.path("ledger")));
    EXPECT_EQ(kinds_of(path).back(), LedgerRecordKind::kRunEnd);
  }
}

TEST(LedgerWriter, AnInterruptedRunGoesOnAndACompleteOneDoesNot) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  const auto decisions = random_decisions(5, 6);
  LedgerRunEnd end = sample_run_end();
  end.reason = RunEndReason::kInterrupted;
  {
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE(append_all(**writer, {decisions.begin(), decisions.begin() + 3}).ok());
    ASSERT_TRUE((*writer)->finish(end).ok());
  }
  {
    // Interrupted again before it has caught up: nothing is lost by that.
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE((*writer)->opening().resumed);
    ASSERT_TRUE(append_all(**writer, {decisions.begin(), decisions.begin() + 1}).ok());
    ASSERT_TRUE((*writer)->finish(end).ok());
  }
  {
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE((*writer)->opening().resumed);
    EXPECT_EQ((*writer)->opening().durable_decision_count, 3U);
    ASSERT_TRUE(append_all(**writer, decisions).ok());
    ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
  }
  EXPECT_EQ(decisions_of(path).size(), decisions.size());
  auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
  EXPECT_FALSE((*writer)->opening().resumed);
}

TEST(LedgerWriter, AnotherConfigurationBeginsANewRun) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  { ASSERT_TRUE(LedgerWriter::open({path, kOneSegment}, sample_run()).ok()); }
  LedgerRunStart other = sample_run();
  other.config += "more: 1\n";
  auto writer = LedgerWriter::open({path, kOneSegment}, other);
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE((*writer)->opening().resumed);
  EXPECT_EQ((*writer)->opening().run_record, 2U);
}

// Opens a ledger with three decisions of an unfinished run, and repeats it with one bit changed.
Status repeat_with(const std::string& path, DeterminismClass determinism,
                   const std::function<void(DecisionRecord&)>& change, std::uint64_t& differing) {
  LedgerRunStart run = sample_run();
  run.determinism = determinism;
  auto decisions = random_decisions(6, 3);
  for (DecisionRecord& decision : decisions) decision.determinism = determinism;
  {
    TOCSIN_ASSIGN_OR_RETURN(const auto writer, LedgerWriter::open({path, kOneSegment}, run));
    TOCSIN_RETURN_IF_ERROR(append_all(*writer, decisions));
    TOCSIN_RETURN_IF_ERROR(writer->flush());
  }
  TOCSIN_ASSIGN_OR_RETURN(const auto writer, LedgerWriter::open({path, kOneSegment}, run));
  decisions = repeated(decisions);
  change(decisions[1]);
  const Status status = append_all(*writer, decisions);
  differing = writer->differing_score_count();
  return status;
}

TEST(LedgerWriter, ARepetitionThatDiffersIsRefusedWithItsRecord) {
  const std::vector<std::pair<std::string, std::function<void(DecisionRecord&)>>> changes = {
      {"score", [](DecisionRecord& d) { d.score = std::nextafter(d.score, 2.0F); }},
      {"verdict", [](DecisionRecord& d) { d.verdict = Verdict::kHeld; }},
      {"id", [](DecisionRecord& d) { d.id.value ^= 1; }},
      {"input record", [](DecisionRecord& d) { d.frame.position.record += 1; }},
      {"feature 2", [](DecisionRecord& d) { d.frame.values[2] += 1.0F; }},
      {"window hash", [](DecisionRecord& d) { d.window_hash ^= 1; }},
      {"features", [](DecisionRecord& d) { d.frame.feature_count = 2; }},
      {"quality", [](DecisionRecord& d) { d.frame.quality |= Quality::kBookUntrusted; }},
  };
  for (const auto& [field, change] : changes) {
    SCOPED_TRACE(field);
    TemporaryFolder folder;
    std::uint64_t differing = 0;
    const Status status =
        repeat_with(folder.path("ledger"), DeterminismClass::kExact, change, differing);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), ErrorCode::kAborted);
    EXPECT_NE(status.error().message().find("not reproducible at record 3"), std::string::npos)
        << status.error().message();
    EXPECT_NE(status.error().message().find(field + " "), std::string::npos)
        << status.error().message();
    EXPECT_EQ(verified(folder.path("ledger")).records, 5U);  // start, three decisions, resume
  }
}

TEST(LedgerWriter, AnEngineThatIsNotExactMayDifferInTheScoreAlone) {
  TemporaryFolder folder;
  std::uint64_t differing = 0;
  EXPECT_TRUE(repeat_with(
                  folder.path("a"), DeterminismClass::kTolerance,
                  [](DecisionRecord& d) { d.score = std::nextafter(d.score, 2.0F); }, differing)
                  .ok());
  EXPECT_EQ(differing, 1U);
  EXPECT_FALSE(repeat_with(
                   folder.path("b"), DeterminismClass::kTolerance,
                   [](DecisionRecord& d) { d.verdict = Verdict::kHeld; }, differing)
                   .ok());
}

TEST(LedgerWriter, ACompleteRunThatMadeFewerDecisionsIsRefused) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  {
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE(append_all(**writer, random_decisions(7, 3)).ok());
    ASSERT_TRUE((*writer)->flush().ok());
  }
  auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
  ASSERT_TRUE(append_all(**writer, random_decisions(7, 2)).ok());
  const Status status = (*writer)->finish(sample_run_end());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kAborted);
}

TEST(LedgerWriter, CutAtEveryByteItGoesOnFromTheLastCompleteRecord) {
  const auto decisions = random_decisions(8, 5);
  constexpr std::uint64_t kLimit = 1200;  // two segments
  TemporaryFolder reference;
  ASSERT_TRUE(write_ledger(reference.path("ledger"), decisions, kLimit).ok());
  const auto expected = decisions_of(reference.path("ledger"));

  TemporaryFolder killed;
  {
    // Written out but not flushed past the first segment, as at a kill: HEAD is behind.
    auto writer = LedgerWriter::open({killed.path("ledger"), kLimit}, sample_run());
    ASSERT_TRUE(append_all(**writer, decisions).ok());
    ASSERT_TRUE((*writer)->write_out().ok());
  }
  const std::string last = ledger_segment_path(killed.path("ledger"), 2);
  ASSERT_FALSE(std::filesystem::exists(ledger_segment_path(killed.path("ledger"), 3)));
  const std::uint64_t full_bytes = std::filesystem::file_size(last);
  for (std::uint64_t size = 0; size <= full_bytes; ++size) {
    SCOPED_TRACE("cut to " + std::to_string(size));
    TemporaryFolder folder;
    const std::string path = folder.path("ledger");
    std::filesystem::copy(killed.path("ledger"), path);
    std::filesystem::resize_file(ledger_segment_path(path, 2), size);
    const LedgerReport before = verified(path);  // readable as it is
    auto writer = LedgerWriter::open({path, kLimit}, sample_run());
    ASSERT_TRUE(writer.ok()) << writer.error().message();
    EXPECT_TRUE((*writer)->opening().resumed);
    EXPECT_EQ((*writer)->opening().torn_bytes, before.torn_bytes);
    EXPECT_EQ((*writer)->opening().durable_decision_count, before.records - 1);
    ASSERT_TRUE(append_all(**writer, repeated(decisions)).ok());
    ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
    ASSERT_EQ(decisions_of(path), expected);
    ASSERT_EQ(verified(path).records, decisions.size() + 3);
  }
}

TEST(LedgerWriter, WhatWasFlushedIsNeverCutOrRepaired) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  {
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE(append_all(**writer, random_decisions(9, 4)).ok());
    ASSERT_TRUE((*writer)->flush().ok());
  }
  const std::string segment = ledger_segment_path(path, 1);
  const std::string intact = read_text(segment);
  for (const std::size_t size : {intact.size() - 1, intact.size() / 2, std::size_t{0}}) {
    write_text(segment, intact.substr(0, size));
    const auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.error().code(), ErrorCode::kDataLoss);
    EXPECT_NE(writer.error().message().find("truncated"), std::string::npos)
        << writer.error().message();
    EXPECT_EQ(read_text(segment), intact.substr(0, size));
  }
  std::string changed = intact;
  changed[changed.size() - 60] ^= 1;
  write_text(segment, changed);
  const auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.error().message().find("record 5"), std::string::npos)
      << writer.error().message();
  EXPECT_EQ(read_text(segment), changed);
}

TEST(LedgerWriter, NoiseAfterTheFlushedPartIsCutOff) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  {
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE((*writer)->flush().ok());
  }
  // A machine that lost power may leave a block of zeros.
  write_text(ledger_segment_path(path, 1),
             read_text(ledger_segment_path(path, 1)) + std::string(100, '\0'));
  auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ((*writer)->opening().torn_bytes, 100U);
  EXPECT_EQ(verified(path).records, 2U);
}

TEST(LedgerWriter, OneProcessWritesAtATime) {
  TemporaryFolder folder;
  auto first = LedgerWriter::open({folder.path("ledger"), kOneSegment}, sample_run());
  ASSERT_TRUE(first.ok());
  const auto second = LedgerWriter::open({folder.path("ledger"), kOneSegment}, sample_run());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
}

TEST(LedgerWriter, AFolderThatCannotBeMadeIsAnErrorWithItsPath) {
  TemporaryFolder folder;
  write_text(folder.path("file"), "x");
  const auto writer = LedgerWriter::open({folder.path("file/ledger"), kOneSegment}, sample_run());
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.error().message().find("file/ledger"), std::string::npos);
}

TEST(LedgerWriter, RefusesASegmentLimitBelowTheSmallest) {
  TemporaryFolder folder;
  const auto writer = LedgerWriter::open({folder.path("ledger"), 10}, sample_run());
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code(), ErrorCode::kInvalidArgument);
}

TEST(LedgerWriter, AFullDiskLeavesCompleteRecordsAndLosesNothing) {
  const auto decisions = random_decisions(10, 20);
  for (const rlim_t limit : {1200U, 2000U, 2001U, 3333U}) {
    SCOPED_TRACE("limit " + std::to_string(limit));
    TemporaryFolder folder;
    const std::string path = folder.path("ledger");
    auto writer = LedgerWriter::open({path, kOneSegment}, sample_run());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(append_all(**writer, decisions).ok());
    {
      const FileSizeLimit full(limit);
      for (int attempt = 0; attempt < 2; ++attempt) {
        const Status status = (*writer)->flush();
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code(), ErrorCode::kResourceExhausted);
        EXPECT_NE(status.error().message().find(path), std::string::npos)
            << status.error().message();
        const LedgerReport report = verified(path);
        EXPECT_EQ(report.torn_bytes, 0U);
        // As many records as fit.
        const std::uint64_t size = std::filesystem::file_size(ledger_segment_path(path, 1));
        EXPECT_LE(size, limit);
        EXPECT_GT(size + 300, limit);
      }
    }
    ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());  // there is room again
    EXPECT_EQ(verified(path).records, decisions.size() + 2);
  }
}

TEST(LedgerWriter, AFullDiskAtASegmentsHeaderLeavesTheLedgerReadable) {
  TemporaryFolder folder;
  const std::string path = folder.path("ledger");
  const auto decisions = random_decisions(11, 10);
  auto writer = LedgerWriter::open({path, 1200}, sample_run());
  ASSERT_TRUE(writer.ok());
  std::size_t taken_count = 0;
  {
    const FileSizeLimit full(700);  // the run's start fits, its decisions do not
    while (taken_count < decisions.size()) {
      const auto taken = (*writer)->append(decisions[taken_count], kSampleSymbol);
      if (!taken.ok()) {
        EXPECT_EQ(taken.error().code(), ErrorCode::kResourceExhausted);
        break;
      }
      ++taken_count;
    }
    ASSERT_LT(taken_count, decisions.size());
    EXPECT_EQ(verified(path).torn_bytes, 0U);
  }
  // The decision that was refused is offered again.
  const auto rest = decisions.begin() + static_cast<std::ptrdiff_t>(taken_count);
  ASSERT_TRUE(append_all(**writer, {rest, decisions.end()}).ok());
  ASSERT_TRUE((*writer)->finish(sample_run_end()).ok());
  EXPECT_EQ(decisions_of(path).size(), decisions.size());
}

TEST(LedgerWriter, AppendAllocatesNothingAfterWarmUp) {
  TemporaryFolder folder;
  auto writer = LedgerWriter::open({folder.path("ledger"), std::uint64_t{64} << 20}, sample_run());
  ASSERT_TRUE(writer.ok());
  const auto decisions = random_decisions(12, 3000);  // three buffers' worth
  ASSERT_TRUE(append_all(**writer, decisions).ok());
  const std::uint64_t before = allocation_count();
  for (const DecisionRecord& decision : decisions)
    ASSERT_TRUE((*writer)->append(decision, kSampleSymbol).ok());
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
