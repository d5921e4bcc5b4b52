// The Binance decoder on hand-made lines.
#include "ingest/binance_decoder.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

struct Decoded {
  std::vector<EventBatch> records;  // [i] are the events of record i + 1
  SourceStatus end = SourceStatus::kEvents;
  std::string error;
  SourceCounters counters;
  std::vector<InputFault> faults;
  std::vector<Instrument> instruments;

  EventBatch all() const {
    EventBatch events;
    for (const EventBatch& record : records) {
      events.insert(events.end(), record.begin(), record.end());
    }
    return events;
  }
};

Decoded decode(std::string_view text, std::vector<std::string> symbols = {}) {
  BinanceDecoder decoder(make_memory_stream("memory", std::as_bytes(std::span(text))),
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
  return decoded;
}

struct Diff {
  std::uint64_t first = 0;     // U
  std::uint64_t last = 0;      // u
  std::uint64_t previous = 0;  // pu
  std::string bids = R"(["100.10","1.5"])";
  std::string asks = {};
  std::int64_t time_ms = 1000;
  std::string symbol = "BTCUSDT";
};

std::string line(const Diff& d) {
  return "1700000000000000000 {\"stream\":\"x@depth\",\"data\":{\"e\":\"depthUpdate\",\"E\":" +
         std::to_string(d.time_ms) + ",\"T\":" + std::to_string(d.time_ms) + ",\"s\":\"" +
         d.symbol + "\",\"U\":" + std::to_string(d.first) + ",\"u\":" + std::to_string(d.last) +
         ",\"pu\":" + std::to_string(d.previous) + ",\"b\":[" + d.bids + "],\"a\":[" + d.asks +
         "]}}\n";
}

std::string snapshot(std::uint64_t id, std::string_view bids = R"(["100.0","2"])",
                     std::string_view asks = R"(["100.5","3"])") {
  return "1700000000000000055 {\"lastUpdateId\":" + std::to_string(id) +
         ",\"E\":1001,\"T\":1001,\"bids\":[" + std::string(bids) + "],\"asks\":[" +
         std::string(asks) + "]}\n";
}

struct Trade {
  std::uint64_t id = 0;
  bool buyer_is_maker = false;
  std::string price = "100.1";
  std::string quantity = "0.5";
  std::string execution = "MARKET";
  std::string symbol = "BTCUSDT";
};

std::string line(const Trade& t) {
  return "1700000000000000100 {\"stream\":\"x@trade\",\"data\":{\"e\":\"trade\",\"E\":2000,\"T\":"
         "1999,\"s\":\"" +
         t.symbol + "\",\"t\":" + std::to_string(t.id) + ",\"p\":\"" + t.price + "\",\"q\":\"" +
         t.quantity + "\",\"X\":\"" + t.execution +
         "\",\"m\":" + (t.buyer_is_maker ? "true" : "false") + "}}\n";
}

std::string ticker(std::uint64_t id) {
  return "1700000000000000200 {\"stream\":\"x@bookTicker\",\"data\":{\"e\":\"bookTicker\",\"u\":" +
         std::to_string(id) +
         ",\"s\":\"BTCUSDT\",\"b\":\"100.0\",\"B\":\"2\",\"a\":\"100.5\",\"A\":\"3\",\"T\":3000,"
         "\"E\":3001}}\n";
}

// Joined at update id 100.
std::string joined() { return line(Diff{90, 100, 80}) + snapshot(100); }
constexpr std::size_t kJoinedRecords = 2;

TEST(BinanceDecoder, YieldsTheSnapshotThenTheHeldDiffsThatItNeeds) {
  const Decoded d = decode(line(Diff{.first = 50, .last = 60, .previous = 40}) +
                           line(Diff{.first = 61, .last = 80, .previous = 60}) +
                           line(Diff{.first = 81, .last = 120, .previous = 80, .time_ms = 1234}) +
                           line(Diff{.first = 121, .last = 130, .previous = 120}) + snapshot(100));
  ASSERT_EQ(d.end, SourceStatus::kEnd);
  ASSERT_EQ(d.records.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(d.records[i].empty());
  const EventBatch& events = d.records[4];
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].kind, EventKind::kClear);
  EXPECT_EQ(events[0].side, Side::kNone);
  EXPECT_EQ(events[1].kind, EventKind::kSetLevel);
  EXPECT_EQ(events[1].side, Side::kBid);
  EXPECT_EQ(events[1].price_nanos, 100'000'000'000);
  EXPECT_EQ(events[1].quantity_nanos, 2'000'000'000);
  EXPECT_EQ(events[2].side, Side::kAsk);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i].quality, QualityFlags(Quality::kSnapshot));
    EXPECT_EQ(events[i].sequence, 100U);
    EXPECT_EQ(events[i].end_of_update, i == 2);
    EXPECT_EQ(events[i].receive_time_ns, 1700000000000000055);
    EXPECT_EQ(events[i].exchange_time_ns, 1001'000'000);
  }
  EXPECT_EQ(events[3].sequence, 120U);
  EXPECT_EQ(events[3].exchange_time_ns, 1234'000'000) << "a held diff keeps its own time";
  EXPECT_EQ(events[3].receive_time_ns, 1700000000000000000);
  EXPECT_EQ(events[4].sequence, 130U);
  for (std::size_t i = 3; i < 5; ++i) EXPECT_TRUE(events[i].end_of_update);
  for (const MarketEvent& event : events) EXPECT_EQ(event.record, 5U);
  EXPECT_EQ(d.counters.ignored, 2U) << "the two diffs that the snapshot holds already";
  EXPECT_EQ(d.counters.gaps, 0U);
  EXPECT_EQ(d.counters.events, 5U);
  EXPECT_EQ(d.counters.time_backwards, 1U);
}

TEST(BinanceDecoder, AcceptsADiffThatBeginsRightBehindTheSnapshot) {
  const Decoded d = decode(line(Diff{90, 100, 80}) + snapshot(105) +
                           line(Diff{.first = 110, .last = 120, .previous = 105}));
  EXPECT_EQ(d.counters.gaps, 0U);
  EXPECT_EQ(d.records[2].size(), 1U);
}

TEST(BinanceDecoder, FlagsAHoleBetweenSnapshotAndFirstDiff) {
  const Decoded d = decode(line(Diff{90, 100, 80}) + snapshot(100) +
                           line(Diff{.first = 120, .last = 130, .previous = 110}));
  EXPECT_EQ(d.counters.gaps, 1U);
  ASSERT_EQ(d.records[2].size(), 1U);
  EXPECT_TRUE(d.records[2][0].quality.has(Quality::kGap));
  ASSERT_EQ(d.faults.size(), 1U);
  EXPECT_EQ(d.faults[0].record, 3U);
  EXPECT_NE(d.faults[0].message.find("BTCUSDT"), std::string::npos);
}

TEST(BinanceDecoder, FlagsOneGapWhereADiffIsMissingAndGoesOn) {
  const Decoded d = decode(joined() + line(Diff{101, 110, 100}) + line(Diff{121, 130, 120}) +
                           line(Diff{131, 140, 130}));
  EXPECT_EQ(d.counters.gaps, 1U);
  const auto quality = [&](std::size_t i) { return d.records[kJoinedRecords + i].at(0).quality; };
  EXPECT_FALSE(quality(0).has(Quality::kGap));
  EXPECT_TRUE(quality(1).has(Quality::kGap));
  EXPECT_FALSE(quality(2).has(Quality::kGap));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(d.records[kJoinedRecords + i].back().end_of_update);
  }
}

TEST(BinanceDecoder, JoinsTheNextSnapshotAfterAGapWithTheDiffsSinceTheGap) {
  const Decoded d = decode(joined() + line(Diff{121, 130, 120}) + line(Diff{131, 140, 130}) +
                           line(Diff{141, 150, 140}) + snapshot(135) + line(Diff{151, 160, 150}));
  EXPECT_EQ(d.counters.gaps, 1U);
  const EventBatch& healed = d.records[5];
  ASSERT_EQ(healed.size(), 5U) << "snapshot, then the diffs up to 140 and 150";
  EXPECT_EQ(healed[0].kind, EventKind::kClear);
  EXPECT_EQ(healed[3].sequence, 140U);
  EXPECT_EQ(healed[4].sequence, 150U);
  EXPECT_EQ(d.counters.ignored, 0U) << "the dropped diff had been passed on before";
  ASSERT_EQ(d.records[6].size(), 1U);
  EXPECT_FALSE(d.records[6][0].quality.any());
}

TEST(BinanceDecoder, IgnoresASnapshotOlderThanAWholeBookAndTakesANewerOne) {
  const Decoded d =
      decode(joined() + line(Diff{101, 110, 100}) + snapshot(105) + line(Diff{111, 120, 110}) +
             snapshot(125) + line(Diff{121, 124, 120}) + line(Diff{125, 130, 124}));
  EXPECT_EQ(d.counters.gaps, 0U);
  EXPECT_TRUE(d.records[3].empty());
  EXPECT_EQ(d.records[5].size(), 3U);
  EXPECT_TRUE(d.records[6].empty()) << "the newer snapshot holds it already";
  EXPECT_EQ(d.records[7].size(), 1U);
  EXPECT_EQ(d.counters.ignored, 2U);
}

TEST(BinanceDecoder, FlagsRepeatedAndLateDiffsAndCompletesNoUpdateWithThem) {
  const Decoded d = decode(joined() + line(Diff{101, 110, 100}) + line(Diff{101, 110, 100}) +
                           line(Diff{91, 95, 90}) + line(Diff{111, 120, 110}));
  EXPECT_EQ(d.counters.gaps, 0U);
  EXPECT_EQ(d.counters.duplicates, 1U);
  EXPECT_EQ(d.counters.out_of_order, 1U);
  EXPECT_EQ(d.records[3].at(0).quality, QualityFlags(Quality::kDuplicate));
  EXPECT_FALSE(d.records[3].at(0).end_of_update);
  EXPECT_EQ(d.records[4].at(0).quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_FALSE(d.records[4].at(0).end_of_update);
  EXPECT_FALSE(d.records[5].at(0).quality.any());
}

TEST(BinanceDecoder, CarriesTheGapOfADiffWithoutLevelsToTheNextEvent) {
  const Decoded d = decode(
      joined() + line(Diff{.first = 121, .last = 130, .previous = 120, .bids = "", .asks = ""}) +
      line(Diff{131, 140, 130}) + line(Diff{141, 150, 140}));
  EXPECT_EQ(d.counters.gaps, 1U);
  EXPECT_TRUE(d.records[2].empty());
  EXPECT_TRUE(d.records[3].at(0).quality.has(Quality::kGap));
  EXPECT_FALSE(d.records[4].at(0).quality.any());
}

TEST(BinanceDecoder, EndsTheUpdateOnTheLastLevelOfADiff) {
  const Decoded d = decode(joined() + line(Diff{.first = 101,
                                                .last = 110,
                                                .previous = 100,
                                                .bids = R"(["99.9","1"],["99.8","0.000"])",
                                                .asks = R"(["100.6","7"])"}));
  const EventBatch& events = d.records[2];
  ASSERT_EQ(events.size(), 3U);
  EXPECT_FALSE(events[0].end_of_update);
  EXPECT_FALSE(events[1].end_of_update);
  EXPECT_EQ(events[1].quantity_nanos, 0);
  EXPECT_TRUE(events[2].end_of_update);
  EXPECT_EQ(events[2].side, Side::kAsk);
}

TEST(BinanceDecoder, TellsTheAggressorFromTheMaker) {
  const Decoded d = decode(joined() + line(Trade{.id = 7, .buyer_is_maker = true}) +
                           line(Trade{.id = 8, .buyer_is_maker = false}));
  const MarketEvent& sold = d.records[2].at(0);
  EXPECT_EQ(sold.kind, EventKind::kTrade);
  EXPECT_EQ(sold.side, Side::kAsk);
  EXPECT_EQ(sold.sequence, 7U);
  EXPECT_EQ(sold.order_id, 7U);
  EXPECT_EQ(sold.price_nanos, 100'100'000'000);
  EXPECT_EQ(sold.quantity_nanos, 500'000'000);
  EXPECT_EQ(sold.exchange_time_ns, 1999'000'000) << "T, not E";
  EXPECT_TRUE(sold.end_of_update);
  EXPECT_EQ(d.records[3].at(0).side, Side::kBid);
}

TEST(BinanceDecoder, ChecksTradeIdsAndLeavesOutTradesThatAreNoPrints) {
  const Decoded d = decode(
      joined() + line(Trade{.id = 7}) + line(Trade{.id = 8, .execution = "INSURANCE_FUND"}) +
      line(Trade{.id = 9}) + line(Trade{.id = 12}) + line(Trade{.id = 12}) + line(Trade{.id = 10}));
  EXPECT_TRUE(d.records[3].empty());
  EXPECT_EQ(d.counters.ignored, 1U);
  EXPECT_FALSE(d.records[4].at(0).quality.any()) << "id 8 was there";
  EXPECT_TRUE(d.records[5].at(0).quality.has(Quality::kTradeGap));
  EXPECT_EQ(d.counters.gaps, 1U);
  EXPECT_EQ(d.counters.missing, 2U);
  EXPECT_TRUE(d.records[6].at(0).quality.has(Quality::kDuplicate));
  EXPECT_FALSE(d.records[6].at(0).end_of_update);
  EXPECT_TRUE(d.records[7].at(0).quality.has(Quality::kOutOfOrder));
  EXPECT_EQ(d.counters.duplicates, 1U);
  EXPECT_EQ(d.counters.out_of_order, 1U);
}

TEST(BinanceDecoder, ExpectsTheTopAtItsUpdateId) {
  const Decoded d = decode(joined() + ticker(105));
  ASSERT_EQ(d.records[2].size(), 2U);
  for (const MarketEvent& event : d.records[2]) {
    EXPECT_EQ(event.kind, EventKind::kExpectTop);
    EXPECT_EQ(event.sequence, 105U);
    EXPECT_FALSE(event.end_of_update);
  }
  EXPECT_EQ(d.records[2][0].side, Side::kBid);
  EXPECT_EQ(d.records[2][1].price_nanos, 100'500'000'000);
}

TEST(BinanceDecoder, TakesTheGridFromTheFirstSnapshotBeforeTheFirstEvent) {
  const Decoded d = decode(
      line(Trade{.id = 1}) + line(Diff{90, 100, 80}) +
      snapshot(100, R"(["61800.20","2.900"],["61800.00","20.050"])", R"(["61850.40","1.000"])"));
  EXPECT_TRUE(d.records[0].empty()) << "no event before the grid is known";
  EXPECT_EQ(d.counters.ignored, 1U);
  ASSERT_EQ(d.instruments.size(), 1U);
  EXPECT_EQ(d.instruments[0].symbol, "BTCUSDT");
  EXPECT_EQ(d.instruments[0].price_tick_nanos, 100'000'000) << "0.1, although all are even";
  EXPECT_EQ(d.instruments[0].quantity_step_nanos, 10'000'000);
}

TEST(BinanceDecoder, KeepsSymbolsApartAndFilters) {
  const std::string text =
      line(Diff{90, 100, 80}) + snapshot(100) +
      line(Diff{.first = 5, .last = 6, .previous = 4, .symbol = "ETHUSDT"}) +
      "1700000000000000055 {\"stream\":\"ethusdt@depth\",\"data\":{\"lastUpdateId\":6,\"E\":1,"
      "\"T\":1,\"bids\":[[\"10\",\"1\"]],\"asks\":[]}}\n" +
      line(Diff{101, 110, 100}) +
      line(Diff{.first = 7, .last = 8, .previous = 6, .symbol = "ETHUSDT"}) + snapshot(200);
  const Decoded both = decode(text);
  ASSERT_EQ(both.instruments.size(), 2U);
  EXPECT_EQ(both.instruments[1].symbol, "ETHUSDT");
  EXPECT_EQ(both.records[4].at(0).instrument, 0U);
  EXPECT_EQ(both.records[5].at(0).instrument, 1U);
  EXPECT_EQ(both.counters.gaps, 0U);
  EXPECT_EQ(both.counters.malformed, 1U) << "the last snapshot could be of either symbol";
  ASSERT_EQ(both.faults.size(), 1U);
  EXPECT_NE(both.faults[0].message.find("names no symbol"), std::string::npos);

  const Decoded one = decode(text, {"ETHUSDT"});
  ASSERT_EQ(one.instruments.size(), 1U);
  EXPECT_EQ(one.records[5].at(0).instrument, 0U);
  EXPECT_EQ(one.counters.filtered, 3U);
}

TEST(BinanceDecoder, GivesANamelessFirstSnapshotToTheOnlySymbolAskedFor) {
  const std::string text = snapshot(100) + line(Diff{95, 105, 90});
  const Decoded asked = decode(text, {"BTCUSDT"});
  EXPECT_EQ(asked.records[0].size(), 3U);
  EXPECT_EQ(asked.records[1].size(), 1U);
  const Decoded open = decode(text);
  EXPECT_EQ(open.counters.malformed, 1U);
}

TEST(BinanceDecoder, PassesOverOneBadMessageAndNamesItsPlace) {
  struct Case {
    std::string line;
    bool bad_quantity;
    std::string_view said;
  };
  const std::vector<Case> cases = {
      {"garbage\n", false, "local time"},
      {"\x01\x02\xFF\xFE\n", false, "local time"},
      {"-5 {}\n", false, "local time"},
      {"99999999999999999999999 {}\n", false, "local time"},
      {"1700000000000000000 {\"e\":\"depthUpdate\"\n", false, "not JSON"},
      {"1700000000000000000 [1,2]\n", false, "not an object"},
      {"1700000000000000000 {\"e\":\"trade\",\"s\":\"BTCUSDT\",\"T\":1}\n", false, "missing: p"},
      {"1700000000000000000 {\"e\":\"trade\",\"T\":1}\n", false, "missing: s"},
      {"1700000000000000000 {\"e\":\"bookTicker\",\"s\":\"BTCUSDT\"}\n", false, "no time"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["x","1"])"}), false, "x"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["1"])"}), false, "level"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"([1,2])"}), false, "text"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = "7"}), false, "list"},
      {line(Diff{.first = 111, .last = 110, .previous = 100}), false, "U lies above u"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["100","-1"])"}), true,
       "negative"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["-100","1"])"}), true,
       "negative"},
      {line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["9999999999999","1"])"}),
       true, "out of range"},
      {line(Trade{.id = 5, .quantity = "-0.001"}), true, "negative"},
      {line(Trade{.id = 5, .price = "1.0000000001"}), false, "nine places"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    const Decoded d = decode(joined() + c.line + line(Diff{101, 110, 100}));
    EXPECT_EQ(d.end, SourceStatus::kEnd);
    ASSERT_EQ(d.records.size(), 4U);
    EXPECT_TRUE(d.records[2].empty());
    EXPECT_EQ(d.counters.malformed, c.bad_quantity ? 0U : 1U);
    EXPECT_EQ(d.counters.bad_quantity, c.bad_quantity ? 1U : 0U);
    ASSERT_EQ(d.faults.size(), 1U);
    EXPECT_EQ(d.faults[0].record, 3U);
    EXPECT_NE(d.faults[0].message.find(c.said), std::string::npos) << d.faults[0].message;
    EXPECT_EQ(d.records[3].size(), 1U) << "reading goes on";
  }
}

TEST(BinanceDecoder, TakesALostDiffForAGap) {
  const Decoded d = decode(
      joined() + line(Diff{.first = 101, .last = 110, .previous = 100, .bids = R"(["100","-1"])"}) +
      line(Diff{111, 120, 110}));
  EXPECT_EQ(d.counters.bad_quantity, 1U);
  EXPECT_EQ(d.counters.gaps, 1U);
  EXPECT_TRUE(d.records[3].at(0).quality.has(Quality::kGap));
}

TEST(BinanceDecoder, IgnoresOtherStreamsAndAnswers) {
  const Decoded d =
      decode(joined() + "1 {\"result\":null,\"id\":1}\n\n1 {\"e\":\"markPriceUpdate\"}\n");
  EXPECT_EQ(d.end, SourceStatus::kEnd);
  EXPECT_EQ(d.counters.ignored, 3U);
  EXPECT_EQ(d.counters.malformed, 0U);
}

TEST(BinanceDecoder, SaysThatNoSnapshotCame) {
  const Decoded d = decode(line(Diff{90, 100, 80}) + line(Trade{.id = 3}));
  EXPECT_EQ(d.end, SourceStatus::kEnd);
  EXPECT_EQ(d.counters.events, 0U);
  EXPECT_EQ(d.counters.ignored, 2U);
  ASSERT_EQ(d.faults.size(), 1U);
  EXPECT_NE(d.faults[0].message.find("no depth snapshot"), std::string::npos);
}

TEST(BinanceDecoder, FailsIfNothingAtAllCouldBeDecoded) {
  const Decoded d = decode("34200.1,1,5,6,7,1\n34200.1,1,5,6,7,1\n");
  EXPECT_EQ(d.end, SourceStatus::kError);
  EXPECT_EQ(d.counters.malformed, 2U);
  EXPECT_NE(d.error.find("record 1"), std::string::npos) << d.error;
}

TEST(BinanceDecoder, LetsHeldDiffsGoPastTheLimitAndCountsThem) {
  std::string level;
  for (int i = 0; i < 999; ++i) level += R"(["100","1"],)";
  level += R"(["100","1"])";
  std::string text;
  std::uint64_t id = 0;
  for (int i = 0; i < 260; ++i, id += 10) {
    text += line(Diff{.first = id + 1, .last = id + 10, .previous = id, .bids = level});
  }
  // The first diff would join; but by then it has been let go, with 248 others.
  const Decoded d = decode(text + snapshot(5));
  EXPECT_EQ(d.counters.ignored, 249U);
  EXPECT_EQ(d.counters.gaps, 1U);
  EXPECT_EQ(d.records.back().size(), 3U + 11 * 1000U);
}

}  // namespace
}  // namespace tocsin
