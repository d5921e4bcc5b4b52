#include "sinks/sink_thread.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sinks/file_size_limit.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

// Keeps the ids it took; does what it is told before.
class RecordingSink final : public Sink {
 public:
  std::string_view name() const noexcept override { return "recording"; }
  Result<bool> take(const Alert& alert) override {
    if (before_take) TOCSIN_RETURN_IF_ERROR(before_take(alert));
    taken.push_back(alert);
    return true;
  }
  Status flush() override {
    ++flushes;
    return flush_status;
  }

  std::function<Status(const Alert&)> before_take;
  std::vector<Alert> taken;
  int flushes = 0;
  Status flush_status;
};

class SinkThreadTest : public testing::Test {
 protected:
  SinkThreadTest() : path_(folder_.path("ledger")) { symbols_.put(0, kSampleSymbol); }

  // Opens the ledger and builds the thread's object; may be called again, as after a restart.
  void open(SinkThreadOptions options = {}) {
    thread_.reset();
    ledger_.reset();
    auto ledger = LedgerWriter::open({path_, std::uint64_t{1} << 20}, run_);
    ASSERT_TRUE(ledger.ok()) << ledger.error().message();
    ledger_ = std::move(ledger).value();
    thread_ = std::make_unique<SinkThread>(
        SinkThreadParts{ring_, symbols_, clock_, *ledger_, run_, {&sink_}}, options);
  }
  void push(const DecisionRecord& decision) { ASSERT_TRUE(ring_.try_push(decision)); }
  void push_all(const std::vector<DecisionRecord>& decisions) {
    for (const DecisionRecord& decision : decisions) push(decision);
  }
  LedgerReport verified(const LedgerVisitor& visitor = {}) {
    FolderLedgerStore store(path_);
    const auto report = verify_ledger(store, {}, visitor);
    EXPECT_TRUE(report.ok() && report->ok());
    return *report;
  }

  TemporaryFolder folder_;
  std::string path_;
  LedgerRunStart run_ = sample_run();
  SpscRing<DecisionRecord> ring_{64};
  SymbolTable symbols_;
  ManualClock clock_{10'000};
  RecordingSink sink_;
  std::unique_ptr<LedgerWriter> ledger_;
  std::unique_ptr<SinkThread> thread_;
};

DecisionRecord decision_with(Verdict verdict, bool sampled) {
  DecisionRecord decision = random_decisions(1, 1)[0];
  decision.verdict = verdict;
  decision.sampled = sampled;
  return decision;
}

TEST_F(SinkThreadTest, StampsTheHandoffAndKeepsTheSum) {
  open();
  DecisionRecord decision = decision_with(Verdict::kAlert, false);
  decision.decided_time_ns = 9'400;
  decision.durations = {};
  decision.durations[Stage::kScore] = 50;
  push(decision);
  EXPECT_EQ(thread_->duty_cycle(), 1U);
  ASSERT_TRUE(thread_->stop().ok());
  EXPECT_EQ(thread_->handoff().max_ns(), 600);
  EXPECT_EQ(thread_->event_to_alert().max_ns(), 650);
  ASSERT_EQ(sink_.taken.size(), 1U);
  EXPECT_EQ(sink_.taken[0].decision.durations[Stage::kHandoff], 600);
  verified([](const LedgerEntry& entry) {
    if (entry.kind != LedgerRecordKind::kDecision) return;
    EXPECT_EQ(decode_decision(entry.payload)->decision.durations[Stage::kHandoff], 600);
  });
}

TEST_F(SinkThreadTest, TheLedgerGetsAlertsAndTheSampleAndTheSinksGetAlerts) {
  open();
  push(decision_with(Verdict::kQuiet, false));
  push(decision_with(Verdict::kQuiet, true));
  push(decision_with(Verdict::kHeld, false));
  push(decision_with(Verdict::kAlert, false));
  push(decision_with(Verdict::kSuppressedUntrusted, true));
  ASSERT_TRUE(thread_->stop().ok());
  EXPECT_EQ(thread_->counters().taken, 5U);
  EXPECT_EQ(thread_->counters().appended, 3U);
  EXPECT_EQ(thread_->counters().alerts, 1U);
  EXPECT_EQ(verified().records, 4U);
  ASSERT_EQ(sink_.taken.size(), 1U);
  const Alert& alert = sink_.taken[0];
  EXPECT_EQ(alert.symbol, kSampleSymbol);
  EXPECT_EQ(alert.source, "sample.csv");
  EXPECT_EQ(alert.rule, "burst");
  EXPECT_EQ(alert.model, "lstm/1");
  EXPECT_EQ(alert.engine, "reference");
  EXPECT_FALSE(alert.repeated);
}

TEST_F(SinkThreadTest, AnAlertLeavesAfterItsRecord) {
  open();
  int checked_count = 0;
  sink_.before_take = [&](const Alert& alert) -> Status {
    std::uint64_t last_id = 0;
    verified([&](const LedgerEntry& entry) {
      if (entry.kind == LedgerRecordKind::kDecision)
        last_id = decode_decision(entry.payload)->decision.id.value;
    });
    EXPECT_EQ(last_id, alert.decision.id.value);
    ++checked_count;
    return {};
  };
  auto decisions = random_decisions(2, 20);
  push_all(decisions);
  thread_->duty_cycle();
  EXPECT_GT(checked_count, 2);
}

TEST_F(SinkThreadTest, FlushesAfterTheIntervalOrEnoughRecords) {
  open({.flush_record_count = 3, .flush_interval_ns = 1000, .outbox = {}});
  const auto durable_records = [this] {
    FolderLedgerStore store(path_);
    return head_from_text(*store.head().value())->records;
  };
  const DecisionRecord decision = decision_with(Verdict::kQuiet, true);
  push(decision);
  thread_->duty_cycle();
  EXPECT_EQ(durable_records(), 1U);  // the run's start
  clock_.advance(999);
  thread_->duty_cycle();
  EXPECT_EQ(durable_records(), 1U);
  clock_.advance(1);
  thread_->duty_cycle();
  EXPECT_EQ(durable_records(), 2U);
  EXPECT_EQ(sink_.flushes, 1);
  push_all({decision, decision, decision});
  thread_->duty_cycle();
  EXPECT_EQ(durable_records(), 5U);
  clock_.advance(5000);
  thread_->duty_cycle();
  EXPECT_EQ(sink_.flushes, 2);  // nothing new, nothing to flush
}

TEST_F(SinkThreadTest, ASinkThatIsDownHoldsNothingUp) {
  RecordingSink good;
  open();
  thread_ = std::make_unique<SinkThread>(
      SinkThreadParts{ring_, symbols_, clock_, *ledger_, run_, {&sink_, &good}},
      SinkThreadOptions{.outbox = {.waiting_max = 5}});
  sink_.before_take = [](const Alert&) -> Status { return Error(ErrorCode::kUnavailable, "down"); };
  for (int i = 0; i < 100; ++i) {
    push(decision_with(Verdict::kAlert, false));
    thread_->duty_cycle();
    clock_.advance(1000);
  }
  ASSERT_TRUE(thread_->stop().ok());
  EXPECT_FALSE(thread_->failed());
  EXPECT_EQ(good.taken.size(), 100U);
  EXPECT_EQ(verified().records, 101U);
  EXPECT_EQ(thread_->outboxes()[0].counters().undelivered, 100U);
  EXPECT_EQ(thread_->outboxes()[1].counters().delivered, 100U);
}

TEST_F(SinkThreadTest, ASinkThatComesBackGetsEverythingInOrder) {
  open();
  int failures_left = 3;
  sink_.before_take = [&](const Alert&) -> Status {
    if (failures_left-- > 0) return Error(ErrorCode::kUnavailable, "down");
    return {};
  };
  for (std::uint64_t id = 1; id <= 10; ++id) {
    DecisionRecord decision = decision_with(Verdict::kAlert, false);
    decision.id.value = id;
    push(decision);
  }
  for (int i = 0; i < 20; ++i) {
    thread_->duty_cycle();
    clock_.advance(100'000'000);
  }
  ASSERT_EQ(sink_.taken.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(sink_.taken[i].decision.id.value, i + 1);
}

TEST_F(SinkThreadTest, ASinkThatCannotFlushIsTriedAgain) {
  open({.flush_record_count = 1, .flush_interval_ns = 1000, .outbox = {}});
  sink_.flush_status = Error(ErrorCode::kResourceExhausted, "full");
  push(decision_with(Verdict::kAlert, false));
  thread_->duty_cycle();
  EXPECT_EQ(thread_->counters().failed_flushes, 1U);
  EXPECT_EQ(thread_->last_flush_error()->message(), "full");
  sink_.flush_status = {};
  clock_.advance(1000);
  thread_->duty_cycle();
  EXPECT_EQ(sink_.flushes, 2);
  EXPECT_FALSE(thread_->failed());
}

TEST_F(SinkThreadTest, AFailedLedgerEndsItAndTheRingIsStillEmptied) {
  open();
  {
    const FileSizeLimit full(1500);
    push_all(random_decisions(3, 60));
    thread_->duty_cycle();
    const Status status = thread_->stop();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), ErrorCode::kResourceExhausted);
  }
  EXPECT_TRUE(thread_->failed());
  EXPECT_EQ(thread_->counters().taken, 60U);
  EXPECT_GT(thread_->counters().after_failure, 0U);
  // What left is proved: no alert was offered whose record is not in the ledger.
  std::vector<std::uint64_t> recorded;
  verified([&](const LedgerEntry& entry) {
    if (entry.kind != LedgerRecordKind::kDecision) return;
    const DecisionRecord decision = decode_decision(entry.payload)->decision;
    if (decision.verdict == Verdict::kAlert) recorded.push_back(decision.id.value);
  });
  std::vector<std::uint64_t> offered;
  for (const Alert& alert : sink_.taken) offered.push_back(alert.decision.id.value);
  EXPECT_FALSE(offered.empty());
  EXPECT_EQ(offered, recorded);
}

TEST_F(SinkThreadTest, ARepeatedRunOffersItsAlertsAgainAsRepeated) {
  const auto decisions = random_decisions(4, 30);
  open();
  push_all({decisions.begin(), decisions.begin() + 20});
  ASSERT_TRUE(thread_->stop().ok());
  const std::size_t first_count = sink_.taken.size();
  sink_.taken.clear();
  open();
  push_all(decisions);
  ASSERT_TRUE(thread_->stop().ok());
  EXPECT_EQ(thread_->counters().already_durable, 20U);
  EXPECT_EQ(thread_->counters().appended, 10U);
  ASSERT_GT(sink_.taken.size(), first_count);
  for (std::size_t i = 0; i < sink_.taken.size(); ++i)
    EXPECT_EQ(sink_.taken[i].repeated, i < first_count) << i;
}

TEST_F(SinkThreadTest, ARunThatIsNotReproducibleEndsWithThat) {
  auto decisions = random_decisions(5, 10);
  open();
  push_all(decisions);
  ASSERT_TRUE(thread_->stop().ok());
  open();
  decisions[6].score += 0.001F;
  push_all(decisions);
  const Status status = thread_->stop();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kAborted);
  EXPECT_NE(status.error().message().find("not reproducible at record 8"), std::string::npos)
      << status.error().message();
}

TEST_F(SinkThreadTest, DrainsEverythingThatWasPushedFromAnotherThread) {
  SystemClock clock;
  open();
  thread_ = std::make_unique<SinkThread>(
      SinkThreadParts{ring_, symbols_, clock, *ledger_, run_, {&sink_}}, SinkThreadOptions{});
  auto decisions = random_decisions(6, 5000);
  thread_->start();
  std::size_t alert_count = 0;
  for (DecisionRecord& decision : decisions) {
    decision.decided_time_ns = clock.monotonic_time_ns();
    alert_count += decision.verdict == Verdict::kAlert ? 1 : 0;
    while (!ring_.try_push(decision)) std::this_thread::yield();
  }
  ASSERT_TRUE(thread_->stop().ok());
  EXPECT_EQ(thread_->counters().taken, decisions.size());
  EXPECT_EQ(thread_->handoff().count(), decisions.size());
  EXPECT_EQ(sink_.taken.size(), alert_count);
  std::size_t next = 0;
  verified([&](const LedgerEntry& entry) {
    if (entry.kind != LedgerRecordKind::kDecision) return;
    EXPECT_EQ(decode_decision(entry.payload)->decision.id, decisions[next++].id);
  });
  EXPECT_EQ(next, decisions.size());
}

}  // namespace
}  // namespace tocsin
