// The duty cycle of the sinks' thread.
#include "sinks/sink_thread.h"

#include <algorithm>

namespace tocsin {
namespace {

constexpr std::uint32_t kCycleDecisionsMax = 256;

}  // namespace

SinkThread::SinkThread(const SinkThreadParts& parts, const SinkThreadOptions& options)
    : parts_(parts), options_(options), last_flush_ns_(parts.clock.monotonic_time_ns()) {
  for (Sink* const sink : parts_.sinks) outboxes_.emplace_back(*sink, options_.outbox);
  alert_.source = parts_.run.source_name;
  alert_.model = parts_.run.model_name + "/" + parts_.run.model_version;
  alert_.engine = parts_.run.engine;
}

SinkThread::~SinkThread() {
  // It ends the other thread, which would wait for ever.
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void SinkThread::start() {
  TOCSIN_ASSERT(!thread_.joinable());
  sync_thread_ = std::jthread([this] { sync_loop(); });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Status SinkThread::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  } else {
    finish();
  }
  return ledger_status_;
}

void SinkThread::run(const std::stop_token& stop) noexcept {
  IdleStrategy idle(options_.idle);
  while (!stop.stop_requested()) idle.idle(duty_cycle());
  end_sync_thread();
  finish();
}

void SinkThread::sync_loop() noexcept {
  for (;;) {
    const SyncState state = sync_state_.load(std::memory_order_acquire);
    if (state == SyncState::kEnd) return;
    if (state != SyncState::kBusy) {
      sync_state_.wait(state, std::memory_order_acquire);
      continue;
    }
    sync(sync_checkpoint_);
    sync_state_.store(SyncState::kDone, std::memory_order_release);
    sync_state_.notify_one();
  }
}

void SinkThread::end_sync_thread() noexcept {
  sync_state_.wait(SyncState::kBusy, std::memory_order_acquire);
  note_sync();
  sync_state_.store(SyncState::kEnd, std::memory_order_release);
  sync_state_.notify_one();
  sync_thread_.join();
  sync_state_.store(SyncState::kIdle, std::memory_order_relaxed);
}

// The ledger first: whatever a sink holds durably is proved durably.
void SinkThread::sync(const LedgerCheckpoint& checkpoint) noexcept {
  sync_ledger_ = parts_.ledger.sync(checkpoint);
  sync_sinks_ = {};
  if (!sync_ledger_.ok()) return;
  for (AlertOutbox& outbox : outboxes_) {
    const Status status = outbox.sink().sync();
    if (!status.ok()) sync_sinks_ = status;
  }
}

void SinkThread::note_sync() noexcept {
  if (sync_state_.load(std::memory_order_acquire) != SyncState::kDone) return;
  sync_state_.store(SyncState::kIdle, std::memory_order_relaxed);
  if (!sync_ledger_.ok()) fail(sync_ledger_.error());
  if (sync_sinks_.ok()) return;
  ++counters_.failed_flushes;
  last_flush_error_ = sync_sinks_.error();
  unflushed_count_ = std::max<std::uint64_t>(unflushed_count_, 1);  // again after the interval
}

void SinkThread::finish() noexcept {
  while (duty_cycle() > 0) continue;
  if (!failed())
    for (AlertOutbox& outbox : outboxes_) outbox.close();
  flush(parts_.clock.monotonic_time_ns());
}

std::uint32_t SinkThread::duty_cycle() noexcept {
  std::uint32_t work_count = 0;
  DecisionRecord decision;
  while (work_count < kCycleDecisionsMax && parts_.decisions.try_pop(decision)) {
    handle(decision, parts_.clock.monotonic_time_ns());
    ++work_count;
  }
  const std::int64_t now_ns = parts_.clock.monotonic_time_ns();
  note_sync();
  if (!failed()) {
    for (AlertOutbox& outbox : outboxes_) {
      const std::uint32_t left_count = outbox.retry(now_ns);
      work_count += left_count;
      unflushed_count_ += left_count;
    }
  }
  if (sync_state_.load(std::memory_order_relaxed) == SyncState::kBusy) return work_count;
  if (unflushed_count_ >= options_.flush_record_count ||
      (unflushed_count_ > 0 && now_ns - last_flush_ns_ >= options_.flush_interval_ns))
    flush(now_ns);
  return work_count;
}

void SinkThread::handle(DecisionRecord& decision, std::int64_t now_ns) {
  ++counters_.taken;
  if (failed()) {
    ++counters_.after_failure;
    return;
  }
  decision.durations[Stage::kHandoff] =
      std::max<std::int64_t>(now_ns - decision.decided_time_ns, 0);
  handoff_.record(decision.durations[Stage::kHandoff]);
  ++unflushed_count_;
  const Status status = write_and_offer(decision, now_ns);
  if (!status.ok()) fail(status.error());
}

Status SinkThread::write_and_offer(const DecisionRecord& decision, std::int64_t now_ns) {
  const bool is_alert = decision.verdict == Verdict::kAlert;
  if (!is_alert && !decision.sampled) return {};
  const std::string_view symbol = parts_.symbols.symbol(decision.frame.instrument);
  TOCSIN_ASSIGN_OR_RETURN(const bool appended, parts_.ledger.append(decision, symbol));
  ++(appended ? counters_.appended : counters_.already_durable);
  if (!is_alert) return {};
  // An alert leaves after its proof: what the operating system holds survives the end of this
  // process.
  TOCSIN_RETURN_IF_ERROR(parts_.ledger.write_out());
  ++counters_.alerts;
  event_to_alert_.record(decision.durations.total_ns());
  offer(decision, !appended, now_ns);
  return {};
}

void SinkThread::offer(const DecisionRecord& decision, bool repeated, std::int64_t now_ns) {
  alert_.decision = decision;
  alert_.symbol.assign(parts_.symbols.symbol(decision.frame.instrument));
  TOCSIN_ASSERT(decision.rule_index < parts_.run.rules.size());
  alert_.rule = parts_.run.rules[decision.rule_index];
  alert_.repeated = repeated;
  for (AlertOutbox& outbox : outboxes_) outbox.offer(alert_, now_ns);
}

void SinkThread::flush(std::int64_t now_ns) {
  last_flush_ns_ = now_ns;
  unflushed_count_ = 0;
  bool all_flushed = true;
  const auto note = [this, &all_flushed](const Status& status) {
    if (status.ok()) return;
    ++counters_.failed_flushes;
    last_flush_error_ = status.error();
    all_flushed = false;
  };
  if (!failed()) {
    const Status status = parts_.ledger.write_out();
    if (!status.ok()) fail(status.error());
  }
  for (AlertOutbox& outbox : outboxes_) note(outbox.sink().flush());
  if (!failed()) {
    sync_checkpoint_ = parts_.ledger.checkpoint();
    if (sync_thread_.joinable()) {
      sync_state_.store(SyncState::kBusy, std::memory_order_release);
      sync_state_.notify_one();
    } else {
      sync(sync_checkpoint_);
      if (!sync_ledger_.ok()) fail(sync_ledger_.error());
      note(sync_sinks_);
    }
  }
  if (all_flushed) {
    last_flush_error_.reset();
  } else {
    unflushed_count_ = 1;  // again after the interval
  }
}

void SinkThread::fail(const Error& error) noexcept {
  if (failed()) return;
  ledger_status_ = error;
  failed_.store(true, std::memory_order_release);
}

}  // namespace tocsin
