// Any bytes as a recording of Kraken: every record is accounted for, whatever it holds.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "ingest/kraken_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Lines are what is tested here; compression has its own target, and may unpack to gigabytes.
  if (size > 0 && (data[0] < '0' || data[0] > 'z')) return 0;
  tocsin::KrakenDecoder decoder(
      tocsin::make_memory_stream("fuzz", std::as_bytes(std::span(data, size))), {});
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  while (decoder.next(batch) == tocsin::SourceStatus::kEvents) {
    ++records;
    events += batch.size();
    TOCSIN_ASSERT(decoder.counters().records == records);
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.instrument < decoder.instruments().size());
      TOCSIN_ASSERT(event.price_nanos >= 0 && event.quantity_nanos >= 0);
    }
  }
  TOCSIN_ASSERT(decoder.counters().events == events);
  TOCSIN_ASSERT(decoder.counters().malformed <= records);
  for (const tocsin::Instrument& instrument : decoder.instruments()) {
    TOCSIN_ASSERT(instrument.price_tick_nanos > 0 && instrument.quantity_step_nanos > 0);
    TOCSIN_ASSERT(instrument.price_decimals >= 0 && instrument.quantity_decimals >= 0);
  }
  return 0;
}
