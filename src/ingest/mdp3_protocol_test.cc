// CME MDP 3.0: levels as prices, events as updates, gaps by report number, snapshots that heal.
#include "ingest/mdp3_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/mdp3_feed_bytes.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kUnit = kMdpPriceUnit;

DrainedSource decode(const std::vector<Bytes>& payloads, bool by_order = false,
                     std::vector<std::string> symbols = {}) {
  const Bytes file = capture_of(payloads);
  FileSourceOptions options;
  options.symbols = std::move(symbols);
  options.by_order = by_order;
  return drain_made(make_mdp3_decoder(make_memory_stream("test.pcap", file), options));
}

struct Level {
  std::int64_t price = 0;
  std::int64_t quantity = 0;
  friend bool operator==(const Level&, const Level&) = default;
};

// What the events say about prices, in whole units.
std::vector<Level> levels(const DrainedSource& decoded) {
  std::vector<Level> all;
  for (const MarketEvent& event : decoded.events) {
    if (event.kind == EventKind::kSetLevel) {
      all.push_back({event.price_nanos / kUnit, event.quantity_nanos / kUnit});
    }
  }
  return all;
}

MdpEntry entry(std::uint32_t report, std::uint8_t action, std::uint8_t level, std::int64_t price,
               std::int32_t quantity) {
  return {.price = price * kUnit,
          .quantity = quantity,
          .report = report,
          .level = level,
          .action = action};
}

TEST(MdpProtocol, TurnsActionsOnLevelsIntoQuantitiesAtPrices) {
  const DrainedSource decoded = decode({mdp_packet(
      1, {mdp_book({entry(1, 0, 1, 100, 5), entry(2, 0, 2, 99, 6), entry(3, 0, 1, 101, 7)}),
          mdp_book({entry(4, 1, 2, 100, 4)}), mdp_book({entry(5, 2, 1, 101, 7)}),
          mdp_book({entry(6, 5, 2, 98, 1)})})});
  EXPECT_EQ(levels(decoded),
            (std::vector<Level>{{100, 5}, {99, 6}, {101, 7}, {100, 4}, {101, 0}, {99, 0}, {98, 1}}))
      << "an overlay removes the price that stood at its level";
  EXPECT_EQ(decoded.counters.malformed + decoded.counters.bad_quantity, 0U);
  for (const MarketEvent& event : decoded.events) {
    EXPECT_EQ(event.side, Side::kBid);
    EXPECT_FALSE(event.quality.any());
  }
}

TEST(MdpProtocol, DropsTheLevelThatFallsOffTheDepth) {
  const DrainedSource decoded =
      decode({mdp_packet(1, {mdp_definition("ESH4", 17, kUnit / 4, 2),
                             mdp_book({entry(1, 0, 1, 100, 5), entry(2, 0, 2, 99, 6),
                                       entry(3, 0, 1, 101, 7), entry(4, 0, 3, 98, 1)})})});
  EXPECT_EQ(levels(decoded), (std::vector<Level>{{100, 5}, {99, 6}, {99, 0}, {101, 7}}));
}

TEST(MdpProtocol, DeletesThroughAndFromALevel) {
  const std::vector<MdpEntry> built = {entry(1, 0, 1, 100, 1), entry(2, 0, 2, 99, 2),
                                       entry(3, 0, 3, 98, 3)};
  const DrainedSource through = decode({mdp_packet(
      1, {mdp_book(built), mdp_book({entry(4, 3, 2, 99, 0)}), mdp_book({entry(5, 1, 1, 98, 9)})})});
  const std::vector<Level> all_through = levels(through);
  const std::vector<Level> after_through(all_through.begin() + 3, all_through.end());
  EXPECT_EQ(after_through, (std::vector<Level>{{100, 0}, {99, 0}, {98, 9}}));
  const DrainedSource from =
      decode({mdp_packet(1, {mdp_book(built), mdp_book({entry(4, 4, 2, 99, 0)})})});
  const std::vector<Level> all_from = levels(from);
  const std::vector<Level> after_from(all_from.begin() + 3, all_from.end());
  EXPECT_EQ(after_from, (std::vector<Level>{{99, 0}, {98, 0}}));
}

TEST(MdpProtocol, EndsUpdatesWithTheVenuesEvent) {
  MdpEntry other = entry(1, 0, 1, 50, 1);
  other.security = 18;
  const DrainedSource decoded = decode(
      {mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 5), entry(2, 0, 2, 99, 6), other}, false),
                      mdp_book({entry(3, 1, 1, 100, 4)})})});
  ASSERT_EQ(decoded.events.size(), 5U);
  std::vector<bool> ends;
  for (const MarketEvent& event : decoded.events) ends.push_back(event.end_of_update);
  EXPECT_EQ(ends, (std::vector<bool>{false, false, false, true, true}));
  EXPECT_EQ(decoded.events[4].kind, EventKind::kEndOfUpdate);
  EXPECT_EQ(decoded.events[4].instrument, decoded.events[2].instrument);
}

TEST(MdpProtocol, ReadsTradesWithTheirAggressor) {
  const DrainedSource decoded = decode({mdp_packet(
      1, {mdp_trade({.quantity = 3, .report = 1}, 1), mdp_trade({.quantity = 2, .report = 2}, 2),
          mdp_trade({.quantity = 2, .report = 3}, 0),
          mdp_trade({.quantity = 2, .report = 4, .action = 2}, 1),
          mdp_trade({.quantity = 0, .report = 5}, 1)})});
  ASSERT_EQ(decoded.count(EventKind::kTrade), 3U);
  EXPECT_EQ(decoded.events[0].side, Side::kBid);
  EXPECT_EQ(decoded.events[0].quantity_nanos, 3 * kUnit);
  EXPECT_EQ(decoded.events[1].side, Side::kAsk);
  EXPECT_EQ(decoded.events[2].side, Side::kNone);
  EXPECT_EQ(decoded.counters.ignored, 1U) << "a cancelled trade";
  EXPECT_EQ(decoded.counters.bad_quantity, 1U);
}

TEST(MdpProtocol, TakesTheSecondLineForDuplicates) {
  const Bytes first = mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 5)})});
  const Bytes second = mdp_packet(2, {mdp_book({entry(2, 1, 1, 100, 6)})});
  std::vector<CapturedFrame> frames;
  for (const Bytes& payload : {first, second}) {
    Bytes line_a = udp_frame(payload);
    Bytes line_b = line_a;
    line_b[14 + 19] = std::byte{99};  // the last byte of its group's address
    frames.push_back({1'000, line_a});
    frames.push_back({1'001, line_b});
  }
  const Bytes file = pcap_file(frames);
  const DrainedSource decoded =
      drain_made(make_mdp3_decoder(make_memory_stream("test.pcap", file), {}));
  EXPECT_EQ(decoded.events.size(), 2U);
  EXPECT_EQ(decoded.counters.duplicates, 2U);
  EXPECT_EQ(decoded.counters.gaps, 0U);
  EXPECT_EQ(decoded.by_type.at("packet seen before"), 2U);
}

TEST(MdpProtocol, KeepsChannelsApart) {
  Bytes other = udp_frame(mdp_packet(900, {mdp_book({entry(1, 0, 1, 100, 5)})}));
  other[14 + 19] = std::byte{99};
  const Bytes file =
      pcap_file({{1'000, udp_frame(mdp_packet(1, {mdp_book({entry(1, 0, 1, 1, 1)})}))},
                 {1'001, other},
                 {1'002, udp_frame(mdp_packet(2, {mdp_book({entry(2, 0, 2, 1, 1)})}))}});
  const DrainedSource decoded =
      drain_made(make_mdp3_decoder(make_memory_stream("test.pcap", file), {}));
  EXPECT_EQ(decoded.counters.gaps, 0U);
}

TEST(MdpProtocol, TellsByReportNumbersWhichBooksAGapHasHit) {
  MdpEntry hit = entry(1, 0, 1, 50, 1);
  hit.security = 18;
  MdpEntry hit_later = hit;
  hit_later.report = 4;
  const DrainedSource decoded = decode({
      mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 5), hit})}),
      mdp_packet(4, {mdp_book({entry(2, 1, 1, 100, 6), hit_later})}),
      mdp_packet(5, {mdp_book({entry(3, 1, 1, 100, 7)})}),
      mdp_packet(3, {mdp_book({entry(9, 1, 1, 100, 8)})}),
  });
  EXPECT_EQ(decoded.counters.gaps, 1U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  EXPECT_EQ(decoded.counters.out_of_order, 1U);
  ASSERT_EQ(decoded.events.size(), 5U) << "what comes late changes nothing";
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kGap)) << "its reports have no hole";
  EXPECT_TRUE(decoded.events[3].quality.has(Quality::kGap));
  EXPECT_FALSE(decoded.events[4].quality.has(Quality::kGap));
}

TEST(MdpProtocol, TakesASnapshotThatIsNeededAndNotStale) {
  MdpEntry bid = entry(0, 0, 1, 100, 5);
  MdpEntry ask = entry(0, 0, 1, 101, 6);
  ask.type = '1';
  const auto at_other_group = [](const Bytes& payload) {
    Bytes frame = udp_frame(payload);
    frame[14 + 19] = std::byte{77};
    return frame;
  };
  const Bytes file = pcap_file({
      {1, udp_frame(mdp_packet(10, {mdp_book({entry(5, 0, 1, 90, 1)})}))},
      {2, at_other_group(mdp_packet(1, {mdp_snapshot({.last_sequence = 9, .report = 4}, {bid})}))},
      {3, at_other_group(
              mdp_packet(2, {mdp_snapshot({.last_sequence = 12, .report = 7}, {bid, ask})}))},
      {4, udp_frame(mdp_packet(11, {mdp_book({entry(6, 1, 1, 90, 2)})}))},
      {5, udp_frame(mdp_packet(12, {mdp_book({entry(7, 1, 1, 90, 3)})}))},
      {6, udp_frame(mdp_packet(13, {mdp_book({entry(8, 1, 1, 100, 4)})}))},
      {7, at_other_group(mdp_packet(3, {mdp_snapshot({.last_sequence = 13, .report = 8}, {})}))},
  });
  const DrainedSource decoded =
      drain_made(make_mdp3_decoder(make_memory_stream("test.pcap", file), {}));
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kSetLevel, EventKind::kClear, EventKind::kSetLevel,
                         EventKind::kSetLevel, EventKind::kSetLevel}));
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kSnapshot));
  EXPECT_EQ(decoded.events[3].side, Side::kAsk);
  EXPECT_TRUE(decoded.events[3].end_of_update);
  EXPECT_EQ(decoded.events[4].quantity_nanos, 4 * kUnit) << "those before are in the snapshot";
  EXPECT_FALSE(decoded.events[4].quality.any());
}

TEST(MdpProtocol, NamesSecuritiesAndTheirGrid) {
  const std::vector<Bytes> payloads = {
      mdp_packet(1, {mdp_definition("ESH4", 17, kUnit / 4), mdp_status("ES", 17),
                     mdp_status("NQ", 2), mdp_status("ES", 103)}),
      mdp_packet(2, {mdp_book({entry(1, 0, 1, 100, 5)}), mdp_status("ES", 2)})};
  const DrainedSource decoded = decode(payloads);
  ASSERT_EQ(decoded.instruments.size(), 1U);
  EXPECT_EQ(decoded.instruments[0].symbol, "ESH4");
  EXPECT_EQ(decoded.instruments[0].price_tick_nanos, 250'000'000);
  ASSERT_EQ(decoded.count(EventKind::kStatus), 2U);
  EXPECT_EQ(decoded.events[0].status, TradingStatus::kTrading);
  EXPECT_EQ(decoded.events[2].status, TradingStatus::kHalted);
  EXPECT_EQ(decode(payloads, false, {"ESH4"}).events.size(), 3U);
  EXPECT_EQ(decode(payloads, false, {"NQH4"}).events.size(), 0U);
  EXPECT_EQ(decode(payloads, false, {"17"}).instruments[0].symbol, "ESH4");
}

TEST(MdpProtocol, EmptiesBooksWhenTheChannelStartsOver) {
  const Bytes reset =
      mdp_message(4, FeedBytes().little<std::uint64_t>(1'000).little<std::uint8_t>(0x80),
                  mdp_group({FeedBytes().little<std::int16_t>(310).bytes()}, 2));
  MdpEntry empty = entry(2, 0, 1, 0, 0);
  empty.type = 'J';
  const DrainedSource decoded =
      decode({mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 5)}), mdp_book({empty}), reset}),
              mdp_packet(2, {mdp_book({entry(1, 0, 1, 100, 5)})})});
  ASSERT_EQ(decoded.kinds(), (std::vector{EventKind::kSetLevel, EventKind::kClear,
                                          EventKind::kClear, EventKind::kSetLevel}));
  EXPECT_TRUE(decoded.events[1].end_of_update);
  EXPECT_TRUE(decoded.events[2].end_of_update);
  EXPECT_FALSE(decoded.events[3].quality.any()) << "report numbers begin anew";
}

TEST(MdpProtocol, BeginsANewWeekAtItsFirstNumber) {
  constexpr std::int64_t kTwoHoursNs = 7'200'000'000'000;
  const Bytes file = pcap_file(
      {{1'000, udp_frame(mdp_packet(9, {mdp_book({entry(7, 0, 1, 100, 5)})}))},
       {2'000, udp_frame(mdp_packet(1, {mdp_book({entry(1, 1, 1, 100, 6)})}, 77))},
       {kTwoHoursNs, udp_frame(mdp_packet(1, {mdp_book({entry(1, 1, 1, 100, 7)})}, 78))}});
  const DrainedSource decoded =
      drain_made(make_mdp3_decoder(make_memory_stream("test.pcap", file), {}));
  EXPECT_EQ(decoded.counters.duplicates, 1U) << "not an hour later";
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_EQ(decoded.events[1].quantity_nanos, 7 * kUnit);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
}

TEST(MdpProtocol, BuildsBooksOfOrdersWhereAsked) {
  const std::vector<Bytes> payloads = {
      mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 8)}, false,
                              {{.id = 1, .quantity = 5}, {.id = 2, .quantity = 3}}),
                     mdp_book({entry(2, 1, 1, 100, 4)}, true,
                              {{.id = 1, .quantity = 1, .action = 1}, {.id = 2, .action = 2}})}),
      mdp_packet(2, {mdp_order(entry(0, 0, 0, 99, 7), 3), mdp_order(entry(0, 2, 0, 99, 0), 3)})};
  const DrainedSource decoded = decode(payloads, true);
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kAddOrder, EventKind::kAddOrder, EventKind::kModifyOrder,
                         EventKind::kDeleteOrder, EventKind::kAddOrder, EventKind::kDeleteOrder}));
  EXPECT_EQ(decoded.events[0].price_nanos, 100 * kUnit);
  EXPECT_EQ(decoded.events[0].quantity_nanos, 5 * kUnit);
  EXPECT_EQ(decoded.events[2].quantity_nanos, kUnit);
  EXPECT_TRUE(decoded.events[3].end_of_update);
  EXPECT_EQ(decoded.events[4].price_nanos, 99 * kUnit);
  const DrainedSource by_level = decode(payloads);
  EXPECT_EQ(levels(by_level), (std::vector<Level>{{100, 8}, {100, 4}}));
}

TEST(MdpProtocol, TakesASnapshotOfOrdersInChunks) {
  const DrainedSource decoded = decode(
      {mdp_packet(1,
                  {mdp_order_snapshot({.last_sequence = 5}, {1, 2}, {{1, entry(0, 0, 0, 100, 5)}}),
                   mdp_order_snapshot({.last_sequence = 5}, {2, 2}, {{2, entry(0, 0, 0, 99, 6)}}),
                   mdp_order_snapshot({.last_sequence = 5}, {1, 1}, {})})},
      true);
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kAddOrder, EventKind::kAddOrder}));
  EXPECT_FALSE(decoded.events[1].end_of_update);
  EXPECT_TRUE(decoded.events[2].end_of_update);
  EXPECT_TRUE(decoded.events[2].quality.has(Quality::kSnapshot));
}

TEST(MdpProtocol, ReadsOlderPricesOfSevenDecimals) {
  MdpEntry old = entry(1, 0, 1, 0, 5);
  old.price = 1'234'567;
  const DrainedSource decoded = decode({mdp_packet(1, {mdp_book({old}, true, {}, 32)})});
  ASSERT_EQ(decoded.events.size(), 1U);
  EXPECT_EQ(decoded.events[0].price_nanos, 123'456'700);
}

TEST(MdpProtocol, ReadsAnOlderVersionWithoutTheLaterGroups) {
  Bytes message = mdp_book({entry(1, 0, 1, 100, 5)}, true, {}, 32);
  message.resize(message.size() - 8);  // the header of the group of orders
  message[0] = static_cast<std::byte>(message.size());
  const DrainedSource decoded = decode({mdp_packet(1, {message})});
  EXPECT_EQ(decoded.events.size(), 1U);
  EXPECT_EQ(decoded.counters.malformed, 0U);
}

TEST(MdpProtocol, TakesAPriceThatOverflowsForAFaultOfItsEntry) {
  MdpEntry huge = entry(1, 0, 1, 0, 5);
  huge.price = INT64_MAX / 2;
  MdpEntry negative = entry(2, 0, 1, 100, -5);
  const DrainedSource decoded =
      decode({mdp_packet(1, {mdp_book({huge}, true, {}, 32), mdp_book({negative}),
                             mdp_book({entry(3, 0, 1, 99, 5)})})});
  EXPECT_EQ(decoded.counters.bad_quantity, 2U);
  ASSERT_EQ(decoded.events.size(), 1U);
  EXPECT_TRUE(decoded.events[0].quality.has(Quality::kGap)) << "a level of its book was lost";
}

TEST(MdpProtocol, GoesOnAtTheNextPacketAfterACorruptMessage) {
  Bytes corrupt =
      mdp_packet(2, {mdp_book({entry(2, 0, 1, 100, 5)}), mdp_book({entry(3, 1, 1, 100, 5)}),
                     mdp_book({entry(4, 1, 1, 100, 5)})});
  const std::size_t message_bytes = (corrupt.size() - 12) / 3;
  corrupt[12 + message_bytes] = std::byte{3};  // the second message's size
  corrupt[12 + message_bytes + 1] = std::byte{0};
  Bytes groups = mdp_packet(3, {mdp_book({entry(5, 1, 1, 100, 5)})});
  groups[12 + 10 + 11] = std::byte{255};  // the size of its entries
  const DrainedSource decoded =
      decode({mdp_packet(1, {mdp_book({entry(1, 0, 1, 99, 5)})}), corrupt, groups,
              mdp_packet(4, {mdp_message(999, FeedBytes().zeros(4)),
                             mdp_book({entry(6, 1, 1, 100, 6)})})});
  EXPECT_EQ(decoded.counters.malformed, 2U);
  ASSERT_EQ(decoded.faults.size(), 2U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 2, message 2 of 2: a message whose size contradicts the packet's or its "
            "block's");
  EXPECT_EQ(decoded.faults[1].message,
            "packet 3, message 1 of 1: MDIncrementalRefreshBook46: a group or code that cannot be");
  EXPECT_EQ(decoded.by_type.at("message of an unknown template"), 1U);
  EXPECT_TRUE(decoded.events.back().quality.has(Quality::kGap));
}

// Another schema: the fields of template 46 stand elsewhere, prices have two decimals.
constexpr std::string_view kOtherSchema = R"xml(<?xml version="1.0"?>
<!-- not CME's -->
<ns2:messageSchema xmlns:ns2="http://www.fixprotocol.org/ns/simple/1.0" byteOrder="littleEndian">
  <types>
    <type name="uInt8" primitiveType="uint8"/>
    <composite name="CENTS"><type name="mantissa" primitiveType="int32"/>
      <type name="exponent" primitiveType="int8" presence="constant">-2</type></composite>
    <composite name="groupSize"><type name="blockLength" primitiveType="uint16"/>
      <type name="numInGroup" primitiveType="uint8"/></composite>
    <enum name="MDUpdateAction" encodingType="uInt8"><validValue name="New">0</validValue></enum>
    <set name="MatchEventIndicator" encodingType="uInt8"/>
  </types>
  <ns2:message name="MDIncrementalRefreshBook46" id="46" blockLength="1">
    <field name="MatchEventIndicator" id="5799" type="MatchEventIndicator"/>
    <group name="NoMDEntries" id="268" dimensionType="groupSize" blockLength="13">
      <field name="MDEntryType" id="269" type="char"/>
      <field name="MDUpdateAction" id="279" type="MDUpdateAction"/>
      <field name="MDPriceLevel" id="1023" type="uInt8"/>
      <field name="SecurityID" id="48" type="int16"/>
      <field name="MDEntryPx" id="270" type="CENTS"/>
      <field name="MDEntrySize" id="271" type="int32"/>
    </group>
  </ns2:message>
</ns2:messageSchema>)xml";

TEST(MdpProtocol, ReadsTheLayoutsOfTheUsersSchema) {
  const auto schema = SbeSchema::parse(kOtherSchema);
  ASSERT_TRUE(schema.ok()) << schema.error().message();
  const auto layout = MdpLayout::from_schema(schema.value());
  ASSERT_TRUE(layout.ok()) << layout.error().message();
  FeedLedger ledger({});
  MdpProtocol protocol(ledger, {.layout = std::make_shared<const MdpLayout>(layout.value())});
  const Bytes level = FeedBytes()
                          .letter('1')
                          .little<std::uint8_t>(0)
                          .little<std::uint8_t>(1)
                          .little<std::int16_t>(300)
                          .little<std::int32_t>(12'345)
                          .little<std::int32_t>(6)
                          .bytes();
  const Bytes payload = mdp_packet(
      1, {mdp_message(46, FeedBytes().little<std::uint8_t>(0x80), mdp_group({level}, 13))});
  EventBatch batch;
  protocol.take({.payload = payload, .receive_time_ns = 5, .number = 1}, batch);
  ASSERT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch[0].price_nanos, 123'450'000'000);
  EXPECT_EQ(batch[0].quantity_nanos, 6 * kUnit);
  EXPECT_EQ(batch[0].side, Side::kAsk);
  EXPECT_TRUE(batch[0].end_of_update);
  EXPECT_EQ(ledger.known_instruments()[0].symbol, "300");
}

TEST(MdpProtocol, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> payloads;
  for (std::uint32_t i = 1; i <= 500; ++i) {
    payloads.push_back(mdp_packet(i, {mdp_book({entry(i, i == 1 ? 0 : 1, 1, 100, 5)})}));
  }
  const Bytes file = capture_of(payloads);
  const auto source = make_mdp3_decoder(make_memory_stream("test.pcap", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().events, 500U);
}

TEST(MdpProtocol, TellsItsPacketsFromOthers) {
  EXPECT_TRUE(looks_like_mdp3(mdp_packet(1, {mdp_book({entry(1, 0, 1, 100, 5)})})));
  EXPECT_TRUE(looks_like_mdp3(mdp_packet(1, {mdp_message(12, {})})));
  EXPECT_FALSE(looks_like_mdp3(mdp_packet(1, {})));
  EXPECT_FALSE(looks_like_mdp3(mdp_packet(1, {mdp_message(999, {})})));
  EXPECT_FALSE(looks_like_mdp3(pitch_packet({}, {pitch_add_long({})})));
  EXPECT_FALSE(looks_like_mdp3(mold_packet({}, {itch_add({})})));
}

}  // namespace
}  // namespace tocsin
