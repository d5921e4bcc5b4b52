// Releases another source's records at a multiple of their recorded pace, by receive time. As fast
// as possible is the source itself, without this around it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "ingest/source.h"

namespace tocsin {

class PacedSource final : public Source {
 public:
  // One next() waits this long at most; if the record is not due by then, the batch is empty, so
  // that the caller can stop between two calls.
  static constexpr std::int64_t kWaitMaxNs = 50'000'000;

  // `speed` is finite and above zero: 2 is twice the recorded pace. `clock` must outlive the
  // source. The first record with events is released at once; the others by their distance from it.
  // A record whose receive time lies before that of an earlier one is released at once too.
  PacedSource(std::unique_ptr<Source> source, Clock& clock, double speed);

  SourceStatus next(EventBatch& batch) noexcept override;
  bool is_due() noexcept override;
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
  double speed_;
  EventBatch waiting_;  // the record that is not due yet; empty: none
  std::int64_t waiting_due_ns_ = 0;
  bool started_ = false;
  std::int64_t first_receive_time_ns_ = 0;
  std::int64_t start_time_ns_ = 0;  // on clock_'s monotonic line
};

}  // namespace tocsin
