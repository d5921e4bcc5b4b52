// Any bytes as Shenzhen's table of snapshots.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "ingest/szse_snapshot_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Compression has its own target, and may unpack to gigabytes.
  if (text.starts_with('\x1F') || text.starts_with('\x28')) return 0;
  auto opened = tocsin::SzseSnapshotDecoder::open(
      tocsin::make_memory_stream("tick.csv", std::as_bytes(std::span(data, size))), {});
  if (!opened.ok()) return 0;
  tocsin::Source& source = **opened;
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  while (source.next(batch) == tocsin::SourceStatus::kEvents) {
    TOCSIN_ASSERT(source.counters().records == ++records);
    events += batch.size();
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.price_nanos >= 0 && event.quantity_nanos >= 0);
      TOCSIN_ASSERT(event.end_of_update == (&event == &batch.back()));
    }
  }
  TOCSIN_ASSERT(source.counters().events == events);
  return 0;
}
