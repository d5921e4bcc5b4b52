// The LOBSTER decoder on hand-made rows, on the bundled slice and on a whole day where it is there.
#include "ingest/lobster_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/lobster_file_name.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

constexpr std::string_view kName = "ACME_2012-06-21_34200000_57600000_message_2.csv";
constexpr std::int64_t kMidnightNs = 1'340'251'200'000'000'000;  // 2012-06-21 04:00 UTC

struct Decoded {
  std::vector<EventBatch> records;
  SourceStatus end = SourceStatus::kEvents;
  std::string error;
  SourceCounters counters;
  std::vector<InputFault> faults;
  std::vector<Instrument> instruments;
  std::vector<std::pair<std::string, std::uint64_t>> by_type;
};

std::unique_ptr<ByteStream> stream_of(std::string_view name, std::string_view text) {
  return make_memory_stream(std::string(name), std::as_bytes(std::span(text)));
}

Decoded decode(std::string_view messages, std::string_view orderbook, std::string_view name = kName,
               std::vector<std::string> symbols = {}) {
  LobsterDecoder decoder(stream_of(name, messages), stream_of("book.csv", orderbook),
                         std::move(symbols));
  Decoded decoded;
  EventBatch batch;
  while ((decoded.end = decoder.next(batch)) == SourceStatus::kEvents) {
    decoded.records.push_back(batch);
  }
  if (decoded.end == SourceStatus::kError) decoded.error = decoder.error().message();
  decoded.counters = decoder.counters();
  decoded.faults.assign(decoder.faults().begin(), decoder.faults().end());
  decoded.instruments.assign(decoder.instruments().begin(), decoder.instruments().end());
  decoded.by_type = decoder.counts_by_type();
  return decoded;
}

constexpr std::string_view kBookRow = "1001000,20,1000000,10,9999999999,0,999000,7\n";

std::string book_rows(std::size_t count) {
  std::string rows;
  for (std::size_t i = 0; i < count; ++i) rows += kBookRow;
  return rows;
}

// The message's own event: the one that is no oracle, no clear and no trim.
const MarketEvent& message_event(const EventBatch& batch) {
  const auto found = std::find_if(batch.begin(), batch.end(), [](const MarketEvent& event) {
    return event.kind != EventKind::kClear && event.kind != EventKind::kExpectLevel &&
           event.kind != EventKind::kTrimDepth;
  });
  EXPECT_NE(found, batch.end());
  return *found;
}

TEST(LobsterDecoder, YieldsMessageBookAndTrimForEachRow) {
  const Decoded d = decode("34200.5,1,42,10,1000000,1\n34201,1,43,5,1001000,-1\n", book_rows(2));
  ASSERT_EQ(d.end, SourceStatus::kEnd);
  ASSERT_EQ(d.records.size(), 2U);
  const EventBatch& first = d.records[0];
  ASSERT_EQ(first.size(), 7U);
  EXPECT_EQ(first[0].kind, EventKind::kClear);
  EXPECT_EQ(first[0].quality, QualityFlags(Quality::kSnapshot));
  EXPECT_EQ(first[1].kind, EventKind::kAddOrder);
  EXPECT_EQ(first[1].side, Side::kBid);
  EXPECT_EQ(first[1].order_id, 42U);
  EXPECT_EQ(first[1].price_nanos, 100'000'000'000);
  EXPECT_EQ(first[1].quantity_nanos, 10'000'000'000);
  struct Expected {
    Side side;
    std::uint16_t level;
    std::int64_t price_nanos;
    std::int64_t quantity_nanos;
  };
  const std::vector<Expected> expected = {{Side::kAsk, 0, 100'100'000'000, 20'000'000'000},
                                          {Side::kBid, 0, 100'000'000'000, 10'000'000'000},
                                          {Side::kAsk, 1, 0, 0},
                                          {Side::kBid, 1, 99'900'000'000, 7'000'000'000}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const MarketEvent& event = first[2 + i];
    EXPECT_EQ(event.kind, EventKind::kExpectLevel);
    EXPECT_EQ(event.side, expected[i].side);
    EXPECT_EQ(event.level_index, expected[i].level);
    EXPECT_EQ(event.price_nanos, expected[i].price_nanos);
    EXPECT_EQ(event.quantity_nanos, expected[i].quantity_nanos);
  }
  EXPECT_EQ(first[6].kind, EventKind::kTrimDepth);
  EXPECT_EQ(first[6].level_index, 2);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].end_of_update, i == 6);
    EXPECT_EQ(first[i].record, 1U);
    EXPECT_EQ(first[i].exchange_time_ns, kMidnightNs + 34'200'500'000'000);
    EXPECT_EQ(first[i].receive_time_ns, first[i].exchange_time_ns);
  }
  const EventBatch& second = d.records[1];
  ASSERT_EQ(second.size(), 6U) << "the book is cleared once";
  EXPECT_EQ(second[0].kind, EventKind::kAddOrder);
  EXPECT_EQ(second[0].side, Side::kAsk);
  EXPECT_EQ(d.counters.events, 13U);
  ASSERT_EQ(d.instruments.size(), 1U);
  EXPECT_EQ(d.instruments[0].symbol, "ACME");
  EXPECT_EQ(d.instruments[0].price_tick_nanos, 10'000'000);
  EXPECT_EQ(d.instruments[0].quantity_step_nanos, 1'000'000'000);
}

TEST(LobsterDecoder, TellsTheTypesApart) {
  const Decoded d = decode(
      "1,1,42,10,1000000,1\n2,2,42,3,1000000,1\n3,4,42,4,1000000,1\n4,3,42,3,1000000,1\n"
      "5,5,0,8,1000500,-1\n6,6,-1,900,1000200,-1\n7,7,0,0,-1,-1\n8,7,0,0,0,-1\n9,7,0,0,1,-1\n",
      book_rows(9));
  ASSERT_EQ(d.records.size(), 9U);
  EXPECT_EQ(d.counters.malformed, 0U);
  const auto event = [&](std::size_t row) { return message_event(d.records[row - 1]); };
  EXPECT_EQ(event(2).kind, EventKind::kReduceOrder);
  EXPECT_EQ(event(2).quantity_nanos, 3'000'000'000);
  EXPECT_EQ(event(2).side, Side::kBid);
  EXPECT_EQ(event(3).kind, EventKind::kExecuteOrder);
  EXPECT_EQ(event(3).side, Side::kBid) << "the resting order's side";
  EXPECT_EQ(event(4).kind, EventKind::kDeleteOrder);
  EXPECT_EQ(event(4).price_nanos, 100'000'000'000);
  EXPECT_EQ(event(4).quantity_nanos, 3'000'000'000);
  EXPECT_EQ(event(5).kind, EventKind::kTrade);
  EXPECT_EQ(event(5).side, Side::kBid) << "a hidden sell order was hit by a buyer";
  EXPECT_EQ(event(6).kind, EventKind::kTrade);
  EXPECT_EQ(event(6).side, Side::kNone);
  EXPECT_EQ(event(6).order_id, 0U);
  EXPECT_EQ(event(7).kind, EventKind::kStatus);
  EXPECT_EQ(event(7).status, TradingStatus::kHalted);
  EXPECT_EQ(event(8).status, TradingStatus::kAuction);
  EXPECT_EQ(event(9).status, TradingStatus::kTrading);
  for (const EventBatch& batch : d.records) EXPECT_TRUE(batch.back().end_of_update);
  EXPECT_EQ(d.by_type, (std::vector<std::pair<std::string, std::uint64_t>>{{"submission", 1},
                                                                           {"cancellation", 1},
                                                                           {"deletion", 1},
                                                                           {"execution", 1},
                                                                           {"hidden_execution", 1},
                                                                           {"cross_trade", 1},
                                                                           {"trading_status", 3}}));
}

TEST(LobsterDecoder, SeedsTheBookAnewAfterALostMessage) {
  struct Case {
    std::string row;
    std::string_view said;
    bool bad_quantity = false;
  };
  const std::vector<Case> cases = {{"garbage", "seconds since midnight"},
                                   {"\x7F"
                                    "ELF\x02\x01",
                                    "seconds since midnight"},
                                   {"", "seconds since midnight"},
                                   {"-1,1,1,1,1,1", "seconds since midnight"},
                                   {"99999999,1,1,1,1,1", "seconds since midnight"},
                                   {"1.0000000001,1,1,1,1,1", "nine places"},
                                   {"1,1,1,1,1", "six columns"},
                                   {"1,1,1,1,1,1,1", "six columns"},
                                   {"1,1,x,1,1,1", "whole number"},
                                   {"1,8,1,1,1,1", "type from 1 to 7"},
                                   {"1,1,1,1,1,0", "direction"},
                                   {"1,1,1,-5,1,1", "size out of range", true},
                                   {"1,1,1,5,-1,1", "price out of range", true},
                                   {"1,1,1,9999999999999,1,1", "size out of range", true},
                                   {"1,1,1,99999999999999999999,1,1", "whole number"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.row);
    const Decoded d = decode(
        "1,1,1,1,1000000,1\n" + c.row + "\n2,1,2,1,1000000,1\n3,1,3,1,1000000,1\n", book_rows(4));
    EXPECT_EQ(d.end, SourceStatus::kEnd);
    ASSERT_EQ(d.records.size(), 4U);
    EXPECT_TRUE(d.records[1].empty());
    EXPECT_EQ(d.counters.malformed, c.bad_quantity ? 0U : 1U);
    EXPECT_EQ(d.counters.bad_quantity, c.bad_quantity ? 1U : 0U);
    ASSERT_EQ(d.faults.size(), 1U);
    EXPECT_EQ(d.faults[0].record, 2U);
    EXPECT_NE(d.faults[0].message.find(c.said), std::string::npos) << d.faults[0].message;
    EXPECT_EQ(d.records[2].front().kind, EventKind::kClear);
    EXPECT_EQ(d.records[3].front().kind, EventKind::kAddOrder);
  }
}

TEST(LobsterDecoder, KeepsTheMessageOfABookRowThatCannotBeRead) {
  for (const std::string_view row :
       {"x", "1,2,3", "1001000,20", "1001000,20,1000000,10", "1001000,20,1000000,-1,1,1,1,1",
        "1001000,20,1000000,10,9999999999,5,999000,7", "-5,20,1000000,10,1,1,1,1"}) {
    SCOPED_TRACE(row);
    const Decoded d = decode("1,1,1,1,1000000,1\n2,1,2,1,1000000,1\n3,1,3,1,1000000,1\n",
                             book_rows(1) + std::string(row) + "\n" + book_rows(1));
    EXPECT_EQ(d.end, SourceStatus::kEnd);
    EXPECT_EQ(d.counters.malformed + d.counters.bad_quantity, 1U);
    ASSERT_EQ(d.records[1].size(), 2U) << "the order and the trim, no levels to compare";
    EXPECT_EQ(d.records[1][0].kind, EventKind::kAddOrder);
    EXPECT_TRUE(d.records[1][1].end_of_update);
    EXPECT_EQ(d.records[2].size(), 6U);
  }
}

TEST(LobsterDecoder, SeedsFromTheFirstBookRowThatCanBeRead) {
  const Decoded d = decode("1,1,1,1,1000000,1\n2,1,2,1,1000000,1\n", "x\n" + book_rows(1));
  EXPECT_TRUE(d.records[0].empty());
  EXPECT_EQ(d.records[1].size(), 7U);
  EXPECT_EQ(d.records[1].front().kind, EventKind::kClear);
}

TEST(LobsterDecoder, FlagsTimeThatGoesBackwards) {
  const Decoded d =
      decode("2,1,1,1,1000000,1\n1,1,2,1,1000000,1\n3,1,3,1,1000000,1\n", book_rows(3));
  EXPECT_EQ(d.counters.time_backwards, 1U);
  for (const MarketEvent& event : d.records[1]) {
    EXPECT_TRUE(event.quality.has(Quality::kTimeBackwards));
  }
  EXPECT_FALSE(d.records[2].back().quality.any());
}

TEST(LobsterDecoder, NamesBothFilesWhereTheirLengthsDiffer) {
  const std::string messages = "1,1,1,1,1000000,1\n2,1,2,1,1000000,1\n";
  const Decoded shorter = decode(messages, book_rows(1));
  EXPECT_EQ(shorter.end, SourceStatus::kError);
  EXPECT_EQ(shorter.records.size(), 1U);
  EXPECT_NE(shorter.error.find("book.csv ends after row 1"), std::string::npos) << shorter.error;
  EXPECT_NE(shorter.error.find(kName), std::string::npos);
  const Decoded longer = decode(messages, book_rows(3));
  EXPECT_EQ(longer.end, SourceStatus::kError);
  EXPECT_EQ(longer.records.size(), 2U);
  EXPECT_NE(longer.error.find("message file ends after row 2"), std::string::npos) << longer.error;
  EXPECT_NE(longer.error.find("book.csv"), std::string::npos);
}

TEST(LobsterDecoder, CountsTimeFromMidnightWhereTheNameHasNoDate) {
  const Decoded d = decode("34200.5,1,1,1,1000000,1\n", book_rows(1), "dir/AMZN_L1_message.csv.gz");
  EXPECT_EQ(d.records[0][0].exchange_time_ns, 34'200'500'000'000);
  EXPECT_EQ(d.instruments[0].symbol, "AMZN");
}

TEST(LobsterDecoder, FiltersTheWholeFileByItsSymbol) {
  const Decoded d = decode("1,1,1,1,1000000,1\n", book_rows(1), kName, {"OTHER"});
  EXPECT_EQ(d.end, SourceStatus::kEnd);
  EXPECT_EQ(d.counters.filtered, 1U);
  EXPECT_TRUE(d.instruments.empty());
  EXPECT_EQ(decode("1,1,1,1,1000000,1\n", book_rows(1), kName, {"ACME"}).counters.filtered, 0U);
}

TEST(LobsterDecoder, FailsIfNothingAtAllCouldBeDecoded) {
  const Decoded d = decode("1 {\"e\":1}\n2 {}\n", book_rows(2));
  EXPECT_EQ(d.end, SourceStatus::kError);
  EXPECT_NE(d.error.find("not one record"), std::string::npos) << d.error;
}

TEST(LobsterFileName, HoldsSymbolAndDay) {
  const LobsterFileName name = parse_lobster_file_name("/data/" + std::string(kName));
  EXPECT_EQ(name.symbol, "ACME");
  EXPECT_EQ(name.midnight_time_ns, kMidnightNs);
  EXPECT_EQ(parse_lobster_file_name("a_b/message.csv.gz").symbol, "message");
  EXPECT_FALSE(parse_lobster_file_name("X_2012-02-30_1_2_message_1.csv").midnight_time_ns);
  EXPECT_FALSE(parse_lobster_file_name("X_2012-2-30_1_2_message_1.csv").midnight_time_ns);
}

TEST(LobsterFileName, NamesTheBookFile) {
  EXPECT_EQ(lobster_orderbook_path("message/A_message_1_message_10.csv.gz"),
            "message/A_message_1_orderbook_10.csv.gz");
  EXPECT_EQ(lobster_orderbook_path("message/rows.csv"), "");
}

// Offsets from the published dates of the change.
TEST(LobsterFileName, KnowsNewYorksOffset) {
  const auto offset_hours = [](int year, unsigned month, unsigned day,
                               std::int64_t utc_midnight_s) {
    return (*new_york_midnight_ns(year, month, day) / 1'000'000'000 - utc_midnight_s) / 3600;
  };
  EXPECT_EQ(offset_hours(2012, 3, 9, 1331251200), 5);
  EXPECT_EQ(offset_hours(2012, 3, 12, 1331510400), 4);
  EXPECT_EQ(offset_hours(2012, 11, 2, 1351814400), 4);
  EXPECT_EQ(offset_hours(2012, 11, 5, 1352073600), 5);
  EXPECT_EQ(offset_hours(2024, 1, 2, 1704153600), 5);
  EXPECT_EQ(offset_hours(2007, 6, 27, 1182902400), 4);
}

// ---- real files ----

const std::string kSliceFolder = tocsin_source_path("data/samples/lobster_aapl/");
const std::string kSlicePath =
    kSliceFolder + "AAPL_2012-06-21_34200000_57600000_message_10.slice.csv";

const std::string kSliceBookPath =
    kSliceFolder + "AAPL_2012-06-21_34200000_57600000_orderbook_10.slice.csv";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LobsterSlice, IsDecodedWhole) {
  const Decoded d = decode(read_file(kSlicePath), read_file(kSliceBookPath), kSlicePath);
  EXPECT_EQ(d.end, SourceStatus::kEnd);
  EXPECT_EQ(d.counters.records, 999U) << "998 line feeds, and a last row without one";
  EXPECT_EQ(d.counters.events, 999U * (1 + 20 + 1) + 1);
  EXPECT_EQ(d.counters.malformed, 0U);
  EXPECT_EQ(d.counters.time_backwards, 0U);
  EXPECT_EQ(d.records.front().front().exchange_time_ns, kMidnightNs + 34'200'004'241'176);
  EXPECT_EQ(d.instruments.at(0).symbol, "AAPL");
  // What the first row says the book is, read by hand from the file.
  EXPECT_EQ(d.records[0][2].price_nanos, 585'940'000'000);
  EXPECT_EQ(d.records[0][2].quantity_nanos, 200'000'000'000);
  EXPECT_EQ(d.records[0].back().level_index, 10);
  EXPECT_EQ(
      d.by_type,
      (std::vector<std::pair<std::string, std::uint64_t>>{
          {"submission", 471}, {"deletion", 369}, {"execution", 98}, {"hidden_execution", 61}}));
}

TEST(LobsterSlice, AllocatesNothingInItsSecondHalf) {
  const std::string messages = read_file(kSlicePath);
  const std::string orderbook = read_file(kSliceBookPath);
  LobsterDecoder decoder(stream_of(kSlicePath, messages), stream_of("book", orderbook), {});
  EventBatch batch;
  for (int i = 0; i < 500; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  const std::uint64_t before = allocation_count();
  std::uint64_t records = 0;
  while (decoder.next(batch) == SourceStatus::kEvents) ++records;
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(records, 499U);
  EXPECT_EQ(decoder.counters().bytes, messages.size() + orderbook.size());
}

TEST(LobsterSlice, ShuffledIsFlagged) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const std::string text = read_file(kSlicePath) + "\n";
  std::vector<std::string> rows;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    rows.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(kSeed));
  std::string shuffled;
  for (const std::string& row : rows) shuffled += row;
  const Decoded d = decode(shuffled, read_file(kSliceBookPath));
  EXPECT_EQ(d.counters.malformed, 0U);
  EXPECT_GT(d.counters.time_backwards, 300U);
}

TEST(LobsterDay, IsDecodedWholeAndAllocatesNothingInItsSecondHalf) {
  const std::string path = tocsin_data_path("lobster/AMZN_L1_message.csv.gz");
  if (path.empty()) GTEST_SKIP() << "the AMZN level-1 day is not here: set TOCSIN_DATA";
  auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream.ok());
  auto source = make_lobster_decoder(std::move(stream).value(), FileSourceOptions{});
  ASSERT_TRUE(source.ok()) << source.error().message();
  EventBatch batch;
  std::uint64_t before = 0;
  SourceStatus status;
  while ((status = (*source)->next(batch)) == SourceStatus::kEvents) {
    if ((*source)->counters().records == 28'000) before = allocation_count();
    ASSERT_TRUE(batch.back().end_of_update);
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(status, SourceStatus::kEnd);
  EXPECT_EQ((*source)->counters().records, 57'515U);
  EXPECT_EQ((*source)->counters().malformed, 0U);
  EXPECT_EQ((*source)->counters().bad_quantity, 0U);
  EXPECT_EQ((*source)->counters().time_backwards, 0U);
  EXPECT_EQ((*source)->instruments()[0].symbol, "AMZN");
  EXPECT_EQ((*source)->counts_by_type(),
            (std::vector<std::pair<std::string, std::uint64_t>>{{"submission", 27'845},
                                                                {"cancellation", 16},
                                                                {"deletion", 18'235},
                                                                {"execution", 8974},
                                                                {"hidden_execution", 2445}}));
}

}  // namespace
}  // namespace tocsin
