// Cboe PITCH: orders known by their id alone, units that number by themselves, transactions.
#include "ingest/pitch_protocol.h"

#include <gtest/gtest.h>

#include <string>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/packet_feed_bytes.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kStartNs = 1'692'711'000'000'000'000;  // 09:30 in New York, 13:30 UTC
constexpr std::uint32_t kOpenSeconds = 34'200;

DrainedSource decode(const std::vector<Bytes>& payloads, std::vector<std::string> symbols = {}) {
  const Bytes file = capture_of(payloads, kStartNs);
  FileSourceOptions options;
  options.symbols = std::move(symbols);
  return drain_made(make_pitch_decoder(make_memory_stream("test.pcap", file), options));
}

FeedBytes u32(std::uint32_t value) { return FeedBytes().little<std::uint32_t>(value); }
FeedBytes u16(std::uint16_t value) { return FeedBytes().little<std::uint16_t>(value); }

TEST(PitchProtocol, ReadsOrdersOfAllThreeLengths) {
  const DrainedSource decoded = decode(
      {pitch_packet({.sequence = 5}, {pitch_add_long({.id = 1, .price = 1'234'567}),
                                      pitch_add_short({.id = 2, .side = 'S', .price = 12'346}),
                                      pitch_add_expanded({.id = 3, .symbol = "LONGNAME"})})});
  ASSERT_EQ(decoded.events.size(), 3U);
  EXPECT_EQ(decoded.events[0].price_nanos, 123'456'700'000);
  EXPECT_EQ(decoded.events[0].side, Side::kBid);
  EXPECT_EQ(decoded.events[0].quantity_nanos, 100'000'000'000);
  EXPECT_EQ(decoded.events[1].price_nanos, 123'460'000'000);
  EXPECT_EQ(decoded.events[1].side, Side::kAsk);
  EXPECT_EQ(decoded.events[1].sequence, 6U);
  EXPECT_EQ(decoded.instruments[1].symbol, "LONGNAME");
  for (const MarketEvent& event : decoded.events) EXPECT_TRUE(event.end_of_update);
}

TEST(PitchProtocol, FollowsAnOrderByItsIdToItsEnd) {
  const DrainedSource decoded = decode({pitch_packet(
      {.sequence = 5},
      {pitch_add_long({.id = 1}), pitch_change(0x23, 1, u32(30).little<std::uint64_t>(900)),
       pitch_change(0x26, 1, u16(10)), pitch_change(0x25, 1, u32(5)),
       pitch_change(0x27, 1, u32(80).little<std::int64_t>(99'900)),
       pitch_change(0x28, 1, u16(70).little<std::uint16_t>(998)),
       pitch_change(
           0x24, 1,
           u32(20).little<std::uint32_t>(40).little<std::uint64_t>(901).little<std::int64_t>(
               99'850)),
       pitch_change(0x29, 1, {}), pitch_change(0x29, 1, {})})});
  ASSERT_EQ(
      decoded.kinds(),
      (std::vector{EventKind::kAddOrder, EventKind::kExecuteOrder, EventKind::kReduceOrder,
                   EventKind::kReduceOrder, EventKind::kModifyOrder, EventKind::kModifyOrder,
                   EventKind::kExecuteOrder, EventKind::kReduceOrder, EventKind::kDeleteOrder}));
  EXPECT_EQ(decoded.events[1].quantity_nanos, 30'000'000'000);
  EXPECT_EQ(decoded.events[1].price_nanos, 0) << "its own, which the book knows";
  EXPECT_EQ(decoded.events[4].price_nanos, 9'990'000'000);
  EXPECT_EQ(decoded.events[5].price_nanos, 9'980'000'000);
  EXPECT_EQ(decoded.events[5].side, Side::kBid);
  EXPECT_EQ(decoded.events[6].price_nanos, 9'985'000'000);
  EXPECT_FALSE(decoded.events[6].end_of_update);
  EXPECT_EQ(decoded.events[7].quantity_nanos, 10'000'000'000) << "70 less 20 traded, 40 remain";
  EXPECT_EQ(decoded.by_type.at("message of an order not seen before"), 1U);
}

TEST(PitchProtocol, TellsTimesFromTheSecondOrTheReceiver) {
  const DrainedSource decoded = decode(
      {pitch_packet({.sequence = 5},
                    {pitch_add_long({.id = 1}), pitch_time(kOpenSeconds), pitch_add_long({.id = 2}),
                     pitch_time(kOpenSeconds - 1), pitch_add_long({.id = 3})})});
  ASSERT_EQ(decoded.events.size(), 3U);
  EXPECT_EQ(decoded.events[0].exchange_time_ns, kStartNs + 1'000) << "by the receiver's clock";
  EXPECT_EQ(decoded.events[1].exchange_time_ns, kStartNs + 1'000);
  EXPECT_EQ(decoded.events[1].receive_time_ns, kStartNs + 10'000);
  EXPECT_TRUE(decoded.events[2].quality.has(Quality::kTimeBackwards));
  EXPECT_EQ(decoded.counters.time_backwards, 1U);
}

TEST(PitchProtocol, NumbersEachUnitByItself) {
  const DrainedSource decoded = decode({
      pitch_packet({.unit = 1, .sequence = 50}, {pitch_add_long({.id = 1, .symbol = "A"})}),
      pitch_packet({.unit = 2, .sequence = 9}, {pitch_add_long({.id = 2, .symbol = "B"})}),
      pitch_packet({.unit = 1, .sequence = 53}, {}),
      pitch_packet({.unit = 2, .sequence = 10}, {pitch_add_long({.id = 3, .symbol = "B"})}),
      pitch_packet({.unit = 1, .sequence = 53}, {pitch_add_long({.id = 4, .symbol = "A"})}),
      pitch_packet({.unit = 1, .sequence = 53}, {pitch_add_long({.id = 4, .symbol = "A"})}),
      pitch_packet({.unit = 1, .sequence = 51}, {pitch_add_long({.id = 5, .symbol = "A"})}),
      pitch_packet({.unit = 2, .sequence = 0}, {pitch_add_long({.id = 6, .symbol = "B"})}),
  });
  EXPECT_EQ(decoded.counters.gaps, 1U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  EXPECT_EQ(decoded.counters.duplicates, 1U);
  EXPECT_EQ(decoded.counters.out_of_order, 1U);
  EXPECT_EQ(decoded.by_type.at("heartbeat"), 1U);
  ASSERT_EQ(decoded.events.size(), 6U);
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kGap)) << "of the other unit";
  EXPECT_TRUE(decoded.events[3].quality.has(Quality::kGap));
  EXPECT_EQ(decoded.events[4].quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_FALSE(decoded.events[4].end_of_update);
  EXPECT_FALSE(decoded.events[5].quality.any()) << "not numbered";
}

TEST(PitchProtocol, ClearsBooksThatWereSeenFromTheFirstMessage) {
  const DrainedSource decoded =
      decode({pitch_packet({.sequence = 1}, {pitch_time(kOpenSeconds), pitch_add_long({.id = 1}),
                                             pitch_add_long({.id = 2})}),
              pitch_packet({.sequence = 9}, {pitch_add_long({.id = 3, .symbol = "NEW"})})});
  ASSERT_EQ(decoded.kinds(),
            (std::vector{EventKind::kClear, EventKind::kAddOrder, EventKind::kAddOrder,
                         EventKind::kClear, EventKind::kAddOrder}));
  EXPECT_EQ(decoded.events[0].quality, QualityFlags(Quality::kSnapshot));
  EXPECT_EQ(decoded.events[3].quality, QualityFlags(Quality::kSnapshot));
  EXPECT_TRUE(decoded.events[4].quality.has(Quality::kGap)) << "its first orders may be missing";
}

TEST(PitchProtocol, ClearsAllBooksOfAUnit) {
  const DrainedSource decoded = decode({pitch_packet(
      {.sequence = 5}, {pitch_add_long({.id = 1, .symbol = "A"}),
                        pitch_add_long({.id = 2, .symbol = "B"}), pitch_message(0x97, {}),
                        pitch_change(0x29, 1, {}), pitch_add_long({.id = 1, .symbol = "C"})})});
  EXPECT_EQ(decoded.kinds(),
            (std::vector{EventKind::kAddOrder, EventKind::kAddOrder, EventKind::kClear,
                         EventKind::kClear, EventKind::kClear, EventKind::kAddOrder}));
  EXPECT_TRUE(decoded.events[3].end_of_update);
  EXPECT_EQ(decoded.by_type.at("message of an order not seen before"), 1U) << "it is gone";
}

TEST(PitchProtocol, MakesATransactionOneUpdate) {
  const DrainedSource decoded = decode({pitch_packet(
      {.sequence = 5},
      {pitch_message(0xBC, {}), pitch_add_long({.id = 1, .symbol = "A"}),
       pitch_add_long({.id = 2, .symbol = "B"}), pitch_add_long({.id = 3, .symbol = "A"}),
       pitch_message(0xBD, {}), pitch_add_long({.id = 4, .symbol = "A"})})});
  std::vector<bool> ends;
  for (const MarketEvent& event : decoded.events) ends.push_back(event.end_of_update);
  EXPECT_EQ(ends, (std::vector<bool>{false, false, false, true, true, true}));
  EXPECT_EQ(decoded.count(EventKind::kEndOfUpdate), 2U);
}

TEST(PitchProtocol, ReadsTradesAndStatuses) {
  const Bytes trade_long = pitch_message(0x2A, FeedBytes()
                                                   .little<std::uint64_t>(77)
                                                   .letter('B')
                                                   .little<std::uint32_t>(500)
                                                   .text("ZVZZT", 6, ' ')
                                                   .little<std::int64_t>(100'050)
                                                   .little<std::uint64_t>(900));
  const Bytes trade_short = pitch_message(0x2B, FeedBytes()
                                                    .little<std::uint64_t>(78)
                                                    .letter('B')
                                                    .little<std::uint16_t>(7)
                                                    .text("ZVZZT", 6, ' ')
                                                    .little<std::uint16_t>(1'001)
                                                    .little<std::uint64_t>(901));
  const auto status = [](char code) {
    return pitch_message(0x31, FeedBytes().text("ZVZZT", 8, ' ').letter(code).text("0", 3, ' '));
  };
  const DrainedSource decoded = decode({pitch_packet(
      {.sequence = 5},
      {trade_long, trade_short, status('T'), status('H'), status('Q'), status('?'),
       pitch_message(0x2C, FeedBytes().little<std::uint64_t>(900)), pitch_message(0x2D, {})})});
  ASSERT_EQ(decoded.events.size(), 5U);
  EXPECT_EQ(decoded.events[0].price_nanos, 10'005'000'000);
  EXPECT_EQ(decoded.events[0].quantity_nanos, 500'000'000'000);
  EXPECT_EQ(decoded.events[0].side, Side::kNone);
  EXPECT_EQ(decoded.events[1].price_nanos, 10'010'000'000);
  EXPECT_EQ(decoded.events[2].status, TradingStatus::kTrading);
  EXPECT_EQ(decoded.events[3].status, TradingStatus::kHalted);
  EXPECT_EQ(decoded.events[4].status, TradingStatus::kAuction);
  EXPECT_EQ(decoded.counters.malformed, 1U);
  EXPECT_EQ(decoded.counters.ignored, 2U);
}

TEST(PitchProtocol, NamesOptionsAndFuturesByTheirDefinitions) {
  const Bytes mapping = FeedBytes()
                            .little<std::uint8_t>(30)
                            .little<std::uint8_t>(0x2E)
                            .text("027wuE", 6, ' ')
                            .text("SPXW  200619P00500000", 21, ' ')
                            .letter('N')
                            .bytes();
  const Bytes future = pitch_message(0xBB, FeedBytes()
                                               .text("0004yj", 6, ' ')
                                               .little<std::uint32_t>(0)
                                               .text("VX", 6, ' ')
                                               .little<std::uint8_t>(0)
                                               .little<std::uint32_t>(20'230'920)
                                               .little<std::uint16_t>(1'000)
                                               .letter('A')
                                               .little<std::int64_t>(500)
                                               .zeros(7));
  const DrainedSource decoded =
      decode({pitch_packet({.sequence = 5}, {mapping, future, pitch_add_long({.symbol = "027wuE"}),
                                             pitch_add_long({.id = 2, .symbol = "0004yj"})})});
  ASSERT_EQ(decoded.instruments.size(), 2U);
  EXPECT_EQ(decoded.instruments[0].symbol, "SPXW  200619P00500000");
  EXPECT_EQ(decoded.instruments[1].symbol, "VX 20230920");
  EXPECT_EQ(decoded.instruments[1].price_tick_nanos, 50'000'000);
  const DrainedSource chosen =
      decode({pitch_packet({.sequence = 5}, {mapping, future, pitch_add_long({.symbol = "027wuE"}),
                                             pitch_add_long({.id = 2, .symbol = "0004yj"}),
                                             pitch_change(0x29, 1, {})})},
             {"VX 20230920"});
  EXPECT_EQ(chosen.events.size(), 1U);
  EXPECT_EQ(chosen.counters.filtered, 2U);
}

TEST(PitchProtocol, ReadsSignedPricesOfComplexInstruments) {
  const Bytes definition = pitch_message(0x9A, FeedBytes().zeros(12));
  const DrainedSource decoded =
      decode({pitch_packet({.sequence = 5}, {pitch_add_long({.id = 1, .price = -5}), definition,
                                             pitch_add_long({.id = 2, .price = -5'000}),
                                             pitch_add_short({.id = 3, .price = -50})})});
  EXPECT_EQ(decoded.counters.bad_quantity, 1U) << "no shares have a negative price";
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_EQ(decoded.events[0].price_nanos, -500'000'000);
  EXPECT_EQ(decoded.events[1].price_nanos, -500'000'000);
}

TEST(PitchProtocol, TakesAPriceThatOverflowsForAFaultOfItsMessage) {
  const DrainedSource decoded = decode({pitch_packet(
      {.sequence = 5},
      {pitch_add_long({.id = 1, .price = INT64_MAX / 50'000}), pitch_add_long({.id = 2}),
       pitch_add_long({.id = 3, .quantity = 0}), pitch_add_long({.id = 4})})});
  EXPECT_EQ(decoded.counters.bad_quantity, 2U);
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_TRUE(decoded.events[0].quality.has(Quality::kGap)) << "an order of its book was lost";
  EXPECT_EQ(decoded.faults[0].message,
            "packet 1, message 1 of 4: a price or quantity that cannot be");
}

TEST(PitchProtocol, GoesOnAtTheNextPacketAfterACorruptMessage) {
  Bytes corrupt = pitch_packet(
      {.sequence = 5},
      {pitch_add_long({.id = 1}), pitch_add_long({.id = 2}), pitch_add_long({.id = 3})});
  corrupt[8 + 34] = std::byte{9};  // the second message's length
  const DrainedSource decoded = decode(
      {corrupt, pitch_packet({.sequence = 8}, {pitch_message(0x77, {}), pitch_add_long({.id = 4})}),
       Bytes(5)});
  EXPECT_EQ(decoded.counters.malformed, 2U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 1, message 2 of 3: a message \"add order, long\" of 9 bytes; it has 33");
  EXPECT_EQ(decoded.by_type.at("message of an unknown type"), 1U);
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
}

TEST(PitchProtocol, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> payloads;
  for (std::uint32_t i = 0; i < 500; ++i) {
    payloads.push_back(pitch_packet(
        {.sequence = 2 * i + 1}, {pitch_add_long({.id = i + 1}), pitch_change(0x29, i + 1, {})}));
  }
  const Bytes file = capture_of(payloads);
  const auto source = make_pitch_decoder(make_memory_stream("test.pcap", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().events, 1'001U);
}

TEST(PitchProtocol, TellsItsPacketsFromOthers) {
  EXPECT_TRUE(looks_like_pitch(pitch_packet({}, {})));
  EXPECT_TRUE(looks_like_pitch(pitch_packet({}, {pitch_add_long({})})));
  Bytes longer = pitch_packet({}, {pitch_add_long({})});
  longer.push_back(std::byte{0});
  EXPECT_FALSE(looks_like_pitch(longer));
  EXPECT_FALSE(looks_like_pitch(pitch_packet({}, {pitch_message(0x77, {})})));
  EXPECT_FALSE(looks_like_pitch(mold_packet({}, {itch_add({})})));
  EXPECT_FALSE(looks_like_pitch({}));
}

}  // namespace
}  // namespace tocsin
