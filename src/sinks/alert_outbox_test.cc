#include "sinks/alert_outbox.h"

#include <gtest/gtest.h>

#include <vector>

namespace tocsin {
namespace {

// Fails while told to; keeps what it took.
class ScriptedSink final : public Sink {
 public:
  std::string_view name() const noexcept override { return "scripted"; }
  Result<bool> take(const Alert& alert) override {
    ++attempts;
    if (failures_left > 0) {
      --failures_left;
      return Error(ErrorCode::kUnavailable, "down");
    }
    taken.push_back(alert.decision.id.value);
    return !alert.repeated;
  }
  Status flush() override { return {}; }

  int failures_left = 0;
  int attempts = 0;
  std::vector<std::uint64_t> taken;
};

Alert alert_of(std::uint64_t id) {
  Alert alert;
  alert.decision.id.value = id;
  return alert;
}

constexpr AlertOutboxOptions kOptions = {
    .waiting_max = 3, .attempts_max = 4, .first_pause_ns = 100, .pause_ns_max = 400};

TEST(AlertOutbox, DeliversAtOnceAndCountsRepetitions) {
  ScriptedSink sink;
  AlertOutbox outbox(sink, kOptions);
  outbox.offer(alert_of(1), 0);
  Alert repeated = alert_of(2);
  repeated.repeated = true;
  outbox.offer(repeated, 0);
  EXPECT_EQ(outbox.counters().delivered, 1U);
  EXPECT_EQ(outbox.counters().already_held, 1U);
  EXPECT_FALSE(outbox.last_error().has_value());
}

TEST(AlertOutbox, KeepsTheOrderWhileTheSinkIsDown) {
  ScriptedSink sink;
  sink.failures_left = 2;
  AlertOutbox outbox(sink, kOptions);
  for (std::uint64_t id = 1; id <= 3; ++id) outbox.offer(alert_of(id), 0);
  EXPECT_EQ(sink.attempts, 1);  // those behind the first wait without trying
  EXPECT_EQ(outbox.retry(99), 0U);
  EXPECT_EQ(sink.attempts, 1);
  EXPECT_EQ(outbox.retry(100), 0U);  // fails, the pause doubles
  EXPECT_EQ(outbox.retry(299), 0U);
  EXPECT_EQ(outbox.retry(300), 3U);
  EXPECT_EQ(sink.taken, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(outbox.counters().failed_attempts, 2U);
  EXPECT_EQ(outbox.counters().undelivered, 0U);
  EXPECT_EQ(outbox.last_error()->message(), "down");
}

TEST(AlertOutbox, GivesAnAlertUpAfterItsLastAttempt) {
  ScriptedSink sink;
  sink.failures_left = 4;
  AlertOutbox outbox(sink, kOptions);
  outbox.offer(alert_of(1), 0);
  outbox.offer(alert_of(2), 0);
  std::int64_t now_ns = 0;
  while (outbox.waiting_count() > 0 && now_ns < 10'000) outbox.retry(now_ns += 50);
  EXPECT_EQ(sink.taken, std::vector<std::uint64_t>{2});
  EXPECT_EQ(outbox.counters().undelivered, 1U);
  EXPECT_EQ(outbox.counters().delivered, 1U);
}

TEST(AlertOutbox, ADeadSinkCostsBoundedMemoryAndAttempts) {
  ScriptedSink sink;
  sink.failures_left = 1 << 30;
  AlertOutbox outbox(sink, kOptions);
  std::int64_t now_ns = 0;
  for (std::uint64_t id = 0; id < 1000; ++id) {
    outbox.offer(alert_of(id), now_ns);
    outbox.retry(now_ns += 10);
    ASSERT_LE(outbox.waiting_count(), kOptions.waiting_max);
  }
  outbox.close();
  EXPECT_EQ(outbox.counters().undelivered, 1000U);
  EXPECT_EQ(outbox.counters().delivered, 0U);
  EXPECT_LT(sink.attempts, 60);  // pauses of up to 400 in 10,000
}

TEST(AlertOutbox, TheEndOffersOnceMoreWhatWaits) {
  ScriptedSink sink;
  sink.failures_left = 2;
  AlertOutbox outbox(sink, kOptions);
  for (std::uint64_t id = 1; id <= 3; ++id) outbox.offer(alert_of(id), 0);
  outbox.close();
  EXPECT_EQ(sink.taken, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(outbox.counters().undelivered, 1U);
  EXPECT_EQ(outbox.waiting_count(), 0U);
}

}  // namespace
}  // namespace tocsin
