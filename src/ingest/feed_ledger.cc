// Counting and naming only: what a finding means for a book is the decoder's to flag.
#include "ingest/feed_ledger.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/printable_text.h"

namespace tocsin {

FeedLedger::FeedLedger(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  faults_.reserve(kMaxFaults);
}

void FeedLedger::add_fault(std::string message) {
  if (!keeps_faults()) return;
  if (place_ != nullptr) message.insert(0, place_->place());
  faults_.push_back({counters_.records, printable_text(message)});
}

void FeedLedger::count_malformed(std::string_view what) {
  ++counters_.malformed;
  if (keeps_faults()) add_fault(std::string(what));
}

void FeedLedger::count_bad_quantity(std::string_view what) {
  ++counters_.bad_quantity;
  if (keeps_faults()) add_fault(std::string(what));
}

bool FeedLedger::wants(std::string_view symbol) const noexcept {
  return symbols_.empty() || std::find(symbols_.begin(), symbols_.end(), symbol) != symbols_.end();
}

InstrumentId FeedLedger::add_instrument(Instrument instrument) {
  instrument.symbol = printable_text(instrument.symbol);
  instruments_.push_back(std::move(instrument));
  return static_cast<InstrumentId>(instruments_.size() - 1);
}

void FeedLedger::rename_instrument(InstrumentId id, std::string_view symbol) {
  TOCSIN_ASSERT(id < instruments_.size());
  instruments_[id].symbol = printable_text(symbol);
}

void FeedLedger::set_price_tick(InstrumentId id, std::int64_t price_tick_nanos) noexcept {
  TOCSIN_ASSERT(id < instruments_.size() && price_tick_nanos > 0);
  instruments_[id].price_tick_nanos = price_tick_nanos;
}

QualityFlags FeedLedger::count_sequence(const SequenceFinding& finding) noexcept {
  if (finding.quality.has(Quality::kGap)) ++counters_.gaps;
  if (finding.quality.has(Quality::kDuplicate)) ++counters_.duplicates;
  if (finding.quality.has(Quality::kOutOfOrder)) ++counters_.out_of_order;
  counters_.missing += finding.missing_count;
  return finding.quality;
}

QualityFlags FeedLedger::check_time(std::int64_t exchange_time_ns) noexcept {
  QualityFlags quality;
  if (exchange_time_ns < last_exchange_time_ns_) {
    ++counters_.time_backwards;
    quality |= Quality::kTimeBackwards;
  }
  last_exchange_time_ns_ = exchange_time_ns;
  return quality;
}

}  // namespace tocsin
