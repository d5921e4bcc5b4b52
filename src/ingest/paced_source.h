// Releases another source's records at a multiple of their recorded pace, by receive time, or
// evenly. As fast as possible is the source itself, without this around it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "ingest/source.h"

namespace tocsin {

// One of the two is finite and above zero; neither: as fast as possible.
struct Pace {
  double speed = 0;          // multiple of the recorded pace
  double records_per_s = 0;  // evenly, whatever the record says: for load tests

  bool is_set() const noexcept { return speed > 0 || records_per_s > 0; }
};

class PacedSource final : public Source {
 public:
  // One next() waits this long at most; if the record is not due by then, the batch is empty, so
  // that the caller can stop between two calls.
  static constexpr std::int64_t kWaitMaxNs = 50'000'000;

  // `pace` is set. `clock` must outlive the source. The first record with events is released at
  // once; the others by their distance from it: of receive times, or in records with events. A
  // record whose receive time lies before that of an earlier one is released at once too.
  PacedSource(std::unique_ptr<Source> source, Clock& clock, Pace pace);

  SourceStatus next(EventBatch& batch) noexcept override;
  bool is_due() noexcept override;
  bool is_paced() const noexcept override { return true; }
  std::optional<std::int64_t> decode_ns() const noexcept override { return decode_ns_; }
  void interrupt() noexcept override { source_->interrupt(); }
  void resynchronise(InstrumentId instrument) noexcept override {
    source_->resynchronise(instrument);
  }
  const Error& error() const noexcept override { return source_->error(); }
  // These run ahead of the batches by the record that waits.
  const SourceCounters& counters() const noexcept override { return source_->counters(); }
  std::span<const InputFault> faults() const noexcept override { return source_->faults(); }
  std::span<const Instrument> instruments() const noexcept override {
    return source_->instruments();
  }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override {
    return source_->counts_by_type();
  }
  double progress() const noexcept override { return source_->progress(); }

 private:
  SourceStatus fetch() noexcept;
  std::int64_t due_time_ns(std::int64_t receive_time_ns) noexcept;

  std::unique_ptr<Source> source_;
  Clock& clock_;
  Pace pace_;
  EventBatch waiting_;  // the record that is not due yet; empty: none
  std::int64_t waiting_due_ns_ = 0;
  std::int64_t decode_ns_ = 0;      // of the record fetched last
  std::uint64_t record_count_ = 0;  // with events
  std::int64_t first_receive_time_ns_ = 0;
  std::int64_t start_time_ns_ = 0;  // on clock_'s monotonic line
};

}  // namespace tocsin
