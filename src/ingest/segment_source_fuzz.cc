// Any bytes as a segment; and, with the hashes that would have kept them out put right, as the
// content of its blocks, or of the end block of a failed source: the first byte chooses.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.h"
#include "ingest/segment_source.h"

namespace {

// A segment with a block of `raw` of each of these kinds.
std::vector<std::byte> segment_around(std::span<const std::byte> raw, std::uint8_t event_count,
                                      std::span<const tocsin::BlockKind> kinds) {
  using namespace tocsin;
  std::vector<std::byte> bytes = encode_recording_header({.source_name = "fuzz", .format = "none"});
  Digest hash = decode_recording_header(bytes)->hash;
  BlockCodec codec;
  std::vector<std::byte> stored;
  codec.compress(raw, stored);
  BlockHeader header;
  header.event_count = event_count;
  header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.number = 0;
  for (const BlockKind kind : kinds) {
    header.kind = kind;
    ++header.number;
    hash = encode_block(header, stored, hash, bytes);
  }
  return bytes;
}

constexpr tocsin::BlockKind kEventsAndEnd[] = {tocsin::BlockKind::kEvents,
                                               tocsin::BlockKind::kLast};
constexpr tocsin::BlockKind kFailedEnd[] = {tocsin::BlockKind::kFailed};

// All of it, with what holds of any source.
void play(std::span<const std::byte> bytes, const tocsin::SegmentSourceOptions& options) {
  auto opened = tocsin::SegmentSource::over({bytes}, options);
  if (!opened.ok()) return;
  tocsin::Source& source = **opened;
  tocsin::EventBatch batch;
  std::uint64_t events = 0;
  while (source.next(batch) == tocsin::SourceStatus::kEvents) {
    TOCSIN_ASSERT(!batch.empty());
    events += batch.size();
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == batch.front().record);
      TOCSIN_ASSERT(event.instrument < source.instruments().size());
    }
  }
  TOCSIN_ASSERT(source.counters().events == events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(2);
  std::vector<std::byte> wrapped;
  if (data[0] != 0) {
    wrapped = data[0] == 1 ? segment_around(bytes, data[1], kEventsAndEnd)
                           : segment_around(bytes, data[1], kFailedEnd);
    bytes = wrapped;
  }
  if (bytes.data() == nullptr) return 0;
  // Of some symbols it is read by its index.
  play(bytes, {});
  play(bytes, {.symbols = {"A"}, .from_time_ns = {}});
  return 0;
}
