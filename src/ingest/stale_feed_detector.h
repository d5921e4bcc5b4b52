// Finds instruments of a live feed that have fallen silent while the connection stands: no update
// for a multiple of the usual interval. O(1) an update and a poll; memory grows with new
// instruments only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "events/market_event.h"
#include "ingest/source.h"

namespace tocsin {

struct StaleFeedOptions {
  double after_intervals = 50;  // a silence of so many usual intervals is stale; 0: none ever is
  std::int64_t silence_min_ns = 1'000'000'000;  // and no shorter one
};

class StaleFeedDetector {
 public:
  // An instrument is not judged before so many intervals were seen.
  static constexpr std::uint32_t kIntervalsMin = 16;
  // Instruments looked at by one append_stale(): many of them are looked at in turn.
  static constexpr std::size_t kLookedAtMax = 16;

  // `clock` must outlive the detector; its monotonic time is when a batch arrives.
  StaleFeedDetector(const Clock& clock, const StaleFeedOptions& options);

  // To be called with every batch as it arrives: learns the intervals of the instruments that it
  // updates. A batch counts once for an instrument, however many updates it brings.
  void on_batch(const EventBatch& batch) noexcept;
  // The connection is lost: silence counts again from an instrument's next update on. What was
  // learnt stays.
  void on_disconnect() noexcept;
  // Appends one event for each instrument found stale, once a silence: kEndOfUpdate flagged
  // kStaleFeed, numbered `record`, so that a frame tells the decision. Its exchange time is that of
  // the last update plus the silence. Returns how many.
  std::size_t append_stale(std::uint64_t record, EventBatch& batch) noexcept;

  bool is_stale(InstrumentId instrument) const noexcept {
    return instrument < silences_.size() && silences_[instrument].is_stale;
  }
  // The mean of the intervals, each weighted by its length: what one waits at a moment taken at
  // random, so that bursts do not hide the pauses between them. 0: not known yet.
  std::int64_t usual_interval_ns(InstrumentId instrument) const noexcept;
  std::uint64_t stale_count() const noexcept { return stale_count_; }  // silences found so far

 private:
  struct Silence {
    std::int64_t last_time_ns = 0;  // of the last update, on the clock; valid while is_known
    std::int64_t last_exchange_time_ns = 0;
    std::uint64_t last_sequence = 0;  // the book's own, which the stale event must not change
    // Moving averages of the interval and of its square.
    double interval_ns = 0.0;
    double interval_ns_squared = 0.0;
    std::uint32_t intervals = 0;
    bool is_known = false;  // an update has come since the connection stands
    bool is_stale = false;
  };

  void on_update(const MarketEvent& event, std::int64_t now_ns) noexcept;
  bool turns_stale(const Silence& silence, std::int64_t now_ns) const noexcept;

  const Clock& clock_;
  StaleFeedOptions options_;
  std::vector<Silence> silences_;  // by InstrumentId
  std::size_t next_looked_at_ = 0;
  std::uint64_t stale_count_ = 0;
};

}  // namespace tocsin
