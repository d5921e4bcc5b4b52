// What a replay does not unpack: blocks made by hand, with hashes that fit.
#include "ingest/segment_source.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace tocsin {
namespace {

MarketEvent order_of(InstrumentId instrument, std::uint64_t record) {
  MarketEvent event;
  event.kind = EventKind::kAddOrder;
  event.instrument = instrument;
  event.record = record;
  event.exchange_time_ns = static_cast<std::int64_t>(record) * 1'000;
  event.order_id = record;
  event.side = Side::kBid;
  event.price_nanos = 1'000'000'000;
  event.quantity_nanos = 1'000'000'000;
  event.end_of_update = true;
  return event;
}

// A segment whose blocks are appended one by one.
class HandmadeSegment {
 public:
  HandmadeSegment()
      : bytes_(encode_recording_header({.source_name = "handmade", .format = "none"})),
        hash_(decode_recording_header(bytes_)->hash) {}

  void append(BlockKind kind, std::span<const std::byte> raw, BlockHeader header,
              std::vector<InstrumentId> instruments) {
    std::vector<std::byte> stored;
    BlockCodec().compress(raw, stored);
    header.kind = kind;
    header.number = static_cast<std::uint32_t>(places_.size() + 1);
    header.raw_bytes = static_cast<std::uint32_t>(raw.size());
    header.stored_bytes = static_cast<std::uint32_t>(stored.size());
    places_.push_back({bytes_.size(), header, std::move(instruments)});
    hash_ = encode_block(header, stored, hash_, bytes_);
  }
  void append_orders(const BlockContent& content, std::vector<InstrumentId> instruments) {
    std::vector<std::byte> raw;
    encode_block_content(content, raw);
    append(BlockKind::kEvents, raw,
           {.event_count = static_cast<std::uint32_t>(content.events.size()),
            .record_count = static_cast<std::uint32_t>(content.events.size()),
            .change_count = content.changes.size()},
           std::move(instruments));
  }
  // A block that says it has three records of an instrument, and holds nothing that can be read.
  void append_unreadable(InstrumentId instrument, std::uint32_t record_count,
                         std::uint64_t change_count) {
    const std::vector<std::byte> raw(5, std::byte{0xFF});
    append(BlockKind::kEvents, raw,
           {.event_count = 3,
            .record_count = record_count,
            .last_record = 5,
            .change_count = change_count},
           {instrument});
  }
  void end() {
    std::vector<std::byte> raw;
    encode_block_end({}, places_, {}, raw);
    append(BlockKind::kLast, raw, {}, {});
  }
  void flip(std::size_t at, std::byte bits) { bytes_[at] ^= bits; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  Digest hash_;
  std::vector<BlockPlace> places_;
};

struct Played {
  std::size_t events = 0;
  std::uint64_t filtered = 0;
  std::uint64_t records = 0;
  std::string error;
};

Played play(const HandmadeSegment& segment, std::vector<std::string> symbols) {
  const std::vector<std::span<const std::byte>> memory = {segment.bytes()};
  const auto source = SegmentSource::over(memory, {std::move(symbols), {}});
  Played played;
  if (!source.ok()) {
    played.error = source.error().message();
    return played;
  }
  EventBatch batch;
  SourceStatus status = SourceStatus::kEvents;
  while ((status = (*source)->next(batch)) == SourceStatus::kEvents) {
    played.events += batch.size();
    played.records = (*source)->counters().records;
  }
  played.filtered = (*source)->counters().filtered;
  if (status == SourceStatus::kError) played.error = (*source)->error().message();
  return played;
}

// Orders of A and of B, then the block of B that cannot be read, then an order of A.
HandmadeSegment with_unreadable_block(std::uint32_t record_count, std::uint64_t change_count) {
  HandmadeSegment segment;
  segment.append_orders({.changes = {{1, 0, {"A"}}, {2, 1, {"B"}}},
                         .account = {},
                         .events = {order_of(0, 1), order_of(1, 2)}},
                        {0, 1});
  segment.append_unreadable(1, record_count, change_count);
  segment.append_orders({.changes = {}, .account = {}, .events = {order_of(0, 6)}}, {0});
  segment.end();
  return segment;
}

TEST(SegmentSource, DoesNotUnpackBlocksOfOtherInstruments) {
  const HandmadeSegment segment = with_unreadable_block(3, 0);
  const Played a = play(segment, {"A"});
  EXPECT_EQ(a.error, "");
  EXPECT_EQ(a.events, 2U);
  EXPECT_EQ(a.filtered, 4U);
  EXPECT_EQ(a.records, 6U);
  for (const std::vector<std::string>& symbols : {std::vector<std::string>{}, {"B"}, {"A", "B"}}) {
    const Played all = play(segment, symbols);
    EXPECT_NE(all.error.find("does not hold what its header says"), std::string::npos) << all.error;
  }
}

TEST(SegmentSource, UnpacksABlockThatChangesAnInstrumentOrCountsNoRecords) {
  for (const Played& a :
       {play(with_unreadable_block(3, 1), {"A"}), play(with_unreadable_block(0, 0), {"A"})}) {
    EXPECT_EQ(a.events, 1U);
    EXPECT_NE(a.error.find("does not hold what its header says"), std::string::npos) << a.error;
  }
}

TEST(SegmentSource, PassesNoBlockByAnIndexThatWasChanged) {
  const HandmadeSegment whole = with_unreadable_block(3, 0);
  HandmadeSegment changed = whole;
  changed.flip(changed.bytes().size() - sizeof(Digest) - 1, std::byte{0x10});
  const Played a = play(changed, {"A"});
  EXPECT_EQ(a.events, 1U);
  EXPECT_NE(a.error.find("does not hold what its header says"), std::string::npos) << a.error;
}

TEST(SegmentSource, FindsAChangedByteInABlockThatItPasses) {
  const HandmadeSegment whole = with_unreadable_block(3, 0);
  std::size_t before_end = 0;
  for (std::size_t at = 200; at + 100 < whole.bytes().size(); ++at) {
    HandmadeSegment changed = whole;
    changed.flip(at, std::byte{1});
    const Played a = play(changed, {"A"});
    EXPECT_NE(a.error, "") << at;
    before_end += a.events == 1 ? 1 : 0;
  }
  EXPECT_GT(before_end, 0U);
}

}  // namespace
}  // namespace tocsin
