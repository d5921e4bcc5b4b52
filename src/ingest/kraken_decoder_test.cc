// Lines as Kraken documents them, of both versions of its interface.
#include "ingest/kraken_decoder.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::string_view kSnapshot1 =
    R"(1618678134.05: [992,{"as":[["354.80000000","1.40000000","1618678133.020508"],)"
    R"(["354.84000000","6.88212752","1618678132.981007"]],)"
    R"("bs":[["354.12000000","2.00000000","1618678132.5"]]},"book-10","XMR/USD"])";

DrainedSource drain_lines(std::initializer_list<std::string_view> lines,
                          std::vector<std::string> symbols = {}) {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  KrakenDecoder decoder(make_memory_stream("lines", std::as_bytes(std::span(text))),
                        std::move(symbols));
  return drain(decoder);
}

using enum EventKind;

TEST(KrakenDecoder, TakesAVersion1SnapshotAndAnUpdate) {
  const DrainedSource drained = drain_lines(
      {kSnapshot1,
       R"(1618678134.213106: [992,{"b":[["354.15000000","5.00000000","1618678133.365913"]],)"
       R"("c":"2583817756"},"book-10","XMR/USD"])"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kSetLevel, kTrimDepth,
                                          kSetLevel, kTrimDepth, kExpectChecksum}));
  ASSERT_EQ(drained.instruments.size(), 1U);
  EXPECT_EQ(drained.instruments[0].symbol, "XMR/USD");
  EXPECT_EQ(drained.instruments[0].price_tick_nanos, 10'000'000);
  EXPECT_EQ(drained.instruments[0].quantity_step_nanos, 10);
  EXPECT_EQ(drained.instruments[0].price_decimals, 8);
  EXPECT_EQ(drained.instruments[0].quantity_decimals, 8);
  const MarketEvent& bid = drained.events[1];
  EXPECT_EQ(bid.side, Side::kBid);
  EXPECT_EQ(bid.price_nanos, 354'120'000'000);
  EXPECT_TRUE(bid.quality.has(Quality::kSnapshot));
  EXPECT_EQ(bid.exchange_time_ns, 1'618'678'133'020'508'000);  // the latest level's
  EXPECT_EQ(bid.receive_time_ns, 1'618'678'134'050'000'000);
  EXPECT_EQ(drained.events[4].level_index, 10);
  EXPECT_TRUE(drained.events[4].end_of_update);
  EXPECT_FALSE(drained.events[5].end_of_update);
  EXPECT_EQ(drained.events[5].quantity_nanos, 5'000'000'000);
  EXPECT_EQ(drained.events[7].order_id, 2'583'817'756U);
  EXPECT_TRUE(drained.events[7].end_of_update);
}

TEST(KrakenDecoder, TakesBothSidesOfOneMessageAndLevelsToldAgain) {
  const DrainedSource drained = drain_lines(
      {kSnapshot1,
       R"(1618678135.0: [992,{"a":[["354.81000000","1.0","1618678134.9"],)"
       R"(["354.90000000","3.0","1618670000.0","r"]]},)"
       R"({"b":[["354.13000000","0.00000000","1618678134.8"]],"c":"7"},"book-10","XMR/USD"])"});
  ASSERT_EQ(drained.events.size(), 10U);
  EXPECT_EQ(drained.events[5].side, Side::kAsk);
  EXPECT_EQ(drained.events[6].price_nanos, 354'900'000'000);
  EXPECT_EQ(drained.events[7].side, Side::kBid);
  EXPECT_EQ(drained.events[7].quantity_nanos, 0);
  EXPECT_EQ(drained.events[9].order_id, 7U);
  EXPECT_EQ(drained.events[9].exchange_time_ns, 1'618'678'134'900'000'000);
  EXPECT_EQ(drained.counters.time_backwards, 0U);
}

TEST(KrakenDecoder, TakesVersion2WithThePrecisionsOfTheInstrumentChannel) {
  const DrainedSource drained = drain_lines(
      {R"(1000 {"channel":"instrument","type":"snapshot","data":{"assets":[],"pairs":[)"
       R"({"symbol":"BTC/USD","price_precision":1,"qty_precision":8}]}})",
       R"(1500 {"method":"subscribe","result":{"channel":"book","depth":25,"symbol":"BTC/USD"}})",
       R"(2000 {"channel":"book","type":"snapshot","data":[{"symbol":"BTC/USD","bids":)"
       R"([{"price":45283,"qty":0.1}],"asks":[{"price":45285.2,"qty":1e-3}],)"
       R"("checksum":3310070434}]})",
       R"(3000 {"channel":"book","type":"update","data":[{"symbol":"BTC/USD","bids":[],"asks":)"
       R"([{"price":45285.2,"qty":0}],"checksum":1,"timestamp":"2023-10-06T17:35:55.440295Z"}]})",
       R"(4000 {"channel":"heartbeat"})"});
  EXPECT_EQ(drained.kinds(), (std::vector{kClear, kSetLevel, kSetLevel, kTrimDepth, kExpectChecksum,
                                          kSetLevel, kTrimDepth, kExpectChecksum}));
  EXPECT_EQ(drained.instruments[0].price_decimals, 1);
  EXPECT_EQ(drained.instruments[0].quantity_decimals, 8);
  EXPECT_EQ(drained.events[2].quantity_nanos, 1'000'000);
  EXPECT_EQ(drained.events[3].level_index, 25);
  EXPECT_EQ(drained.events[4].order_id, 3'310'070'434U);
  EXPECT_EQ(drained.events[4].exchange_time_ns, 2'000);  // no time of its own: when it came
  EXPECT_EQ(drained.events[7].exchange_time_ns, 1'696'613'755'440'295'000);
  EXPECT_EQ(drained.by_type.at("heartbeat"), 1U);
  EXPECT_EQ(drained.counters.ignored, 3U);
}

TEST(KrakenDecoder, TakesTradesOfBothVersions) {
  const DrainedSource drained = drain_lines(
      {kSnapshot1,
       R"(1618678135.0: [0,[["354.5","0.15","1618678134.5","s","l",""],)"
       R"(["354.6","0.25","1618678134.6","b","m",""]],"trade","XMR/USD"])",
       R"(1618678136.0: {"channel":"trade","type":"update","data":[{"symbol":"XMR/USD",)"
       R"("side":"buy",)"
       R"("price":354.7,"qty":0.5,"ord_type":"limit","trade_id":7,)"
       R"("timestamp":"2021-04-17T16:48:56Z"}]})",
       R"(1618678137.0: {"channel":"trade","type":"update","data":[{"symbol":"XMR/USD",)"
       R"("side":"sell",)"
       R"("price":354.8,"qty":0.5,"trade_id":10,"timestamp":"2021-04-17T16:48:57Z"}]})"});
  ASSERT_EQ(drained.count(kTrade), 4U);
  const auto* trade = &drained.events[5];
  EXPECT_EQ(trade[0].side, Side::kAsk);
  EXPECT_FALSE(trade[0].end_of_update);
  EXPECT_EQ(trade[1].side, Side::kBid);
  EXPECT_EQ(trade[1].quantity_nanos, 250'000'000);
  EXPECT_TRUE(trade[1].end_of_update);
  EXPECT_EQ(trade[2].order_id, 7U);
  EXPECT_EQ(trade[3].quality, QualityFlags(Quality::kTradeGap));
  EXPECT_EQ(drained.counters.missing, 2U);
}

TEST(KrakenDecoder, ALostUpdateIsAGapForItsBookAlone) {
  const std::string other =
      std::string(kSnapshot1).replace(std::string(kSnapshot1).find("XMR"), 3, "ADA");
  const DrainedSource drained = drain_lines(
      {kSnapshot1, other,
       R"(1618678135.0: [992,{"b":[["354.1","x","1618678134.8"]],"c":"7"},"book-10","XMR/USD"])",
       R"(1618678135.1: [992,{"b":[["354.1","99999999999","1618678134.8"]],"c":"7"},)"
       R"("book-10","XMR/USD"])",
       R"(1618678135.2: [992,{"b":[["354.1","1","1618678134.9"]],"c":"7"},"book-10","ADA/USD"])",
       R"(1618678135.3: [992,{"b":[["354.1","1","1618678134.9"]],"c":"7"},"book-10","XMR/USD"])",
       R"(1618678135.4: [992,{"b":)",
       R"(1618678135.5: [992,{"b":[["354.1","1","1618678134.9"]],"c":"7"},"book-10","ADA/USD"])"});
  EXPECT_EQ(drained.counters.malformed, 2U);
  EXPECT_EQ(drained.counters.bad_quantity, 1U);
  ASSERT_EQ(drained.faults.size(), 3U);
  EXPECT_EQ(drained.faults[0].record, 3U);
  EXPECT_NE(drained.faults[2].message.find("byte 10"), std::string::npos)
      << drained.faults[2].message;
  const auto* updates = &drained.events[10];
  EXPECT_FALSE(updates[0].quality.has(Quality::kGap));
  EXPECT_TRUE(updates[3].quality.has(Quality::kGap));
  EXPECT_TRUE(updates[6].quality.has(Quality::kGap));  // nobody knows whose the broken line was
}

TEST(KrakenDecoder, APriceOutOfRangeLeavesOutItsLevelAlone) {
  std::string joke(kSnapshot1);
  joke.replace(joke.find("354.84"), 6, "9999999997");
  const DrainedSource drained = drain_lines({joke});
  EXPECT_EQ(drained.count(kSetLevel), 2U);
  EXPECT_EQ(drained.counters.bad_quantity, 1U);
  ASSERT_EQ(drained.faults.size(), 1U);
  EXPECT_NE(drained.faults[0].message.find("9999999997"), std::string::npos);
}

TEST(KrakenDecoder, YieldsNothingBeforeASnapshotAndOfOtherSymbols) {
  const DrainedSource drained = drain_lines(
      {R"(1618678134.0: [992,{"b":[["354.1","1","1618678133.9"]],"c":"7"},"book-10","XMR/USD"])",
       kSnapshot1, R"(wss://ws.kraken.com <-> 1618678132.3858151)", ""},
      {"ADA/USD", "XMR/USD"});
  EXPECT_EQ(drained.counters.ignored, 3U);
  EXPECT_EQ(drained.events.size(), 5U);
  const DrainedSource filtered = drain_lines({kSnapshot1}, {"ADA/USD"});
  EXPECT_EQ(filtered.counters.filtered, 1U);
  EXPECT_TRUE(filtered.events.empty());
  const DrainedSource bookless = drain_lines(
      {R"(1618678134.0: [992,{"b":[["354.1","1","1618678133.9"]],"c":"7"},"book-10","XMR/USD"])"});
  ASSERT_EQ(bookless.faults.size(), 1U);
  EXPECT_NE(bookless.faults[0].message.find("no book snapshot"), std::string::npos);
}

TEST(KrakenDecoder, IsToldByItsFirstLine) {
  const auto looks = [](std::string_view text) {
    return looks_like_kraken(std::as_bytes(std::span(text)));
  };
  EXPECT_TRUE(looks("wss://ws.kraken.com <-> 1618678132.3858151\n"));
  EXPECT_FALSE(looks("wss://api.bitfinex.com <-> 1618678132.3858151\nwss://ws.kraken.com"));
  EXPECT_TRUE(looks(kSnapshot1));
  EXPECT_TRUE(looks(R"(1700000000000000000 {"channel":"status","type":"update"})"));
  EXPECT_FALSE(looks(R"(1723161255030314667 {"stream":"btcusdt@depth@0ms","data":{}})"));
  EXPECT_FALSE(looks(R"({"channel":"book"})"));
}

TEST(KrakenDecoder, AllocatesNothingAfterWarmUp) {
  std::string text = std::string(kSnapshot1) + "\n";
  for (int i = 0; i < 2'000; ++i)
    text +=
        "1618678135.2: [992,{\"b\":[[\"354.1\",\"1\",\"1618678134.9\"]],\"c\":\"7\"},\"book-10\","
        "\"XMR/USD\"]\n";
  KrakenDecoder decoder(make_memory_stream("lines", std::as_bytes(std::span(text))), {});
  EventBatch batch;
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
