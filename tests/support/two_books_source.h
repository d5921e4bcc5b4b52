// A source for tests of recordings: two books, and an end of any kind.
#pragma once

#include <signal.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingest/source.h"

namespace tocsin {

struct TwoBooksOptions {
  std::uint64_t run_records = 1;       // of one instrument, before the other's turn
  std::uint64_t dies_at = UINT64_MAX;  // its process is killed at this record
  std::string failure = {};            // it ends with an error of this text
};

// Orders of two instruments, one a record, in turns.
class TwoBooksSource final : public Source {
 public:
  explicit TwoBooksSource(std::uint64_t record_count, TwoBooksOptions options = {})
      : record_count_(record_count),
        options_(std::move(options)),
        error_(options_.failure.empty() ? ErrorCode::kOk : ErrorCode::kDataLoss, options_.failure) {
  }
  SourceStatus next(EventBatch& batch) noexcept override {
    batch.clear();
    if (counters_.records == record_count_)
      return error_.message().empty() ? SourceStatus::kEnd : SourceStatus::kError;
    if (++counters_.records == options_.dies_at) ::raise(SIGKILL);
    MarketEvent event;
    event.record = counters_.records;
    event.exchange_time_ns = static_cast<std::int64_t>(counters_.records) * 1'000;
    event.receive_time_ns = event.exchange_time_ns + 7;
    event.sequence = counters_.records;
    event.kind = EventKind::kAddOrder;
    event.order_id = counters_.records;
    event.side = counters_.records % 4 < 2 ? Side::kBid : Side::kAsk;
    event.price_nanos = (event.side == Side::kBid ? 99 : 101) * 1'000'000'000LL;
    event.quantity_nanos = 1'000'000'000;
    event.instrument = static_cast<InstrumentId>(counters_.records / options_.run_records % 2);
    event.end_of_update = true;
    batch.push_back(event);
    ++counters_.events;
    return SourceStatus::kEvents;
  }
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return {}; }
  std::span<const Instrument> instruments() const noexcept override { return instruments_; }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override {
    return {{"add", counters_.events}};
  }
  double progress() const noexcept override { return 0; }

 private:
  std::uint64_t record_count_;
  TwoBooksOptions options_;
  SourceCounters counters_;
  std::vector<Instrument> instruments_{
      {"EVEN"}, {"ODD", 1'000, 2'000, 3, 4, ModifyPriority::kLostUnlessDecreased}};
  Error error_;
};

}  // namespace tocsin
