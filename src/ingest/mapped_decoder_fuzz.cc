// Any lines by any map: the map stands before a line "---", the lines behind it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "ingest/mapped_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kMark = "\n---\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return 0;
  auto map = tocsin::parse_feed_map(text.substr(0, mark), "fuzz.yaml");
  if (!map.ok()) return 0;
  const std::string_view lines = text.substr(mark + kMark.size());
  // Lines are what is tested here; compression has its own target, and may unpack to gigabytes.
  if (!lines.empty() && (lines[0] < ' ' || lines[0] > '~' || lines[0] == '(')) return 0;
  tocsin::MappedDecoder decoder(tocsin::make_memory_stream("fuzz", std::as_bytes(std::span(lines))),
                                {}, *std::move(map));
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
  for (const tocsin::Instrument& instrument : decoder.instruments())
    TOCSIN_ASSERT(instrument.price_tick_nanos > 0 && instrument.quantity_step_nanos > 0);
  return 0;
}
