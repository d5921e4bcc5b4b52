// Any bytes as a DBN file: its header, then its records.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "ingest/dbn_metadata.h"
#include "ingest/decoders.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!tocsin::looks_like_dbn(bytes)) return 0;
  const auto source = tocsin::make_dbn_decoder(tocsin::make_memory_stream("fuzz", bytes), {});
  if (!source.ok()) return 0;
  constexpr std::size_t kEventsOfMbp10Max = 22;  // a trade, a clear and ten levels a side
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  while (source.value()->next(batch) == tocsin::SourceStatus::kEvents) {
    ++records;
    TOCSIN_ASSERT(source.value()->counters().records == records);
    TOCSIN_ASSERT(batch.size() <= kEventsOfMbp10Max);
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.quantity_nanos >= 0);
      TOCSIN_ASSERT(event.instrument < source.value()->instruments().size());
      TOCSIN_ASSERT(!event.end_of_update || &event == &batch.back());
    }
  }
  return 0;
}
