// Delivery, retries and giving up.
#include "sinks/alert_outbox.h"

#include <algorithm>

namespace tocsin {

bool AlertOutbox::attempt(const Alert& alert) {
  const Result<bool> taken = sink_.take(alert);
  if (!taken.ok()) {
    ++counters_.failed_attempts;
    last_error_ = taken.error();
    return false;
  }
  ++(*taken ? counters_.delivered : counters_.already_held);
  pause_ns_ = 0;
  return true;
}

void AlertOutbox::pause(std::int64_t now_ns) noexcept {
  pause_ns_ =
      pause_ns_ == 0 ? options_.first_pause_ns : std::min(2 * pause_ns_, options_.pause_ns_max);
  next_attempt_ns_ = now_ns + pause_ns_;
}

void AlertOutbox::offer(const Alert& alert, std::int64_t now_ns) {
  if (waiting_.empty()) {
    if (attempt(alert)) return;
    attempt_count_ = 1;
    pause(now_ns);
  }
  if (waiting_.size() >= options_.waiting_max) {
    ++counters_.undelivered;
    return;
  }
  waiting_.push_back(alert);
}

std::uint32_t AlertOutbox::retry(std::int64_t now_ns) {
  std::uint32_t left_count = 0;
  while (!waiting_.empty() && now_ns >= next_attempt_ns_) {
    if (!attempt(waiting_.front())) {
      pause(now_ns);
      if (++attempt_count_ < options_.attempts_max) break;
      ++counters_.undelivered;
    }
    waiting_.pop_front();
    attempt_count_ = 0;
    ++left_count;
  }
  return left_count;
}

void AlertOutbox::close() {
  for (const Alert& alert : waiting_)
    if (!attempt(alert)) ++counters_.undelivered;
  waiting_.clear();
}

}  // namespace tocsin
