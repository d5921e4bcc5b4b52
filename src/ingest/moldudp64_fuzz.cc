// Any bytes as a capture of MoldUDP64 packets: the container, the headers, the messages.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "ingest/decoders.h"
#include "ingest/packet_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!tocsin::looks_like_capture(bytes)) return 0;
  const auto source = tocsin::make_moldudp64_decoder(tocsin::make_memory_stream("fuzz", bytes), {});
  if (!source.ok()) return 0;
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  while (source.value()->next(batch) == tocsin::SourceStatus::kEvents) {
    ++records;
    TOCSIN_ASSERT(source.value()->counters().records == records);
    TOCSIN_ASSERT(batch.size() <= 2);
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.price_nanos >= 0 && event.quantity_nanos >= 0);
      TOCSIN_ASSERT(event.instrument < source.value()->instruments().size());
      TOCSIN_ASSERT(!event.end_of_update || !event.quality.has(tocsin::Quality::kOutOfOrder));
    }
  }
  return 0;
}
