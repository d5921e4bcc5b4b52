// DBN records and what they do to a book, snapshots, the end of updates, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/allocation_counter.h"
#include "ingest/dbn_metadata.h"
#include "ingest/decoders.h"
#include "ingest/feed_bytes.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr std::uint8_t kLast = 0x80;
constexpr std::uint8_t kTopOfBook = 0x40;
constexpr std::uint8_t kSnapshot = 0x20;
constexpr std::uint16_t kSchemaTbbo = 3;
constexpr std::uint16_t kSchemaTrades = 4;

Bytes file_of(const std::vector<Bytes>& records, const DbnHeader& header = {}) {
  Bytes file = dbn_header(header);
  for (const Bytes& record : records) file.insert(file.end(), record.begin(), record.end());
  return file;
}

DrainedSource decode(const Bytes& file, const FileSourceOptions& options = {}) {
  return drain_made(make_dbn_decoder(make_memory_stream("test.dbn", file), options));
}

TEST(DbnDecoder, YieldsAnOrdersLife) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.time_ns = 1'000, .sequence = 5, .side = 'A', .size = 7, .order_id = 42}),
      dbn_mbo({.action = 'M', .side = 'A', .price_nanos = 4'800'250'000'000, .size = 3}),
      dbn_mbo({.action = 'C', .side = 'A', .size = 2}),
      dbn_mbo({.action = 'M', .side = 'A', .size = 0}),
  }));
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kAddOrder, EventKind::kModifyOrder,
                                          EventKind::kReduceOrder, EventKind::kDeleteOrder}));
  const MarketEvent& add = decoded.events[0];
  EXPECT_EQ(add.order_id, 42U);
  EXPECT_EQ(add.side, Side::kAsk);
  EXPECT_EQ(add.price_nanos, 4'800 * kNanos);
  EXPECT_EQ(add.quantity_nanos, 7 * kNanos);
  EXPECT_EQ(add.exchange_time_ns, 1'000);
  EXPECT_EQ(add.receive_time_ns, 1'010);
  EXPECT_EQ(add.sequence, 5U);
  EXPECT_TRUE(add.end_of_update);
  EXPECT_FALSE(add.quality.any());
  EXPECT_EQ(decoded.events[1].price_nanos, 4'800'250'000'000);
  EXPECT_EQ(decoded.events[2].quantity_nanos, 2 * kNanos);
  EXPECT_EQ(decoded.instruments.at(0).symbol, "ESH4");
}

TEST(DbnDecoder, TakesTheAggressorsSideFromTradesAndNothingFromFills) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.action = 'T', .side = 'A', .flags = 0, .size = 4}),
      dbn_mbo({.action = 'F', .side = 'B', .flags = 0, .size = 4}),
      dbn_mbo({.action = 'C', .side = 'B', .flags = kLast, .size = 4}),
  }));
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kTrade, EventKind::kReduceOrder}));
  EXPECT_EQ(decoded.events[0].side, Side::kAsk);
  EXPECT_FALSE(decoded.events[0].end_of_update);
  EXPECT_TRUE(decoded.events[1].end_of_update);
  EXPECT_EQ(decoded.counters.ignored, 1U);
  EXPECT_EQ(decoded.by_type.at("mbo fill"), 1U);
}

TEST(DbnDecoder, EndsAnUpdateWhoseLastRecordChangesNoBook) {
  for (const char action : {'F', 'N'}) {
    const DrainedSource decoded =
        decode(file_of({dbn_mbo({.action = 'C', .flags = 0}),
                        dbn_mbo({.sequence = 9, .action = action, .flags = kLast})}));
    ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kReduceOrder, EventKind::kEndOfUpdate}));
    EXPECT_FALSE(decoded.events[0].end_of_update);
    EXPECT_TRUE(decoded.events[1].end_of_update);
    EXPECT_EQ(decoded.events[1].sequence, 9U);
    EXPECT_EQ(decoded.events[1].record, 2U);
  }
}

TEST(DbnDecoder, TranslatesFlags) {
  const DrainedSource decoded = decode(file_of({dbn_mbo({.flags = kLast | 0x08 | 0x04})}));
  EXPECT_EQ(decoded.events.at(0).quality, Quality::kBadTimestamp | Quality::kVenueSuspect);
}

TEST(DbnDecoder, ClearsTheBookBeforeASnapshotThatDoesNot) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.sequence = 700, .flags = kSnapshot, .order_id = 1}),
      dbn_mbo({.sequence = 600, .flags = kSnapshot, .order_id = 2}),
      dbn_mbo({.time_ns = 2'000, .sequence = 900}),
      dbn_mbo({.sequence = 100, .flags = kSnapshot}),
  }));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kAddOrder, EventKind::kAddOrder,
                         EventKind::kAddOrder, EventKind::kClear, EventKind::kAddOrder}));
  EXPECT_EQ(decoded.events[0].side, Side::kNone);
  for (const std::size_t i : {0U, 1U, 2U, 4U, 5U}) {
    EXPECT_TRUE(decoded.events[i].quality.has(Quality::kSnapshot)) << i;
    EXPECT_FALSE(decoded.events[i].end_of_update) << i;
  }
  EXPECT_FALSE(decoded.events[3].quality.any());
  EXPECT_EQ(decoded.counters.out_of_order, 0U) << "a snapshot's numbers are of long ago";
}

TEST(DbnDecoder, TakesASnapshotsOwnClear) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.action = 'R', .side = 'N', .flags = kSnapshot, .price_nanos = INT64_MAX}),
      dbn_mbo({.flags = kSnapshot}),
      dbn_mbo({.flags = kSnapshot | kLast}),
      dbn_mbo({.action = 'R', .side = 'N', .price_nanos = INT64_MAX}),
  }));
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kClear, EventKind::kAddOrder,
                                          EventKind::kAddOrder, EventKind::kClear}));
  EXPECT_TRUE(decoded.events[2].end_of_update);
  EXPECT_FALSE(decoded.events[3].quality.any());
}

TEST(DbnDecoder, SetsTheBestLevelForPublishersWithoutOrders) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.side = 'A', .flags = kLast | kTopOfBook, .size = 9}),
      dbn_mbo({.side = 'A', .flags = kLast | kTopOfBook, .price_nanos = INT64_MAX, .size = 0}),
  }));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kSetLevel, EventKind::kClear}));
  EXPECT_EQ(decoded.events[0].side, Side::kAsk);
  EXPECT_EQ(decoded.events[1].quantity_nanos, 9 * kNanos);
  EXPECT_TRUE(decoded.events[2].end_of_update);
}

TEST(DbnDecoder, ReplacesTheBookByTheLevelsOfMbp) {
  std::vector<DbnLevel> ten(10);
  ten[0] = {100 * kNanos, 101 * kNanos, 5, 6};
  ten[1] = {99 * kNanos, INT64_MAX, 7, 0};
  const DrainedSource decoded =
      decode(file_of({dbn_levels({.action = 'T', .side = 'B', .price_nanos = 101 * kNanos}, ten)}));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kTrade, EventKind::kClear, EventKind::kSetLevel,
                         EventKind::kSetLevel, EventKind::kSetLevel}));
  EXPECT_EQ(decoded.events[0].side, Side::kBid);
  EXPECT_EQ(decoded.events[2].side, Side::kBid);
  EXPECT_EQ(decoded.events[2].price_nanos, 100 * kNanos);
  EXPECT_EQ(decoded.events[2].quantity_nanos, 5 * kNanos);
  EXPECT_EQ(decoded.events[3].side, Side::kAsk);
  EXPECT_EQ(decoded.events[4].quantity_nanos, 7 * kNanos);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(decoded.events[i].end_of_update, i == 4) << i;
}

TEST(DbnDecoder, ClearsTheBookOfAnMbpRecordWithoutLevels) {
  const DrainedSource decoded = decode(file_of({dbn_levels({.action = 'C'}, {DbnLevel{}})}));
  ASSERT_EQ(decoded.kinds(), std::vector{EventKind::kClear});
  EXPECT_TRUE(decoded.events[0].end_of_update);
}

TEST(DbnDecoder, PutsTheTradeOfTbboAfterTheLevelsThatItHit) {
  const DrainedSource decoded =
      decode(file_of({dbn_levels({.action = 'T'}, {{100 * kNanos, 101 * kNanos, 5, 6}})},
                     {.schema = kSchemaTbbo}));
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kClear, EventKind::kSetLevel,
                                          EventKind::kSetLevel, EventKind::kTrade}));
  EXPECT_TRUE(decoded.events[3].end_of_update);
}

TEST(DbnDecoder, TakesEachRecordOfTradesForAnUpdate) {
  const DrainedSource decoded =
      decode(file_of({dbn_levels({.action = 'T', .flags = 0}, {})}, {.schema = kSchemaTrades}));
  ASSERT_EQ(decoded.kinds(), std::vector{EventKind::kTrade});
  EXPECT_TRUE(decoded.events[0].end_of_update);
}

TEST(DbnDecoder, FlagsARecordThatIsEarlierInNumberAndTime) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.time_ns = 2'000, .sequence = 20, .order_id = 1}),
      dbn_mbo({.time_ns = 1'000, .sequence = 10, .order_id = 2}),
      dbn_mbo({.time_ns = 3'000, .sequence = 1, .order_id = 3}),
      dbn_mbo({.time_ns = 2'900, .sequence = 1, .order_id = 4}),
  }));
  ASSERT_EQ(decoded.events.size(), 4U);
  EXPECT_EQ(decoded.events[1].quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_FALSE(decoded.events[1].end_of_update);
  EXPECT_FALSE(decoded.events[2].quality.any()) << "the venue began to count anew";
  EXPECT_EQ(decoded.events[3].quality, QualityFlags(Quality::kTimeBackwards));
  EXPECT_EQ(decoded.counters.out_of_order, 1U);
  EXPECT_EQ(decoded.counters.time_backwards, 1U);
}

TEST(DbnDecoder, FlagsShuffledRecords) {
  constexpr unsigned kSeed = 20260501;
  SCOPED_TRACE(kSeed);
  std::vector<Bytes> records;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    records.push_back(dbn_mbo({.time_ns = 1'000ULL * i, .sequence = i, .order_id = i}));
  }
  std::shuffle(records.begin(), records.end(), std::mt19937(kSeed));
  const DrainedSource decoded = decode(file_of(records));
  EXPECT_EQ(decoded.events.size(), 100U);
  EXPECT_GT(decoded.counters.out_of_order, 50U);
}

TEST(DbnDecoder, CountsRecordsWithoutAPriceASideOrAnAction) {
  const DrainedSource decoded = decode(file_of({
      dbn_mbo({.order_id = 1}),
      dbn_mbo({.price_nanos = INT64_MAX}),
      dbn_mbo({.action = 'T', .size = 0}),
      dbn_mbo({.side = 'N'}),
      dbn_mbo({.action = 'Z'}),
      dbn_mbo({.order_id = 2}),
      dbn_mbo({.order_id = 3}),
  }));
  EXPECT_EQ(decoded.counters.bad_quantity, 2U);
  EXPECT_EQ(decoded.counters.malformed, 2U);
  ASSERT_EQ(decoded.faults.size(), 4U);
  EXPECT_EQ(decoded.faults[3].message, "an mbo record of an unknown action");
  EXPECT_EQ(decoded.faults[3].record, 5U);
  EXPECT_EQ(decoded.by_type.at("mbo unreadable"), 1U);
  // Each loss is told by what comes next, be it only the end of the same record's update.
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
  EXPECT_FALSE(decoded.events.back().quality.has(Quality::kGap));
}

TEST(DbnDecoder, UsesTheOtherTimeWhereOneIsMissing) {
  const DrainedSource decoded = decode(file_of({dbn_mbo({.time_ns = UINT64_MAX})}));
  // The builder's receive time wraps around to nine.
  EXPECT_EQ(decoded.events.at(0).exchange_time_ns, 9);
}

TEST(DbnDecoder, KeepsPublishersApart) {
  const Bytes file = file_of(
      {dbn_mbo({.publisher_id = 2}), dbn_mbo({.publisher_id = 3}), dbn_mbo({.publisher_id = 2})});
  const DrainedSource decoded = decode(file);
  ASSERT_EQ(decoded.instruments.size(), 2U);
  EXPECT_EQ(decoded.instruments[0].symbol, "ESH4");
  EXPECT_EQ(decoded.instruments[1].symbol, "ESH4@3");
  EXPECT_EQ(decoded.events[2].instrument, 0U);
}

TEST(DbnDecoder, PassesOverWhatWasNotAskedFor) {
  const Bytes file = file_of({dbn_mbo({}), dbn_mbo({.instrument_id = 5}), dbn_mbo({})});
  FileSourceOptions options;
  options.symbols = {"5"};  // an instrument without a name goes by its number
  const DrainedSource decoded = decode(file, options);
  EXPECT_EQ(decoded.counters.filtered, 2U);
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_EQ(decoded.instruments[0].symbol, "5");
}

TEST(DbnDecoder, TakesPriceStepsFromDefinitionsThenOptions) {
  const auto definition = [](std::uint32_t instrument_id) {
    return dbn_record_header(0x13, 520, {.instrument_id = instrument_id})
        .zeros(8)
        .little<std::int64_t>(250'000'000)
        .zeros(488)
        .bytes();
  };
  const Bytes file = file_of({definition(17077), dbn_mbo({}), dbn_mbo({.instrument_id = 5})});
  FileSourceOptions options;
  EXPECT_EQ(decode(file, options).instruments.at(1).price_tick_nanos, 10'000'000);
  options.price_tick_nanos = 5'000'000;
  const DrainedSource decoded = decode(file, options);
  EXPECT_EQ(decoded.instruments.at(0).price_tick_nanos, 250'000'000);
  EXPECT_EQ(decoded.instruments.at(1).price_tick_nanos, 5'000'000);
  EXPECT_EQ(decoded.counters.ignored, 1U);
  options.price_tick_nanos = -1;
  EXPECT_EQ(decode(file, options).code, ErrorCode::kInvalidArgument);
}

TEST(DbnDecoder, NamesInstrumentsByMappingRecordsOfLiveData) {
  for (std::uint8_t version = 1; version <= kDbnVersionMax; ++version) {
    const bool is_version1 = version == 1;
    const std::size_t symbol_bytes = is_version1 ? 22 : 71;
    FeedBytes mapping = dbn_record_header(0x16, is_version1 ? 80 : 176, {.instrument_id = 5});
    if (!is_version1) mapping.zeros(1);
    mapping.text("NQ.FUT", symbol_bytes, '\0');
    if (!is_version1) mapping.zeros(1);
    mapping.text("NQH4", symbol_bytes, '\0').zeros(is_version1 ? 20 : 16);
    const DrainedSource decoded =
        decode(file_of({mapping.bytes(), dbn_mbo({.instrument_id = 5})}, {.version = version}));
    EXPECT_EQ(decoded.instruments.at(0).symbol, "NQH4") << int{version};
  }
}

TEST(DbnDecoder, MarksABookWhoseSymbolGoesToAnotherId) {
  // Two ids of one symbol, as on the day on which a future rolls over.
  Bytes header = dbn_header({.version = 1});
  FeedBytes file;
  file.append(std::span(header).first(header.size() - 34));
  file.little<std::uint32_t>(2);
  for (const std::string_view id : {"1", "2"}) {
    file.little<std::uint32_t>(19700101).little<std::uint32_t>(20991231).text(id, 22, '\0');
  }
  Bytes bytes = file.append(dbn_mbo({.instrument_id = 1}))
                    .append(dbn_mbo({.instrument_id = 2}))
                    .append(dbn_mbo({.instrument_id = 2}))
                    .bytes();
  bytes[4] = static_cast<std::byte>(std::to_integer<int>(bytes[4]) + 30);  // the header's length
  const DrainedSource decoded = decode(bytes);
  EXPECT_EQ(decoded.error, "");
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_TRUE(decoded.events.at(1).quality.has(Quality::kGap));
  EXPECT_FALSE(decoded.events.at(2).quality.has(Quality::kGap));
}

TEST(DbnDecoder, KeepsAllBeforeACut) {
  const Bytes whole = file_of({dbn_mbo({.order_id = 1}), dbn_mbo({.order_id = 2})});
  for (std::size_t left = 1; left < 56; ++left) {
    const Bytes cut(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(left));
    const DrainedSource decoded = decode(cut);
    EXPECT_EQ(decoded.events.size(), 1U);
    EXPECT_EQ(decoded.code, ErrorCode::kDataLoss);
    EXPECT_NE(decoded.error.find("the file ends inside a record"), std::string::npos);
  }
}

TEST(DbnDecoder, StopsAtARecordOfNoLength) {
  Bytes file = file_of({dbn_mbo({}), dbn_mbo({})});
  file[file.size() - 56] = std::byte{3};
  const DrainedSource decoded = decode(file);
  EXPECT_EQ(decoded.events.size(), 1U);
  EXPECT_NE(decoded.error.find("a record of 12 bytes, where its header alone has 16"),
            std::string::npos)
      << decoded.error;
}

TEST(DbnDecoder, ReadsOverAShortRecordAndGivesUpOnMany) {
  Bytes short_record = dbn_mbo({});
  short_record[0] = std::byte{13};
  short_record.resize(52);
  const DrainedSource decoded = decode(file_of({short_record, dbn_mbo({})}));
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.faults.at(0).message, "a record mbo of 52 bytes; it has 56");
  EXPECT_EQ(decoded.events.size(), 1U);
  const DrainedSource lost = decode(file_of(std::vector<Bytes>(300, short_record)));
  EXPECT_EQ(lost.code, ErrorCode::kDataLoss);
  EXPECT_EQ(lost.counters.malformed, 100U);
}

TEST(DbnDecoder, ReadsRecordsThatCarryASendingTime) {
  Bytes record = dbn_mbo({});
  record[0] = std::byte{16};
  record.resize(64);
  const DrainedSource decoded = decode(file_of({record, record}));
  EXPECT_EQ(decoded.events.size(), 2U);
  EXPECT_EQ(decoded.error, "");
}

TEST(DbnDecoder, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> records;
  std::vector<DbnLevel> ten(10, {100 * kNanos, 101 * kNanos, 5, 6});
  for (std::uint32_t i = 1; i <= 2'000; ++i) {
    records.push_back(dbn_mbo({.instrument_id = 1 + i % 3}));
    records.push_back(dbn_levels({.action = 'T', .instrument_id = 1 + i % 3}, ten));
  }
  const Bytes file = file_of(records);
  const auto source = make_dbn_decoder(make_memory_stream("test.dbn", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().records, 4'000U);
}

}  // namespace
}  // namespace tocsin
