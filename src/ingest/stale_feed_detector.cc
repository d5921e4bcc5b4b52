// Two moving averages an instrument; the ratio of the second to the first is the usual interval.
#include "ingest/stale_feed_detector.h"

#include <algorithm>

namespace tocsin {
namespace {

constexpr double kNewestWeight = 1.0 / 64;

double usual_ns(double interval_ns, double interval_ns_squared) noexcept {
  return interval_ns > 0.0 ? interval_ns_squared / interval_ns : 0.0;
}

// Trades, statuses and what the feed expects are numbered in series of their own.
bool counts_updates(EventKind kind) noexcept {
  return kind == EventKind::kSetLevel || kind == EventKind::kClear ||
         kind == EventKind::kTrimDepth || kind == EventKind::kEndOfUpdate ||
         kind <= EventKind::kExecuteOrder;
}

}  // namespace

StaleFeedDetector::StaleFeedDetector(const Clock& clock, const StaleFeedOptions& options)
    : clock_(clock), options_(options) {}

void StaleFeedDetector::on_batch(const EventBatch& batch) noexcept {
  if (batch.empty()) return;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  for (const MarketEvent& event : batch) {
    if (event.end_of_update) on_update(event, now_ns);
  }
}

void StaleFeedDetector::on_update(const MarketEvent& event, std::int64_t now_ns) noexcept {
  if (event.instrument >= silences_.size()) silences_.resize(std::size_t{event.instrument} + 1);
  Silence& silence = silences_[event.instrument];
  silence.last_exchange_time_ns = event.exchange_time_ns;
  if (counts_updates(event.kind)) silence.last_sequence = event.sequence;
  const std::int64_t interval_ns = now_ns - silence.last_time_ns;
  if (silence.is_known && interval_ns == 0) return;  // the same batch
  // A silence that was found stale is no usual interval.
  if (silence.is_known && !silence.is_stale) {
    const auto interval = static_cast<double>(interval_ns);
    const double weight = silence.intervals == 0 ? 1.0 : kNewestWeight;
    silence.interval_ns += weight * (interval - silence.interval_ns);
    silence.interval_ns_squared += weight * (interval * interval - silence.interval_ns_squared);
    silence.intervals = std::min(silence.intervals + 1, kIntervalsMin);
  }
  silence.last_time_ns = now_ns;
  silence.is_known = true;
  silence.is_stale = false;
}

void StaleFeedDetector::on_disconnect() noexcept {
  for (Silence& silence : silences_) {
    silence.is_known = false;
    silence.is_stale = false;
  }
}

bool StaleFeedDetector::turns_stale(const Silence& silence, std::int64_t now_ns) const noexcept {
  if (!silence.is_known || silence.is_stale || silence.intervals < kIntervalsMin) return false;
  const std::int64_t silent_ns = now_ns - silence.last_time_ns;
  return options_.after_intervals > 0 && silent_ns >= options_.silence_min_ns &&
         static_cast<double>(silent_ns) >=
             options_.after_intervals * usual_ns(silence.interval_ns, silence.interval_ns_squared);
}

std::size_t StaleFeedDetector::append_stale(std::uint64_t record, EventBatch& batch) noexcept {
  if (silences_.empty()) return 0;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  std::size_t found = 0;
  for (std::size_t i = std::min(silences_.size(), kLookedAtMax); i > 0; --i) {
    next_looked_at_ = next_looked_at_ + 1 < silences_.size() ? next_looked_at_ + 1 : 0;
    Silence& silence = silences_[next_looked_at_];
    if (!turns_stale(silence, now_ns)) continue;
    silence.is_stale = true;
    MarketEvent event;
    event.kind = EventKind::kEndOfUpdate;
    event.quality = Quality::kStaleFeed;
    event.end_of_update = true;
    event.instrument = static_cast<InstrumentId>(next_looked_at_);
    event.exchange_time_ns = silence.last_exchange_time_ns + (now_ns - silence.last_time_ns);
    event.receive_time_ns = clock_.unix_time_ns();
    event.sequence = silence.last_sequence;
    event.record = record;
    batch.push_back(event);
    ++found;
  }
  stale_count_ += found;
  return found;
}

std::int64_t StaleFeedDetector::usual_interval_ns(InstrumentId instrument) const noexcept {
  if (instrument >= silences_.size()) return 0;
  const Silence& silence = silences_[instrument];
  return static_cast<std::int64_t>(usual_ns(silence.interval_ns, silence.interval_ns_squared));
}

}  // namespace tocsin
