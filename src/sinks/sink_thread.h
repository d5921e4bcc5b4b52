// The thread behind the pipeline: takes decisions from the ring, writes them into the ledger, and
// then, never before, offers the alerts to the sinks. A sink that fails does not stop it; a ledger
// does.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "concurrency/idle_strategy.h"
#include "concurrency/spsc_ring.h"
#include "events/decision.h"
#include "sinks/alert_outbox.h"
#include "sinks/ledger_writer.h"
#include "sinks/sink.h"
#include "sinks/symbol_table.h"
#include "telemetry/histogram.h"

namespace tocsin {

struct SinkThreadOptions {
  std::uint64_t flush_record_count = 4096;       // decisions taken since the last flush, or
  std::int64_t flush_interval_ns = 100'000'000;  // time since it: whichever comes first
  AlertOutboxOptions outbox;
  IdlePolicy idle = IdlePolicy::kSleep;  // between decisions
};

struct SinkThreadCounters {
  std::uint64_t taken = 0;            // decisions from the ring
  std::uint64_t appended = 0;         // of these, written into the ledger now
  std::uint64_t already_durable = 0;  // in the ledger from before a restart, and equal
  std::uint64_t alerts = 0;
  std::uint64_t after_failure = 0;   // taken after the ledger had failed, and dropped
  std::uint64_t failed_flushes = 0;  // of sinks; they are tried again
};

// Everything lives longer than the thread and is left alone while it runs, but for the ring's
// producer side and SymbolTable::put().
struct SinkThreadParts {
  SpscRing<DecisionRecord>& decisions;
  const SymbolTable& symbols;
  const Clock& clock;
  LedgerWriter& ledger;
  const LedgerRunStart& run;  // names of source, rules, model and engine, for the alerts
  std::vector<Sink*> sinks;
};

class SinkThread {
 public:
  SinkThread(const SinkThreadParts& parts, const SinkThreadOptions& options);
  ~SinkThread();
  SinkThread(const SinkThread&) = delete;
  SinkThread& operator=(const SinkThread&) = delete;

  void start();
  // After the producer's last push: takes what is left in the ring, offers what waits once more,
  // flushes, and ends the thread. Returns the ledger's failure if there was one; then nothing was
  // written or offered after it. The run's end is the caller's to write, into the same ledger.
  Status stop();

  // True once the ledger has failed: the pipeline should end the run. Any thread.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  // One bounded turn of the thread, for tests without one; returns a work count. Not while it runs.
  std::uint32_t duty_cycle() noexcept;

  // Valid before start() and after stop().
  const SinkThreadCounters& counters() const noexcept { return counters_; }
  const std::vector<AlertOutbox>& outboxes() const noexcept { return outboxes_; }
  // Why the latest flush of a sink failed, if one did.
  const std::optional<Error>& last_flush_error() const noexcept { return last_flush_error_; }
  const LatencyHistogram& handoff() const noexcept { return handoff_; }
  // From the record in hand to the hand-off, of alerts.
  const LatencyHistogram& event_to_alert() const noexcept { return event_to_alert_; }

 private:
  void run(const std::stop_token& stop) noexcept;
  void finish() noexcept;
  void handle(DecisionRecord& decision, std::int64_t now_ns);
  Status write_and_offer(const DecisionRecord& decision, std::int64_t now_ns);
  void offer(const DecisionRecord& decision, bool repeated, std::int64_t now_ns);
  void flush(std::int64_t now_ns);
  void sync(const LedgerCheckpoint& checkpoint) noexcept;
  void note_sync() noexcept;
  void sync_loop() noexcept;
  void end_sync_thread() noexcept;
  void fail(const Error& error) noexcept;

  SinkThreadParts parts_;
  SinkThreadOptions options_;
  std::vector<AlertOutbox> outboxes_;
  SinkThreadCounters counters_;
  LatencyHistogram handoff_;
  LatencyHistogram event_to_alert_;
  Alert alert_;  // the one in hand: its texts are set once
  std::uint64_t unflushed_count_ = 0;
  std::int64_t last_flush_ns_ = 0;
  Status ledger_status_;
  std::optional<Error> last_flush_error_;
  std::atomic<bool> failed_{false};
  // A sync waits for the disk, and an alert must not: it has a thread of its own, which works while
  // sync_state_ is kBusy and owns sync_checkpoint_, sync_ledger_ and sync_sinks_ then.
  enum class SyncState : std::uint8_t { kIdle, kBusy, kDone, kEnd };
  std::atomic<SyncState> sync_state_{SyncState::kIdle};
  LedgerCheckpoint sync_checkpoint_;
  Status sync_ledger_;
  Status sync_sinks_;
  std::jthread thread_;
  std::jthread sync_thread_;
};

}  // namespace tocsin
