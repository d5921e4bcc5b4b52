// ITCH 5.0 in files: every message's meaning, both framings, the days of a file, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/feed_bytes.h"
#include "ingest/itch_feed_decoder.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;

DrainedSource decode(const Bytes& file, std::vector<std::string> symbols = {}) {
  FileSourceOptions options;
  options.symbols = std::move(symbols);
  auto source = make_itch_decoder(make_memory_stream("test.itch", file), options);
  return drain(*source.value());
}

Bytes file_of(const std::vector<Bytes>& messages) {
  Bytes file;
  for (const Bytes& message : messages) append_itch(file, message);
  return file;
}

TEST(ItchDecoder, YieldsAnOrdersLifeInItsOwnTerms) {
  const DrainedSource decoded = decode(file_of({
      itch_add({.id = 11, .side = 'S', .shares = 300, .price = 1'234'500}, {.time_ns = 34'200'000}),
      itch_change('E', 11, 100, {.time_ns = 34'200'001}),
      itch_change('X', 11, 50),
      itch_replace(11, {.id = 12, .shares = 70, .price = 1'234'600}),
      itch_change('D', 12, 0),
  }));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kAddOrder, EventKind::kExecuteOrder, EventKind::kReduceOrder,
                         EventKind::kDeleteOrder, EventKind::kAddOrder, EventKind::kDeleteOrder}));
  const MarketEvent& add = decoded.events[0];
  EXPECT_EQ(add.order_id, 11U);
  EXPECT_EQ(add.side, Side::kAsk);
  EXPECT_EQ(add.quantity_nanos, 300 * kNanos);
  EXPECT_EQ(add.price_nanos, 123'450'000'000);
  EXPECT_EQ(add.exchange_time_ns, 34'200'000);
  EXPECT_EQ(add.receive_time_ns, add.exchange_time_ns);
  EXPECT_TRUE(add.end_of_update);
  const MarketEvent& execution = decoded.events[1];
  EXPECT_EQ(execution.order_id, 11U);
  EXPECT_EQ(execution.quantity_nanos, 100 * kNanos);
  EXPECT_EQ(execution.price_nanos, 0) << "at the order's own price";
  EXPECT_EQ(decoded.events[2].quantity_nanos, 50 * kNanos);
  EXPECT_EQ(decoded.events[3].order_id, 11U);
  EXPECT_FALSE(decoded.events[3].end_of_update) << "a replacement is one update";
  EXPECT_EQ(decoded.events[4].record, decoded.events[3].record);
  EXPECT_EQ(decoded.events[4].side, Side::kNone) << "the side of the order it replaces";
  EXPECT_EQ(decoded.events[4].order_id, 12U);
  EXPECT_EQ(decoded.events[4].price_nanos, 123'460'000'000);
  EXPECT_TRUE(decoded.events[4].end_of_update);
  EXPECT_EQ(decoded.instruments.at(0).symbol, "TEST");
  EXPECT_EQ(decoded.counters.time_backwards, 1U) << "to the cancel without a time";
}

TEST(ItchDecoder, CountsANonPrintableExecutionsVolumeOnce) {
  const auto priced_execution = [](char printable) {
    return itch_header('C', {})
        .big<std::uint64_t>(11)
        .big<std::uint32_t>(40)
        .big<std::uint64_t>(1)
        .letter(printable)
        .big<std::uint32_t>(990'000)
        .bytes();
  };
  const auto cross = [](std::uint64_t shares) {
    return itch_header('Q', {})
        .big<std::uint64_t>(shares)
        .text("TEST", 8, ' ')
        .big<std::uint32_t>(990'000)
        .big<std::uint64_t>(1)
        .letter('O')
        .bytes();
  };
  const DrainedSource decoded = decode(file_of({itch_add({.id = 11}), priced_execution('Y'),
                                                priced_execution('N'), cross(5'000), cross(0)}));
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kAddOrder, EventKind::kExecuteOrder,
                                          EventKind::kReduceOrder, EventKind::kTrade}));
  EXPECT_EQ(decoded.events[1].price_nanos, 99 * kNanos);
  EXPECT_EQ(decoded.events[2].quantity_nanos, 40 * kNanos);
  EXPECT_EQ(decoded.events[3].quantity_nanos, 5'000 * kNanos);
  EXPECT_EQ(decoded.events[3].side, Side::kNone);
  EXPECT_EQ(decoded.counters.ignored, 1U) << "the cross that matched nothing";
}

TEST(ItchDecoder, GivesATradeAgainstAHiddenOrderNoSide) {
  const Bytes trade = itch_header('P', {})
                          .big<std::uint64_t>(0)
                          .letter('B')
                          .big<std::uint32_t>(25)
                          .text("TEST", 8, ' ')
                          .big<std::uint32_t>(10'000)
                          .big<std::uint64_t>(1)
                          .bytes();
  const DrainedSource decoded = decode(file_of({trade}));
  ASSERT_EQ(decoded.kinds(), std::vector{EventKind::kTrade});
  EXPECT_EQ(decoded.events[0].side, Side::kNone);
  EXPECT_EQ(decoded.events[0].price_nanos, kNanos);
  EXPECT_TRUE(decoded.events[0].end_of_update);
}

TEST(ItchDecoder, TranslatesTradingStates) {
  const std::vector<std::pair<char, TradingStatus>> cases = {{'T', TradingStatus::kTrading},
                                                             {'H', TradingStatus::kHalted},
                                                             {'P', TradingStatus::kHalted},
                                                             {'Q', TradingStatus::kAuction}};
  for (const auto& [letter, status] : cases) {
    const DrainedSource decoded = decode(file_of({itch_status("TEST", letter, {})}));
    ASSERT_EQ(decoded.kinds(), std::vector{EventKind::kStatus}) << letter;
    EXPECT_EQ(decoded.events[0].status, status) << letter;
    EXPECT_FALSE(decoded.events[0].end_of_update);
  }
}

TEST(ItchDecoder, KnowsTheSizeOfEveryMessageType) {
  // The table of the specification, typed a second time.
  const std::map<char, std::size_t> sizes = {
      {'S', 12}, {'R', 39}, {'H', 25}, {'Y', 20}, {'L', 26}, {'V', 35}, {'W', 12}, {'K', 28},
      {'J', 35}, {'h', 21}, {'A', 36}, {'F', 40}, {'E', 31}, {'C', 36}, {'X', 23}, {'D', 19},
      {'U', 35}, {'P', 44}, {'Q', 40}, {'B', 19}, {'I', 50}, {'N', 20}, {'O', 48}};
  ASSERT_EQ(sizes.size(), kItchMessageTypes.size());
  Bytes file = file_of({itch_add({.id = 1})});  // the first message must be good
  for (const auto& [letter, size] : sizes) {
    Bytes message(size, std::byte{'B'});  // text, so that it passes for a symbol and a side
    message[0] = static_cast<std::byte>(letter);
    append_itch(file, message);
  }
  const DrainedSource decoded = decode(file);
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.counters.records, sizes.size() + 1);
  EXPECT_EQ(decoded.by_type.size(), sizes.size());
  EXPECT_EQ(decoded.counters.malformed, 1U) << "the trading action's state 'B'";
}

TEST(ItchDecoder, ClearsEachBookOnceAfterTheStartOfTheDay) {
  const DrainedSource decoded = decode(file_of({
      itch_system_event('O'),
      itch_directory("ONE", {.locate = 1}),
      itch_directory("TWO", {.locate = 2}),
      itch_status("ONE", 'T', {.locate = 1}),
      itch_add({.id = 1, .symbol = "ONE"}, {.locate = 1}),
      itch_add({.id = 2, .symbol = "TWO"}, {.locate = 2}),
      itch_add({.id = 3, .symbol = "ONE"}, {.locate = 1}),
  }));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kStatus, EventKind::kClear, EventKind::kAddOrder,
                         EventKind::kClear, EventKind::kAddOrder, EventKind::kAddOrder}));
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kSnapshot));
  EXPECT_FALSE(decoded.events[1].end_of_update);
  EXPECT_EQ(decoded.events[1].record, decoded.events[2].record);
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kSnapshot));
  EXPECT_EQ(decoded.events[3].instrument, 1U);
}

TEST(ItchDecoder, ClearsNoBookOfAFileThatStartsWithinTheDay) {
  const DrainedSource decoded = decode(file_of({itch_add({.id = 1}), itch_add({.id = 2})}));
  EXPECT_EQ(decoded.kinds(), (std::vector{EventKind::kAddOrder, EventKind::kAddOrder}));
}

TEST(ItchDecoder, KeepsInstrumentsOverDaysThatNumberStocksAnew) {
  const DrainedSource decoded = decode(file_of({
      itch_system_event('O'),
      itch_directory("ONE", {.locate = 1}),
      itch_directory("TWO", {.locate = 2}),
      itch_add({.id = 1, .symbol = "ONE"}, {.locate = 1}),
      itch_system_event('C'),
      itch_system_event('O'),
      itch_directory("TWO", {.locate = 1}),
      itch_directory("ONE", {.locate = 2}),
      itch_add({.id = 1, .symbol = "TWO"}, {.locate = 1}),
  }));
  ASSERT_EQ(decoded.instruments.size(), 2U);
  ASSERT_EQ(decoded.events.size(), 4U);
  EXPECT_EQ(decoded.instruments[decoded.events[1].instrument].symbol, "ONE");
  EXPECT_EQ(decoded.instruments[decoded.events[3].instrument].symbol, "TWO");
  EXPECT_EQ(decoded.events[2].kind, EventKind::kClear);
}

TEST(ItchDecoder, PassesOverWhatWasNotAskedFor) {
  const Bytes file = file_of({
      itch_directory("ONE", {.locate = 1}),
      itch_directory("TWO", {.locate = 2}),
      itch_add({.id = 1, .symbol = "ONE"}, {.locate = 1}),
      itch_add({.id = 2, .symbol = "TWO"}, {.locate = 2}),
      itch_change('D', 1, 0, {.locate = 1}),
      itch_change('D', 2, 0, {.locate = 2}),
      itch_change('D', 3, 0, {.locate = 3}),
  });
  const DrainedSource decoded = decode(file, {"TWO"});
  EXPECT_EQ(decoded.kinds(), (std::vector{EventKind::kAddOrder, EventKind::kDeleteOrder}));
  EXPECT_EQ(decoded.counters.filtered, 4U);
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_EQ(decoded.instruments[0].symbol, "TWO");
}

TEST(ItchDecoder, NamesAStockByItsLocateUntilAMessageNamesIt) {
  Bytes file = file_of({itch_change('D', 5, 0, {.locate = 77})});
  EXPECT_EQ(decode(file).instruments.at(0).symbol, "locate 77");
  append_itch(file, itch_add({.id = 6, .symbol = "LATE"}, {.locate = 77}));
  const DrainedSource decoded = decode(file);
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_EQ(decoded.instruments[0].symbol, "LATE");
  EXPECT_EQ(decoded.events[1].instrument, 0U);
}

TEST(ItchDecoder, ReadsOnAfterAMalformedMessageAndMarksTheLoss) {
  Bytes cut_add = itch_add({.id = 2});
  cut_add.pop_back();
  const DrainedSource decoded =
      decode(file_of({itch_add({.id = 1}), cut_add, Bytes(5, std::byte{'z'}), itch_add({.id = 3}),
                      itch_add({.id = 4})}));
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.counters.malformed, 2U);
  ASSERT_EQ(decoded.faults.size(), 2U);
  EXPECT_EQ(decoded.faults[0].record, 2U);
  EXPECT_EQ(decoded.faults[0].message, "a message 'A' (add order) of 35 bytes; it has 36");
  EXPECT_EQ(decoded.faults[1].message, "byte 122 is no message type of ITCH 5.0");
  ASSERT_EQ(decoded.events.size(), 3U);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap)) << "an order may be missing";
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kGap)) << "told once";
}

TEST(ItchDecoder, CountsSharesThatCannotBe) {
  const DrainedSource decoded =
      decode(file_of({itch_add({.id = 1, .shares = 0}), itch_replace(1, {.id = 2, .shares = 0}),
                      itch_header('Q', {})
                          .big<std::uint64_t>(UINT64_MAX)
                          .text("TEST", 8, ' ')
                          .zeros(13)
                          .bytes()}));
  EXPECT_EQ(decoded.counters.bad_quantity, 3U);
  ASSERT_EQ(decoded.kinds(), std::vector{EventKind::kDeleteOrder});
  EXPECT_TRUE(decoded.events[0].end_of_update);
}

TEST(ItchDecoder, KeepsAllBeforeACut) {
  Bytes file = file_of({itch_add({.id = 1}), itch_add({.id = 2})});
  for (std::size_t size = 39; size < file.size(); ++size) {
    const DrainedSource decoded =
        decode(Bytes(file.begin(), file.begin() + static_cast<int>(size)));
    EXPECT_EQ(decoded.events.size(), 1U);
    EXPECT_EQ(decoded.code, ErrorCode::kDataLoss);
    EXPECT_NE(decoded.error.find("the file ends inside a message"), std::string::npos)
        << decoded.error;
  }
}

TEST(ItchDecoder, TakesALastLengthOfZeroForTheEnd) {
  Bytes file = file_of({itch_add({.id = 1})});
  file.insert(file.end(), 2, std::byte{0});
  EXPECT_EQ(decode(file).error, "");
}

TEST(ItchDecoder, RefusesWhatIsNotItch) {
  const std::string_view text = "time,type,order id,size,price,direction";
  const auto* start = reinterpret_cast<const std::byte*>(text.data());
  const DrainedSource decoded = decode(Bytes(start, start + text.size()));
  EXPECT_EQ(decoded.code, ErrorCode::kDataLoss);
  EXPECT_TRUE(decoded.events.empty());

  // Zero-prefixed: a type that does not exist cannot be stepped over.
  const DrainedSource lost =
      decode(Bytes{std::byte{0}, std::byte{0}, std::byte{'z'}, std::byte{0}});
  EXPECT_NE(lost.error.find("found a prefix of 0 and byte 122"), std::string::npos) << lost.error;
}

TEST(ItchDecoder, GivesUpWhenTheFramingIsLost) {
  Bytes file = file_of({itch_add({.id = 1})});
  for (int i = 0; i < 200; ++i) append_itch(file, Bytes(3, std::byte{'?'}));
  const DrainedSource decoded = decode(file);
  EXPECT_EQ(decoded.code, ErrorCode::kDataLoss);
  EXPECT_EQ(decoded.counters.malformed, 100U);
}

TEST(ItchDecoder, FlagsShuffledMessages) {
  constexpr unsigned kSeed = 20260501;
  SCOPED_TRACE(kSeed);
  std::vector<Bytes> messages;
  for (std::uint64_t i = 1; i <= 100; ++i) messages.push_back(itch_add({.id = i}, {.time_ns = i}));
  std::shuffle(messages.begin(), messages.end(), std::mt19937(kSeed));
  const DrainedSource decoded = decode(file_of(messages));
  EXPECT_EQ(decoded.events.size(), 100U);
  EXPECT_GT(decoded.counters.time_backwards, 30U);
  const auto flagged = std::count_if(
      decoded.events.begin(), decoded.events.end(),
      [](const MarketEvent& event) { return event.quality.has(Quality::kTimeBackwards); });
  EXPECT_EQ(static_cast<std::uint64_t>(flagged), decoded.counters.time_backwards);
}

TEST(ItchDecoder, IsToldByItsFirstMessages) {
  Bytes file = file_of({itch_system_event('O'), itch_add({.id = 1})});
  EXPECT_TRUE(looks_like_itch50(file));
  EXPECT_TRUE(looks_like_itch50(std::span(file).first(20)));
  file[1] = std::byte{13};
  EXPECT_FALSE(looks_like_itch50(file));
  EXPECT_FALSE(looks_like_itch50(Bytes(100, std::byte{0})));
  EXPECT_FALSE(looks_like_itch50({}));
}

TEST(ItchDecoder, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> messages;
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    messages.push_back(itch_add({.id = i}));
    messages.push_back(itch_replace(i, {.id = i + 10'000}));
    messages.push_back(itch_change('D', i + 10'000, 0));
  }
  const Bytes file = file_of(messages);
  const auto source = make_itch_decoder(make_memory_stream("test.itch", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().records, 6'000U);
}

TEST(ItchDecoder, ReadsTheZeroPrefixedSample) {
  const std::string path = tocsin_data_path("itch/itch50_ritch_simulated.gz");
  if (path.empty()) GTEST_SKIP() << "no itch/itch50_ritch_simulated.gz in TOCSIN_DATA";
  auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream.ok());
  const auto source = make_itch_decoder(std::move(stream).value(), {});
  const DrainedSource decoded = drain(*source.value());
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.counters.records, 12'012U);
  const std::map<std::string, std::uint64_t> expected = {{"A add order", 4'997},
                                                         {"P trade", 5'000},
                                                         {"D order delete", 1'745},
                                                         {"E order executed", 198},
                                                         {"X order cancel", 45},
                                                         {"U order replace", 12},
                                                         {"F add order with participant", 3},
                                                         {"S system event", 6},
                                                         {"R stock directory", 3},
                                                         {"H trading action", 3}};
  EXPECT_EQ(decoded.by_type, expected);
  EXPECT_EQ(decoded.counters.malformed, 0U);
  EXPECT_EQ(decoded.counters.ignored, 9U) << "system events and the directory";
  ASSERT_EQ(decoded.instruments.size(), 3U);
  EXPECT_EQ(decoded.instruments[0].symbol, "ALC");
  const auto clears =
      std::count_if(decoded.events.begin(), decoded.events.end(),
                    [](const MarketEvent& event) { return event.kind == EventKind::kClear; });
  EXPECT_EQ(clears, 3);
  // One event a message that yields any, two for a replacement, one more for each cleared book.
  EXPECT_EQ(decoded.counters.events, 12'012U - 9U + 12U + 3U);
}

}  // namespace
}  // namespace tocsin
