// IEX DEEP and TOPS: atomic updates, statuses, sessions that start over, and IEX's own capture.
#include "ingest/iex_protocol.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/packet_feed_bytes.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

DrainedSource decode(const std::vector<Bytes>& payloads, std::vector<std::string> symbols = {}) {
  const Bytes file = capture_of(payloads);
  FileSourceOptions options;
  options.symbols = std::move(symbols);
  return drain_made(make_iex_decoder(make_memory_stream("test.pcap", file), options));
}

TEST(IexProtocol, EndsAnUpdateAtTheLastLevelOfItsTransaction) {
  const DrainedSource decoded = decode(
      {iex_packet({}, {iex_level({.complete = false, .shares = 0}, {}), iex_trade(100, 100'000, {}),
                       iex_level({.side = '5', .shares = 300, .price = 100'100}, {})})});
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kSetLevel, EventKind::kTrade, EventKind::kSetLevel}));
  EXPECT_FALSE(decoded.events[0].end_of_update);
  EXPECT_FALSE(decoded.events[1].end_of_update) << "the book is in transition";
  EXPECT_TRUE(decoded.events[2].end_of_update);
  EXPECT_EQ(decoded.events[0].side, Side::kBid);
  EXPECT_EQ(decoded.events[0].price_nanos, 10'000'000'000);
  EXPECT_EQ(decoded.events[0].quantity_nanos, 0);
  EXPECT_EQ(decoded.events[2].side, Side::kAsk);
  EXPECT_EQ(decoded.events[2].price_nanos, 10'010'000'000);
  EXPECT_EQ(decoded.events[2].quantity_nanos, 300'000'000'000);
  EXPECT_EQ(decoded.events[2].sequence, 3U);
  EXPECT_EQ(decoded.events[1].order_id, 42U);
  EXPECT_EQ(decoded.instruments[0].symbol, "ZIEXT");
}

TEST(IexProtocol, LetsATradeAloneBeAnUpdate) {
  const DrainedSource decoded = decode({iex_packet({}, {iex_trade(100, 100'000, {})})});
  ASSERT_EQ(decoded.events.size(), 1U);
  EXPECT_TRUE(decoded.events[0].end_of_update);
  EXPECT_EQ(decoded.events[0].side, Side::kNone);
}

TEST(IexProtocol, ClearsBooksThatWereSeenFromTheStart) {
  const DrainedSource decoded =
      decode({iex_packet({}, {iex_system_event('O'), iex_level({}, {}), iex_level({}, {})})});
  EXPECT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kSetLevel, EventKind::kSetLevel}));
  EXPECT_TRUE(decoded.events[0].quality.has(Quality::kSnapshot));
  EXPECT_EQ(decode({iex_packet({}, {iex_level({}, {})})}).events.size(), 1U);
}

TEST(IexProtocol, FlagsAGapOnEverySecurity) {
  const DrainedSource decoded = decode({
      iex_packet({}, {iex_level({}, {"A"}), iex_level({}, {"B"})}),
      iex_packet({.first = 5}, {}),
      iex_packet({.first = 5}, {iex_level({}, {"A"}), iex_level({}, {"B"})}),
      iex_packet({.first = 5}, {iex_level({}, {"A"}), iex_level({}, {"B"})}),
  });
  EXPECT_EQ(decoded.counters.gaps, 1U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  EXPECT_EQ(decoded.counters.duplicates, 2U) << "the second line";
  EXPECT_EQ(decoded.by_type.at("heartbeat"), 1U);
  ASSERT_EQ(decoded.events.size(), 4U);
  EXPECT_FALSE(decoded.events[1].quality.has(Quality::kGap));
  EXPECT_TRUE(decoded.events[2].quality.has(Quality::kGap));
  EXPECT_TRUE(decoded.events[3].quality.has(Quality::kGap));
}

TEST(IexProtocol, FollowsASessionThatIsSentAnew) {
  const Bytes first = iex_packet({.send_time_ns = 10}, {iex_system_event('O'), iex_level({}, {})});
  const DrainedSource decoded = decode({
      first,
      first,
      iex_packet({.send_time_ns = 30}, {iex_system_event('O'), iex_level({}, {})}),
  });
  EXPECT_EQ(decoded.counters.duplicates, 2U) << "the copy was sent when its original was";
  EXPECT_EQ(decoded.counters.gaps, 0U);
  EXPECT_EQ(decoded.by_type.at("session started over"), 1U);
  EXPECT_EQ(decoded.count(EventKind::kClear), 2U);
}

TEST(IexProtocol, FlagsAGapWhereASessionEndsWithoutAStart) {
  const DrainedSource decoded = decode({
      iex_packet({.session = 7}, {iex_level({}, {})}),
      iex_packet({.session = 8, .first = 100}, {iex_level({}, {}), iex_level({}, {})}),
  });
  EXPECT_EQ(decoded.counters.gaps, 0U) << "nothing says how much is missing";
  ASSERT_EQ(decoded.events.size(), 3U);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kGap));
}

TEST(IexProtocol, TakesNoLateCopyForTheNextSession) {
  const DrainedSource decoded = decode({
      iex_packet({.session = 7, .send_time_ns = 10}, {iex_level({}, {})}),
      iex_packet({.session = 8, .send_time_ns = 20}, {iex_system_event('O'), iex_level({}, {})}),
      iex_packet({.session = 7, .send_time_ns = 10}, {iex_level({}, {})}),
      iex_packet({.session = 8, .first = 3, .send_time_ns = 30}, {iex_level({}, {})}),
  });
  EXPECT_EQ(decoded.by_type.at("session started over"), 1U);
  EXPECT_EQ(decoded.counters.duplicates, 1U);
  EXPECT_EQ(decoded.count(EventKind::kSetLevel), 3U);
  EXPECT_FALSE(decoded.events.back().quality.any());
}

TEST(IexProtocol, StatesTheWholeTopOfABook) {
  const DrainedSource decoded = decode(
      {iex_packet(
           {.protocol = kIexTops16},
           {iex_quote(
                {.bid_shares = 100, .bid_price = 99'900, .ask_price = 100'000, .ask_shares = 200},
                {}),
            iex_quote({.ask_price = 100'000, .ask_shares = 200}, {})}),
       iex_packet({.protocol = kIexTops16, .first = 9}, {iex_quote({}, {})})});
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kSetLevel, EventKind::kSetLevel,
                         EventKind::kClear, EventKind::kSetLevel, EventKind::kClear}));
  EXPECT_FALSE(decoded.events[1].end_of_update);
  EXPECT_TRUE(decoded.events[2].end_of_update);
  EXPECT_EQ(decoded.events[4].side, Side::kAsk);
  EXPECT_TRUE(decoded.events[5].end_of_update) << "nothing is quoted";
  EXPECT_EQ(decoded.events[5].quality, QualityFlags(Quality::kTradeGap)) << "the book is whole";
}

TEST(IexProtocol, TellsStatuses) {
  const Bytes halted = iex_header('O', 'O', {}).bytes();
  const Bytes resumed = iex_header('O', 'N', {}).bytes();
  const DrainedSource decoded =
      decode({iex_packet({}, {iex_status('T', {}), halted, iex_status('T', {}), resumed, resumed,
                              iex_status('O', {}), iex_status('P', {}), iex_status('?', {})})});
  std::vector<TradingStatus> statuses;
  for (const MarketEvent& event : decoded.events) statuses.push_back(event.status);
  EXPECT_EQ(statuses, (std::vector{TradingStatus::kTrading, TradingStatus::kHalted,
                                   TradingStatus::kHalted, TradingStatus::kTrading,
                                   TradingStatus::kAuction, TradingStatus::kHalted}));
  EXPECT_EQ(decoded.counters.ignored, 1U) << "an operational halt that was none";
  EXPECT_EQ(decoded.counters.malformed, 1U);
}

TEST(IexProtocol, TakesTheTickFromTheDirectory) {
  const DrainedSource decoded = decode(
      {iex_packet({}, {iex_directory(9'999, {"PENNY"}), iex_directory(10'000, {"DOLLAR"})})});
  ASSERT_EQ(decoded.instruments.size(), 2U);
  EXPECT_EQ(decoded.instruments[0].price_tick_nanos, 100'000);
  EXPECT_EQ(decoded.instruments[1].price_tick_nanos, 10'000'000);
}

TEST(IexProtocol, PassesOverSymbolsThatWereNotAskedFor) {
  const DrainedSource decoded =
      decode({iex_packet({}, {iex_level({.price = -1}, {"A"}), iex_level({}, {"B"})})}, {"B"});
  EXPECT_EQ(decoded.counters.filtered, 1U);
  EXPECT_EQ(decoded.counters.bad_quantity, 0U) << "it is not decoded";
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_EQ(decoded.instruments[0].symbol, "B");
}

TEST(IexProtocol, TakesAPriceThatOverflowsForAFaultOfItsMessage) {
  const DrainedSource decoded =
      decode({iex_packet({}, {iex_level({.price = INT64_MAX / 50'000}, {}), iex_level({}, {}),
                              iex_trade(0, 1, {}), iex_level({}, {"B"})})});
  EXPECT_EQ(decoded.counters.bad_quantity, 2U);
  ASSERT_EQ(decoded.faults.size(), 2U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 1, message 1 of 4: a message '8' with a price or size that cannot be");
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_TRUE(decoded.events[0].quality.has(Quality::kGap)) << "its level was lost";
  EXPECT_FALSE(decoded.events[1].quality.has(Quality::kGap));
}

TEST(IexProtocol, GoesOnAtTheNextPacketAfterACorruptMessage) {
  Bytes cut = iex_packet({}, {iex_level({}, {}), iex_level({}, {})});
  cut[40 + 32] = std::byte{29};  // the second message's length
  const DrainedSource decoded = decode(
      {cut, iex_packet({.first = 3}, {iex_level({}, {}), iex_header('~', 'x', {}).bytes()})});
  EXPECT_EQ(decoded.counters.malformed, 1U);
  EXPECT_EQ(decoded.counters.missing, 1U);
  ASSERT_EQ(decoded.faults.size(), 1U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 1, message 2 of 2: a message '8' (price level update, buy) of 29 bytes; it "
            "has 30");
  EXPECT_EQ(decoded.events.size(), 2U);
  EXPECT_EQ(decoded.by_type.at("message of an unknown type"), 1U);
}

TEST(IexProtocol, RefusesWhatItDoesNotRead) {
  const DrainedSource plus = decode({iex_packet({.protocol = kIexDeepPlus}, {iex_level({}, {})})});
  EXPECT_EQ(plus.code, ErrorCode::kDataLoss);
  EXPECT_NE(plus.error.find("DEEP+"), std::string::npos) << plus.error;
}

TEST(IexProtocol, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> payloads;
  for (std::uint64_t i = 1; i <= 500; ++i) {
    payloads.push_back(iex_packet({.first = 2 * i}, {iex_level({}, {}), iex_trade(1, 1, {})}));
  }
  const Bytes file = capture_of(payloads);
  const auto source = make_iex_decoder(make_memory_stream("test.pcap", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().events, 1'000U);
}

// What is known of the books without the order book itself: price to quantity, a side.
class Levels {
 public:
  // True if the book is crossed or locked at the end of an update.
  bool apply(const MarketEvent& event) {
    Book& book = books_[event.instrument];
    if (event.kind == EventKind::kClear) book = {};
    if (event.kind == EventKind::kSetLevel) {
      auto& side = event.side == Side::kBid ? book.bids : book.asks;
      if (event.quantity_nanos == 0) {
        side.erase(event.price_nanos);
      } else {
        side[event.price_nanos] = event.quantity_nanos;
      }
    }
    return event.end_of_update && !book.bids.empty() && !book.asks.empty() &&
           book.bids.rbegin()->first >= book.asks.begin()->first;
  }

 private:
  struct Book {
    std::map<std::int64_t, std::int64_t> bids;
    std::map<std::int64_t, std::int64_t> asks;
  };
  std::map<InstrumentId, Book> books_;
};

// A test feed of IEX's: one session, sent five times under one number. Its books are crossed by the
// feed's own word, which a second decoder in another language agrees with.
TEST(IexProtocol, ReadsIexsOwnCapture) {
  const std::string path = tocsin_data_path("iex/iex_DEEP10_first15000pkts.pcap.gz");
  if (path.empty()) GTEST_SKIP() << "no iex/iex_DEEP10_first15000pkts.pcap.gz in TOCSIN_DATA";
  FileSourceOptions options;
  options.path = path;
  const auto source = open_file_source(options);
  ASSERT_TRUE(source.ok()) << source.error().message();
  const DrainedSource decoded = drain(*source.value());
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(source.value()->venue(), "IEX DEEP 1.0");
  const std::map<std::string, std::uint64_t> types = {{"S system event", 20},
                                                      {"H trading status", 39'017},
                                                      {"O operational halt status", 39'017},
                                                      {"P short sale price test status", 39'015},
                                                      {"E security event", 23},
                                                      {"8 price level update, buy", 1'724},
                                                      {"5 price level update, sell", 1'659},
                                                      {"T trade report", 9'440},
                                                      {"session started over", 4}};
  for (const auto& [name, count] : types) EXPECT_EQ(decoded.by_type.at(name), count) << name;
  EXPECT_EQ(decoded.by_type.at("UDP packet"), 15'000U);
  EXPECT_EQ(decoded.counters.gaps, 0U);
  EXPECT_EQ(decoded.counters.malformed + decoded.counters.bad_quantity, 0U);
  EXPECT_EQ(decoded.counters.duplicates + decoded.counters.out_of_order, 0U);
  EXPECT_EQ(decoded.counters.time_backwards, 100U);
  Levels levels;
  std::uint64_t crossed = 0;
  std::uint64_t updates = 0;
  for (const MarketEvent& event : decoded.events) {
    crossed += levels.apply(event) ? 1 : 0;
    updates += event.end_of_update ? 1 : 0;
  }
  EXPECT_EQ(crossed, 6'854U);
  EXPECT_EQ(updates, 12'185U);
}

}  // namespace
}  // namespace tocsin
