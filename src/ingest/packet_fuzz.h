// Any bytes as datagrams for a packet protocol: each behind its length (two bytes, big-endian), as
// the corpus writes them. What must hold for every source is asserted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "ingest/feed_ledger.h"
#include "ingest/packet_protocol.h"
#include "ingest/wire_reader.h"

namespace tocsin {

template <typename Protocol, typename... Arguments>
void feed_datagrams(std::span<const std::byte> bytes, const Arguments&... arguments) {
  FeedLedger ledger({});
  Protocol protocol(ledger, arguments...);
  EventBatch batch;
  std::uint64_t records = 0;
  const auto check = [&] {
    ++records;
    TOCSIN_ASSERT(ledger.counts().records == records);
    for (const MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.instrument < ledger.known_instruments().size());
      TOCSIN_ASSERT(event.quantity_nanos >= 0);
      TOCSIN_ASSERT(!event.end_of_update || !event.quality.has(Quality::kOutOfOrder));
    }
    batch.clear();
  };
  std::uint64_t number = 0;
  WireReader reader(bytes);
  while (!reader.left().empty()) {
    const std::size_t size =
        std::min<std::size_t>(reader.big<std::uint16_t>(), reader.left().size());
    const std::span<const std::byte> payload = reader.take(size);
    ++number;
    (void)protocol.range_of(payload);
    protocol.take({.payload = payload,
                   .receive_time_ns = static_cast<std::int64_t>(number * 1'000),
                   .number = number,
                   .destination = number % 3},
                  batch);
    check();
    while (protocol.has_message()) {
      protocol.next_message(batch);
      check();
    }
  }
  (void)protocol.venue();
  (void)protocol.counts_by_type();
}

}  // namespace tocsin
