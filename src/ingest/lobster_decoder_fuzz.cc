// Any bytes as a LOBSTER pair: the message file up to a line "%", the book file behind it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "ingest/lobster_decoder.h"

namespace {

std::unique_ptr<tocsin::ByteStream> stream_of(const char* name, std::string_view text) {
  return tocsin::make_memory_stream(name, std::as_bytes(std::span(text)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find("%\n");
  const std::string_view messages = text.substr(0, cut);
  const std::string_view book = cut == std::string_view::npos ? "" : text.substr(cut + 2);
  // Rows are what is tested here; compression has its own target, and may unpack to gigabytes.
  for (const std::string_view part : {messages, book}) {
    if (part.starts_with('\x1F') || part.starts_with('\x28') || part.starts_with('P')) return 0;
  }
  tocsin::LobsterDecoder decoder(stream_of("ACME_2012-06-21_1_2_message_1.csv", messages),
                                 stream_of("book", book), {});
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  while (decoder.next(batch) == tocsin::SourceStatus::kEvents) {
    ++records;
    events += batch.size();
    TOCSIN_ASSERT(records > 0 && decoder.counters().records == records);
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.price_nanos >= 0 && event.quantity_nanos >= 0);
      TOCSIN_ASSERT(event.end_of_update == (&event == &batch.back()));
    }
  }
  TOCSIN_ASSERT(decoder.counters().events == events);
  return 0;
}
