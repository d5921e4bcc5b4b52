// The record that is not due yet is kept here, so that waiting can be cut into short pieces.
#include "ingest/paced_source.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace tocsin {

PacedSource::PacedSource(std::unique_ptr<Source> source, Clock& clock, Pace pace)
    : source_(std::move(source)), clock_(clock), pace_(pace) {
  TOCSIN_ASSERT(std::isfinite(pace.speed) && std::isfinite(pace.records_per_s));
  TOCSIN_ASSERT((pace.speed > 0.0) != (pace.records_per_s > 0.0));
}

// Afterwards waiting_ holds a record, unless the status is not kEvents or the record has no events.
SourceStatus PacedSource::fetch() noexcept {
  if (!waiting_.empty()) return SourceStatus::kEvents;
  const std::int64_t start_ns = clock_.monotonic_time_ns();
  const SourceStatus status = source_->next(waiting_);
  decode_ns_ = clock_.monotonic_time_ns() - start_ns;
  if (status == SourceStatus::kEvents && !waiting_.empty())
    waiting_due_ns_ = due_time_ns(waiting_.front().receive_time_ns);
  else
    waiting_.clear();
  return status;
}

bool PacedSource::is_due() noexcept {
  // What cannot wait, an end or a record without events, is for next() to tell.
  return fetch() != SourceStatus::kEvents || waiting_.empty() ||
         waiting_due_ns_ <= clock_.monotonic_time_ns();
}

SourceStatus PacedSource::next(EventBatch& batch) noexcept {
  batch.clear();
  const SourceStatus status = fetch();
  if (status != SourceStatus::kEvents || waiting_.empty()) return status;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  if (waiting_due_ns_ > now_ns) {
    const std::int64_t wait_ns = std::min(waiting_due_ns_ - now_ns, kWaitMaxNs);
    clock_.sleep_until(now_ns + wait_ns);
    if (wait_ns < waiting_due_ns_ - now_ns) return SourceStatus::kEvents;
  }
  std::swap(batch, waiting_);
  return SourceStatus::kEvents;
}

std::int64_t PacedSource::due_time_ns(std::int64_t receive_time_ns) noexcept {
  const std::uint64_t record = record_count_++;
  if (record == 0) {
    first_receive_time_ns_ = receive_time_ns;
    start_time_ns_ = clock_.monotonic_time_ns();
  }
  // A century of recorded time at the slowest is far enough; broken times may lie further apart.
  constexpr double kDelayMaxNs = 3.2e18;
  const auto recorded_ns = [this, receive_time_ns] {
    return static_cast<long double>(receive_time_ns) -
           static_cast<long double>(first_receive_time_ns_);
  };
  const long double exact_ns =
      pace_.speed > 0.0
          ? recorded_ns() / static_cast<long double>(pace_.speed)
          : static_cast<long double>(record) * 1e9L / static_cast<long double>(pace_.records_per_s);
  const auto delay_ns = static_cast<double>(exact_ns);
  return start_time_ns_ + static_cast<std::int64_t>(std::clamp(delay_ns, 0.0, kDelayMaxNs));
}

}  // namespace tocsin
