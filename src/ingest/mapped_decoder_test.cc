// Venues that no code knows, by maps: lines made by their documented formats.
#include "ingest/mapped_decoder.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/allocation_counter.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

using enum EventKind;

FeedMap shipped_map(const std::string& name) {
  auto map = read_feed_map(tocsin_source_path("config/maps/" + name + ".yaml"));
  EXPECT_TRUE(map.ok()) << map.error().message();
  return *std::move(map);
}

FeedMap map_of(std::string_view text) {
  auto map = parse_feed_map(text, "map.yaml");
  EXPECT_TRUE(map.ok()) << map.error().message();
  return *std::move(map);
}

DrainedSource drain_lines(FeedMap map, std::initializer_list<std::string_view> lines,
                          std::vector<std::string> symbols = {}) {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  MappedDecoder decoder(make_memory_stream("lines", std::as_bytes(std::span(text))),
                        std::move(symbols), std::move(map));
  return drain(decoder);
}

TEST(MappedDecoder, ReadsCoinbase) {
  const DrainedSource drained = drain_lines(
      shipped_map("coinbase"),
      {R"({"type":"subscriptions","channels":[]})",
       R"(1700000000000000001 {"type":"snapshot","product_id":"BTC-USD",)"
       R"("bids":[["10101.10","0.45054140"]],)"
       R"("asks":[["10102.55","0.57753524"]]})",
       R"({"type":"l2update","product_id":"BTC-USD","time":"2019-08-14T20:42:27.265Z","changes":)"
       R"([["buy","10101.80000000","0.162567"],["sell","10102.55","0"]]})",
       R"({"type":"match","trade_id":10,"sequence":50,"maker_order_id":"a","taker_order_id":"b",)"
       R"("time":"2014-11-07T08:19:27.028459Z","product_id":"BTC-USD","size":"5.23512","price":)"
       R"("400.23","side":"sell"})"});
  EXPECT_EQ(drained.kinds(),
            (std::vector{kClear, kSetLevel, kSetLevel, kSetLevel, kSetLevel, kTrade}));
  EXPECT_EQ(drained.instruments[0].symbol, "BTC-USD");
  EXPECT_EQ(drained.instruments[0].price_tick_nanos, 10'000'000);
  EXPECT_EQ(drained.events[0].receive_time_ns, 1'700'000'000'000'000'001);
  EXPECT_EQ(drained.events[3].side, Side::kBid);
  EXPECT_EQ(drained.events[3].price_nanos, 10'101'800'000'000);
  EXPECT_FALSE(drained.events[3].end_of_update);
  EXPECT_EQ(drained.events[4].quantity_nanos, 0);
  EXPECT_TRUE(drained.events[4].end_of_update);
  EXPECT_EQ(drained.events[4].exchange_time_ns, 1'565'815'347'265'000'000);
  EXPECT_EQ(drained.events[5].side, Side::kBid);  // the maker sold
  EXPECT_EQ(drained.events[5].quantity_nanos, 5'235'120'000);
  EXPECT_EQ(drained.counters.ignored, 1U);
  EXPECT_EQ(drained.counters.gaps, 0U);
}

TEST(MappedDecoder, ReadsBitstamp) {
  const DrainedSource drained = drain_lines(
      shipped_map("bitstamp"),
      {R"({"event":"bts:subscription_succeeded","channel":"order_book_btcusd","data":{}})",
       R"({"data":{"timestamp":"1643643584","microtimestamp":"1643643584684047",)"
       R"("bids":[["37000.5","1.5"]],)"
       R"("asks":[["37001.0","0.2"]]},"channel":"order_book_btcusd","event":"data"})",
       R"({"data":{"id":217,"timestamp":"1643643584","amount":0.02,)"
       R"("amount_str":"0.02000000","price":37001,)"
       R"("price_str":"37001","type":1,"microtimestamp":"1643643584700000","buy_order_id":1,)"
       R"("sell_order_id":2},"channel":"live_trades_btcusd","event":"trade"})"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kTrade}));
  EXPECT_EQ(drained.instruments[0].symbol, "BTCUSD");
  EXPECT_EQ(drained.events[1].exchange_time_ns, 1'643'643'584'684'047'000);
  EXPECT_EQ(drained.events[3].side, Side::kAsk);
  EXPECT_EQ(drained.events[3].order_id, 217U);
}

TEST(MappedDecoder, JoinsBinanceSpotByItsFirstNumbers) {
  const auto diff = [](std::uint64_t first, std::uint64_t last) {
    return R"({"stream":"bnbbtc@depth","data":{"e":"depthUpdate","E":1672515782136,)"
           R"("s":"BNBBTC","U":)" +
           std::to_string(first) + R"(,"u":)" + std::to_string(last) +
           R"(,"b":[["0.0024","10"]],"a":[]}})";
  };
  const DrainedSource drained = drain_lines(
      shipped_map("binance_spot"),
      {diff(155, 157), diff(158, 161),
       R"({"lastUpdateId":160,"bids":[["0.0024","10"]],"asks":[["0.0026","100"]]})", diff(162, 165),
       diff(167, 168),
       R"({"stream":"bnbbtc@bookTicker","data":{"u":165,"s":"BNBBTC","b":"0.0024","B":"10","a":)"
       R"("0.0026","A":"100"}})",
       R"({"stream":"bnbbtc@trade","data":{"e":"trade","E":1672515782136,"s":"BNBBTC","t":12345,)"
       R"("p":"0.001","q":"100","T":1672515782136,"m":true}})"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kSetLevel, kSetLevel,
                                          kSetLevel, kExpectTop, kExpectTop, kTrade}));
  EXPECT_EQ(drained.counters.gaps, 1U);  // 166 is missing
  EXPECT_TRUE(drained.events[5].quality.has(Quality::kGap));
  EXPECT_FALSE(drained.events[4].quality.has(Quality::kGap));
  EXPECT_EQ(drained.events[8].side, Side::kAsk);
  EXPECT_EQ(drained.counters.ignored, 1U);  // the diff that the snapshot holds
}

constexpr std::string_view kNumbered = R"(
name: numbered
format: json_lines
time_unit: ns
messages:
  - {kind: snapshot, when: [k=s], symbol: s, time: t, bids: b, asks: a, last: n}
  - {kind: diff, when: [k=d], symbol: s, time: t, bids: b, asks: a, last: n}
)";

TEST(MappedDecoder, JoinsConsecutiveAndIncreasingNumbers) {
  const auto with_join = [](std::string_view rule) {
    return map_of(std::string(kNumbered) + "join: " + std::string(rule) + "\n");
  };
  const std::initializer_list<std::string_view> lines = {
      R"({"k":"s","s":"X","t":1,"b":[["1","1"]],"a":[],"n":7})",
      R"({"k":"d","s":"X","t":2,"b":[["1","2"]],"n":8})",
      R"({"k":"d","s":"X","t":3,"b":[["1","3"]],"n":10})",
      R"({"k":"d","s":"X","t":4,"b":[["1","4"]],"n":10})",
      R"({"k":"d","s":"X","t":5,"b":[["1","5"]],"n":9})"};
  const DrainedSource consecutive = drain_lines(with_join("consecutive"), lines);
  EXPECT_EQ(consecutive.counters.gaps, 1U);
  EXPECT_EQ(consecutive.counters.duplicates, 1U);
  EXPECT_EQ(consecutive.counters.out_of_order, 1U);
  const DrainedSource increasing = drain_lines(with_join("increasing"), lines);
  EXPECT_EQ(increasing.counters.gaps, 0U);
  EXPECT_EQ(increasing.counters.duplicates, 1U);
  EXPECT_EQ(increasing.counters.out_of_order, 1U);
}

TEST(MappedDecoder, TakesEachElementOfAList) {
  const FeedMap map = map_of(R"(
name: listed
format: json_lines
time_unit: iso
ask_words: [offer]
messages:
  - {kind: snapshot, when: [/channel=l2, type=snapshot], each: events, symbol: product,
     time: /timestamp,
     levels: updates, side: side, price: price_level, quantity: new_quantity}
  - {kind: diff, when: [/channel=l2, type=update], each: events, symbol: product, time: /timestamp,
     levels: updates, side: side, price: price_level, quantity: new_quantity}
)");
  const DrainedSource drained = drain_lines(
      map,
      {R"({"channel":"l2","timestamp":"2023-02-09T20:32:50.714964855Z",)"
       R"("events":[{"type":"snapshot","product":)"
       R"("BTC-USD","updates":[{"side":"bid","price_level":"21921.73","new_quantity":"0.063"}]}]})",
       R"({"channel":"l2","timestamp":"2023-02-09T20:32:51Z",)"
       R"("events":[{"type":"update","product":"BTC-USD",)"
       R"("updates":[{"side":"offer","price_level":"21922",)"
       R"("new_quantity":"1"}]},{"type":"update","product":)"
       R"("BTC-USD","updates":[{"side":"bid","price_level":"21921.73","new_quantity":"0"}]}]})"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kSetLevel}));
  EXPECT_EQ(drained.events[0].exchange_time_ns, 1'675'974'770'714'964'855);
  EXPECT_EQ(drained.events[2].side, Side::kAsk);
}

TEST(MappedDecoder, ReadsATableAndNamesTheColumnOfAFault) {
  const DrainedSource drained =
      drain_lines(shipped_map("csv_trades_and_levels"),
                  {"time,symbol,kind,side,price,size", "1000000,X,level,buy,10.00,5",
                   "1000001,X,level,sell,10.01,\"3\"", "1000002,X,trade,sell,10.00,1.5",
                   "1000003,X,level,buy,abc,5", "1000004,X,level,up,10.00,5",
                   "1000005,X,level,buy,10.00", "1000006,X,trade,buy,10.00,99999999999",
                   "x,X,level,buy,10.00,5", "1000007,X,status,,,", "1000008,X,level,buy,10.00,0"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kTrade, kSetLevel}));
  EXPECT_EQ(drained.instruments[0].quantity_step_nanos, 1'000'000);
  EXPECT_TRUE(drained.events[0].quality.has(Quality::kSnapshot));
  EXPECT_EQ(drained.events[1].exchange_time_ns, 1'000'000'000);
  EXPECT_EQ(drained.events[3].side, Side::kAsk);
  EXPECT_TRUE(drained.events[4].quality.has(Quality::kGap));  // after levels that were lost
  EXPECT_EQ(drained.counters.malformed, 4U);
  EXPECT_EQ(drained.counters.bad_quantity, 1U);
  EXPECT_EQ(drained.counters.ignored, 2U);  // the header and the status
  ASSERT_EQ(drained.faults.size(), 5U);
  EXPECT_EQ(drained.faults[0].record, 5U);
  EXPECT_EQ(drained.faults[0].message,
            "column 5 (price): expected a decimal number of at most nine places, found abc");
  EXPECT_NE(drained.faults[1].message.find("column 4 (side)"), std::string::npos);
  EXPECT_NE(drained.faults[2].message.find("expected 6 columns, found 5"), std::string::npos);
  EXPECT_NE(drained.faults[3].message.find("column 6 (size)"), std::string::npos);
  EXPECT_NE(drained.faults[4].message.find("column 1 (time)"), std::string::npos);
}

constexpr std::string_view kTradesTable = R"(name: trades
format: csv
messages:
  - {kind: trade, symbol: symbol, time: time, price: price, quantity: size}
)";

TEST(MappedDecoder, ReadsATableBehindAByteOrderMark) {
  const DrainedSource drained = drain_lines(
      map_of(kTradesTable), {"\xEF\xBB\xBFtime,symbol,price,size", "1,ONE,10.5,2", "2,ONE,10.6,3"});
  EXPECT_EQ(drained.events.size(), 2U);
  EXPECT_EQ(drained.counters.malformed, 0U);
}

TEST(MappedDecoder, ATableOfWhichNoRowCanBeDecodedIsAnError) {
  const DrainedSource drained =
      drain_lines(map_of(kTradesTable), {"when,symbol,price,size", "1,ONE,10.5,2", "2,ONE,10.6,3"});
  EXPECT_EQ(drained.counters.malformed, 2U);
  EXPECT_NE(drained.error.find("not one record could be decoded"), std::string::npos);
}

TEST(MappedDecoder, SymbolsThatNobodyAskedForTakeNoPlace) {
  std::string text = "time,symbol,price,size\n";
  for (std::size_t i = 0; i < MappedDecoder::kSymbolsMax + 5; ++i)
    text += "1,S" + std::to_string(i) + ",10.5,2\n";
  MappedDecoder asked(make_memory_stream("lines", std::as_bytes(std::span(text))),
                      {"S" + std::to_string(MappedDecoder::kSymbolsMax + 4)}, map_of(kTradesTable));
  const DrainedSource one = drain(asked);
  EXPECT_EQ(one.events.size(), 1U);
  EXPECT_EQ(one.counters.malformed, 0U);
  EXPECT_EQ(one.counters.filtered, MappedDecoder::kSymbolsMax + 4);
  // One too many is its own fault, not that of the symbols before.
  text += "2,S0,10.5,2\n";
  MappedDecoder all(make_memory_stream("lines", std::as_bytes(std::span(text))), {},
                    map_of(kTradesTable));
  const DrainedSource many = drain(all);
  EXPECT_EQ(many.counters.malformed, 5U);
  EXPECT_EQ(many.events.size(), MappedDecoder::kSymbolsMax + 1);
  EXPECT_FALSE(many.events.back().quality.has(Quality::kTradeGap));
}

TEST(MappedDecoder, TakesLevelsByTheirRank) {
  const FeedMap map = map_of(R"(
name: ranked
format: csv
header: false
time_unit: ns
starts_empty: true
symbol_is: X
messages:
  - {kind: diff, time: "1", side: "2", level: "3", price: "4", quantity: "5"}
)");
  const DrainedSource drained = drain_lines(map, {"1,bid,0,100,5", "1,bid,1,99,6", "2,bid,0,101,1",
                                                  "2,bid,1,100,5", "3,bid,1,98,2", "3,bid,1,98,0"});
  std::map<std::int64_t, std::int64_t> book;
  for (const MarketEvent& event : drained.events)
    if (event.kind == kSetLevel)
      book[event.price_nanos / 1'000'000'000] = event.quantity_nanos / 1'000'000'000;
  EXPECT_EQ(book, (std::map<std::int64_t, std::int64_t>{{98, 0}, {99, 0}, {100, 0}, {101, 1}}));
  EXPECT_EQ(drain_lines(map, {"1,bid,5000,100,5"}).counters.malformed, 1U);
}

TEST(MappedDecoder, BeginsABookBehindATradeToo) {
  const DrainedSource drained =
      drain_lines(shipped_map("csv_trades_and_levels"),
                  {"time,symbol,kind,side,price,size", "1000000,X,trade,buy,10.00,1",
                   "1000001,X,level,buy,10.00,5", "1000002,X,level,sell,10.01,3"});
  EXPECT_EQ(drained.kinds(), (std::vector{kTrade, kClear, kSetLevel, kSetLevel}));
  EXPECT_EQ(drained.counters.ignored, 1U);  // the header
}

TEST(MappedDecoder, NamesTheFieldOfAFaultInJson) {
  const DrainedSource drained = drain_lines(
      map_of(kNumbered), {R"({"k":"s","s":"X","t":1,"b":[["1","1"],["2","x"]],"a":[],"n":7})",
                          R"({"k":"s","s":"X","t":"never","b":[],"a":[],"n":7})", R"({"k":"s")"});
  ASSERT_EQ(drained.faults.size(), 3U);
  EXPECT_EQ(drained.faults[0].message,
            "b[1].1: expected a decimal number of at most nine places, found x");
  EXPECT_NE(drained.faults[1].message.find("t: expected a time"), std::string::npos);
  EXPECT_NE(drained.faults[2].message.find("column 9 of the JSON text"), std::string::npos);
}

TEST(MappedDecoder, AllocatesNothingAfterWarmUp) {
  std::string text = R"({"k":"s","s":"X","t":1,"b":[["1","1"]],"a":[],"n":7})"
                     "\n";
  for (int i = 0; i < 2'000; ++i)
    text += R"({"k":"d","s":"X","t":2,"b":[["1","2"],["2","3"]],"a":[["5","1"]],"n":8})"
            "\n";
  MappedDecoder decoder(make_memory_stream("lines", std::as_bytes(std::span(text))), {},
                        map_of(kNumbered));
  EventBatch batch;
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
