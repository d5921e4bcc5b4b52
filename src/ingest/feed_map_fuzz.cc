// Any bytes as a map: refused with a reason, or one whose every message can be read by.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "ingest/feed_map.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto map = tocsin::parse_feed_map({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!map.ok()) {
    TOCSIN_ASSERT(!map.error().message().empty());
    return 0;
  }
  TOCSIN_ASSERT(!map->messages.empty());
  for (const tocsin::MessageMap& message : map->messages) {
    const bool is_book =
        message.kind == tocsin::MappedKind::kSnapshot || message.kind == tocsin::MappedKind::kDiff;
    if (message.kind != tocsin::MappedKind::kTicker)
      TOCSIN_ASSERT(message.price.is_told() && message.quantity.is_told());
    if (is_book) TOCSIN_ASSERT(message.bids.is_told() || message.side.is_told());
  }
  return 0;
}
