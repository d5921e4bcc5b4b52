// Stands before one sink: alerts that it could not take wait here and are offered again, in order,
// with growing pauses. Everything is bounded, so that a sink that is down for good costs memory and
// time for a while and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/result.h"
#include "sinks/sink.h"

namespace tocsin {

struct AlertOutboxOptions {
  std::size_t waiting_max = 1024;            // a newer alert than these is given up at once
  std::uint32_t attempts_max = 10;           // of one alert; then it is given up
  std::int64_t first_pause_ns = 50'000'000;  // after a failure; doubles up to pause_ns_max
  std::int64_t pause_ns_max = 5'000'000'000;
};

struct AlertOutboxCounters {
  std::uint64_t delivered = 0;
  std::uint64_t already_held = 0;  // the sink had it: a repetition
  std::uint64_t failed_attempts = 0;
  std::uint64_t undelivered = 0;  // given up; the ledger has them
};

class AlertOutbox {
 public:
  // The sink stays the caller's and outlives the outbox.
  AlertOutbox(Sink& sink, const AlertOutboxOptions& options) : sink_(sink), options_(options) {}

  // Delivers the alert, or puts it behind those that wait.
  void offer(const Alert& alert, std::int64_t now_ns);
  // Offers again what waits and is due. Returns how many alerts left the outbox.
  std::uint32_t retry(std::int64_t now_ns);
  // The end: offers once more everything that waits; the rest counts as undelivered.
  void close();

  std::size_t waiting_count() const noexcept { return waiting_.size(); }
  const AlertOutboxCounters& counters() const noexcept { return counters_; }
  const Sink& sink() const noexcept { return sink_; }
  Sink& sink() noexcept { return sink_; }
  // The latest failure, if there was one.
  const std::optional<Error>& last_error() const noexcept { return last_error_; }

 private:
  bool attempt(const Alert& alert);
  void pause(std::int64_t now_ns) noexcept;

  Sink& sink_;
  AlertOutboxOptions options_;
  AlertOutboxCounters counters_;
  std::deque<Alert> waiting_;
  std::uint32_t attempt_count_ = 0;  // of the first that waits
  std::int64_t next_attempt_ns_ = 0;
  std::int64_t pause_ns_ = 0;
  std::optional<Error> last_error_;
};

}  // namespace tocsin
