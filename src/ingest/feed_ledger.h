// What a feed's decoder keeps account of, whatever carries the feed: counters, faults with their
// place, instruments, the symbols that were asked for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/gap_detector.h"
#include "ingest/source.h"

namespace tocsin {

// Names where in its carrier a decoder stands, for faults: "packet 7, message 2 of 3: ".
class FaultPlace {
 public:
  virtual ~FaultPlace() = default;
  virtual std::string place() const = 0;
};

class FeedLedger {
 public:
  explicit FeedLedger(std::vector<std::string> symbols);

  SourceCounters& counts() noexcept { return counters_; }
  const SourceCounters& counts() const noexcept { return counters_; }
  std::span<const InputFault> kept_faults() const noexcept { return faults_; }
  std::span<const Instrument> known_instruments() const noexcept { return instruments_; }

  // Faults are put behind what `place` says from now on; null: behind nothing. It must outlive the
  // last fault that is added.
  void set_place(const FaultPlace* place) noexcept { place_ = place; }
  // Records a fault at the current record (counters_.records); kept up to kMaxFaults. Does not
  // count: the caller adds to the counter that fits. Kept as printable_text().
  void add_fault(std::string message);
  // False once kMaxFaults are kept: the caller need not put a message together.
  bool keeps_faults() const noexcept { return faults_.size() < kMaxFaults; }
  // Counts a malformed record, with a fault.
  void count_malformed(std::string_view what);
  // Counts a record whose price or quantity cannot be, with a fault.
  void count_bad_quantity(std::string_view what);

  // True if no symbols were asked for, or this one was.
  bool wants(std::string_view symbol) const noexcept;
  std::span<const std::string> asked_symbols() const noexcept { return symbols_; }
  // The symbol is kept as printable_text().
  InstrumentId add_instrument(Instrument instrument);
  // For feeds that give the name, or the grid, after the first event.
  void rename_instrument(InstrumentId id, std::string_view symbol);
  // Before the instrument's first event.
  void set_price_tick(InstrumentId id, std::int64_t price_tick_nanos) noexcept;

  // Counts what a sequence check found and returns its flags.
  QualityFlags count_sequence(const SequenceFinding& finding) noexcept;
  // Flags kTimeBackwards and counts it if `exchange_time_ns` lies below the last one given.
  QualityFlags check_time(std::int64_t exchange_time_ns) noexcept;

 protected:
  SourceCounters counters_;

 private:
  std::vector<std::string> symbols_;
  std::vector<Instrument> instruments_;
  std::vector<InputFault> faults_;
  const FaultPlace* place_ = nullptr;
  std::int64_t last_exchange_time_ns_ = INT64_MIN;
};

}  // namespace tocsin
