// ITCH 5.0 in MoldUDP64: sequences over two lines, gaps, late and corrupt packets, sessions.
#include <gtest/gtest.h>

#include <string>

#include "base/allocation_counter.h"
#include "ingest/decoders.h"
#include "ingest/feed_bytes.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kOpenNs = 34'200'000'000'000;  // half past nine in New York, since midnight
// That moment of 2023-08-22, when New York was four hours behind UTC.
constexpr std::int64_t kOpenUnixNs = 1'692'711'000'000'000'000;

Bytes add(std::uint64_t order_id) {
  return itch_add({.id = order_id},
                  {.time_ns = static_cast<std::uint64_t>(kOpenNs) + order_id * 1'000});
}

// One frame after another, 10 us apart.
Bytes capture(const std::vector<Bytes>& frames) {
  std::vector<CapturedFrame> captured;
  for (const Bytes& frame : frames) {
    captured.push_back(
        {kOpenUnixNs + 10'000 * static_cast<std::int64_t>(captured.size() + 1), frame});
  }
  return pcap_file(captured);
}

DrainedSource decode(const Bytes& file, std::vector<std::string> symbols = {}) {
  FileSourceOptions options;
  options.symbols = std::move(symbols);
  return drain_made(make_moldudp64_decoder(make_memory_stream("test.pcap", file), options));
}

std::vector<std::uint64_t> order_ids(const DrainedSource& decoded) {
  std::vector<std::uint64_t> ids;
  for (const MarketEvent& event : decoded.events) ids.push_back(event.order_id);
  return ids;
}

TEST(MoldUdp64Decoder, NumbersMessagesByTheirPlaceInThePacket) {
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1'000}, {add(1), add(2)}),
      mold_frame({.sequence = 1'002}, {add(3)}),
  }));
  ASSERT_EQ(decoded.events.size(), 3U);
  EXPECT_EQ(decoded.events[0].sequence, 1'000U);
  EXPECT_EQ(decoded.events[1].sequence, 1'001U);
  EXPECT_EQ(decoded.events[2].sequence, 1'002U);
  EXPECT_EQ(decoded.events[2].record, 3U) << "a message is a record";
  EXPECT_EQ(decoded.counters.gaps, 0U) << "a capture may begin within the session";
  EXPECT_EQ(decoded.error, "");
}

TEST(MoldUdp64Decoder, PutsBothTimesOnOneLine) {
  const DrainedSource decoded = decode(capture({mold_frame({}, {add(7)})}));
  ASSERT_EQ(decoded.events.size(), 1U);
  EXPECT_EQ(decoded.events[0].exchange_time_ns, kOpenUnixNs + 7'000);
  EXPECT_EQ(decoded.events[0].receive_time_ns, kOpenUnixNs + 10'000);
}

TEST(MoldUdp64Decoder, TakesTheSecondLineForDuplicates) {
  const Bytes first = mold_frame({.sequence = 1}, {add(1), add(2)});
  const Bytes second = mold_frame({.sequence = 3}, {add(3)});
  const DrainedSource decoded = decode(capture({first, first, second, second}));
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(decoded.counters.duplicates, 3U);
  EXPECT_EQ(decoded.counters.records, 6U);
  EXPECT_EQ(decoded.counters.gaps + decoded.counters.malformed + decoded.counters.out_of_order, 0U);
}

TEST(MoldUdp64Decoder, JoinsLinesThatCutTheirPacketsDifferently) {
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {add(1), add(2)}),
      mold_frame({.sequence = 2}, {add(2), add(3)}),
  }));
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(decoded.counters.duplicates, 1U);
}

TEST(MoldUdp64Decoder, FlagsAGapOnceForEveryStock) {
  const auto of_stock = [](std::uint16_t locate, std::uint64_t id) {
    return itch_add({.id = id, .symbol = locate == 1 ? "ONE" : "TWO"}, {.locate = locate});
  };
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {of_stock(1, 1), of_stock(2, 2)}),
      mold_frame({.sequence = 6}, {of_stock(1, 6), of_stock(1, 7), of_stock(2, 8)}),
  }));
  EXPECT_EQ(decoded.counters.gaps, 1U);
  EXPECT_EQ(decoded.counters.missing, 3U);
  std::vector<bool> flagged;
  for (const MarketEvent& event : decoded.events)
    flagged.push_back(event.quality.has(Quality::kGap));
  EXPECT_EQ(flagged, (std::vector<bool>{false, false, true, false, true}));
}

TEST(MoldUdp64Decoder, FindsAGapByAHeartbeat) {
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {add(1)}),
      mold_frame({.sequence = 4}, {}),
      mold_frame({.sequence = 4}, {add(4)}),
  }));
  EXPECT_EQ(decoded.counters.gaps, 1U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  EXPECT_EQ(decoded.by_type.at("heartbeat"), 1U);
  EXPECT_EQ(decoded.counters.ignored, 1U);
  ASSERT_EQ(decoded.events.size(), 2U);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
}

TEST(MoldUdp64Decoder, FlagsALateMessageAndMovesNoBook) {
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {add(1)}),
      mold_frame({.sequence = 3}, {add(3)}),
      mold_frame({.sequence = 2}, {add(2)}),
      mold_frame({.sequence = 2}, {add(2)}),
      mold_frame({.sequence = 4}, {add(4)}),
  }));
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 3, 2, 4}));
  EXPECT_EQ(decoded.counters.out_of_order, 1U);
  EXPECT_EQ(decoded.counters.duplicates, 1U);
  EXPECT_TRUE(decoded.events[1].quality.has(Quality::kGap));
  EXPECT_EQ(decoded.events[2].quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_FALSE(decoded.events[2].end_of_update);
  EXPECT_FALSE(decoded.events[3].quality.any());
  EXPECT_EQ(decoded.counters.time_backwards, 0U) << "late is told once";
}

TEST(MoldUdp64Decoder, ClearsBooksThatWereSeenFromTheStart) {
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {itch_system_event('O'), add(1)}),
      mold_frame({.sequence = 5}, {itch_add({.id = 5, .symbol = "NEW"}, {.locate = 9})}),
  }));
  EXPECT_EQ(decoded.kinds(), (std::vector{EventKind::kClear, EventKind::kAddOrder,
                                          EventKind::kClear, EventKind::kAddOrder}));
  EXPECT_FALSE(decoded.events[1].quality.has(Quality::kGap));
  EXPECT_FALSE(decoded.events[2].quality.has(Quality::kGap));
  EXPECT_TRUE(decoded.events[3].quality.has(Quality::kGap)) << "its first orders may be missing";
}

TEST(MoldUdp64Decoder, GoesOnAtTheNextPacketAfterACorruptMessage) {
  Bytes corrupt = mold_packet({.sequence = 2}, {add(2), add(3), add(4)});
  constexpr std::size_t kSecondMessage = 20 + 2 + 36;
  corrupt[kSecondMessage + 1] = std::byte{35};  // its length
  const DrainedSource decoded = decode(capture({
      mold_frame({.sequence = 1}, {add(1)}),
      ethernet_frame(0x0800, ipv4_packet(udp_datagram(corrupt))),
      mold_frame({.sequence = 5}, {add(5)}),
  }));
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 2, 5}));
  EXPECT_EQ(decoded.counters.malformed, 1U);
  EXPECT_EQ(decoded.counters.missing, 2U);
  ASSERT_EQ(decoded.faults.size(), 1U);
  EXPECT_EQ(decoded.faults[0].record, 3U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 2, message 2 of 3: a message 'A' (add order) of 35 bytes; it has 36");
  EXPECT_TRUE(decoded.events.back().quality.has(Quality::kGap));
  EXPECT_EQ(decoded.error, "");
}

TEST(MoldUdp64Decoder, CountsAPacketShorterOrLongerThanItsMessages) {
  Bytes shorter = mold_packet({.sequence = 1}, {add(1), add(2)});
  shorter.resize(shorter.size() - 10);
  Bytes longer = mold_packet({.sequence = 2}, {add(2)});
  longer.push_back(std::byte{0});
  const DrainedSource decoded =
      decode(capture({ethernet_frame(0x0800, ipv4_packet(udp_datagram(shorter))),
                      ethernet_frame(0x0800, ipv4_packet(udp_datagram(longer)))}));
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 2}));
  ASSERT_EQ(decoded.faults.size(), 2U);
  EXPECT_EQ(decoded.faults[0].message,
            "packet 1, message 2 of 2: the packet ends inside the message");
  EXPECT_EQ(decoded.faults[1].message,
            "packet 2, message 1 of 1: bytes after the packet's last message");
}

TEST(MoldUdp64Decoder, KeepsSessionsApart) {
  const DrainedSource decoded =
      decode(capture({
                 mold_frame({.session = "000010059B", .sequence = 500}, {add(1)}),
                 mold_frame({.session = "000010059D", .sequence = 9}, {add(1)}),
                 mold_frame({.session = "000010059B", .sequence = 501}, {add(2)}),
             }),
             {"TEST"});
  EXPECT_EQ(decoded.counters.gaps + decoded.counters.duplicates, 0U);
  ASSERT_EQ(decoded.instruments.size(), 2U);
  EXPECT_EQ(decoded.instruments[0].symbol, "TEST");
  EXPECT_EQ(decoded.instruments[1].symbol, "TEST@000010059D");
  EXPECT_EQ(decoded.events[1].instrument, 1U);
  EXPECT_EQ(decoded.events[2].instrument, 0U);
}

TEST(MoldUdp64Decoder, CountsPacketsThatCarryNoMessages) {
  const Bytes payload = mold_packet({}, {add(1)});
  constexpr std::uint16_t kMoreFragments = 0x2000;
  Bytes end_of_session = mold_packet({.sequence = 2}, {});
  end_of_session[18] = end_of_session[19] = std::byte{0xFF};
  const DrainedSource decoded = decode(capture({
      mold_frame({}, {add(1)}),
      ethernet_frame(0x0800, ipv4_packet(Bytes(20), 6)),
      ethernet_frame(0x0800, ipv4_packet(udp_datagram(payload), 17, kMoreFragments)),
      ethernet_frame(0x0800, ipv4_packet(udp_datagram(Bytes(19, std::byte{'0'})))),
      ethernet_frame(0x0800, ipv4_packet(udp_datagram(end_of_session))),
  }));
  EXPECT_EQ(decoded.counters.records, 5U);
  EXPECT_EQ(decoded.counters.ignored, 3U);
  EXPECT_EQ(decoded.counters.malformed, 1U);
  const std::map<std::string, std::uint64_t> expected = {{"A add order", 1},
                                                         {"UDP packet", 3},
                                                         {"TCP packet", 1},
                                                         {"IP fragment", 1},
                                                         {"end of session", 1}};
  EXPECT_EQ(decoded.by_type, expected);
}

TEST(MoldUdp64Decoder, RefusesACaptureOfAnotherProtocol) {
  const Bytes other = ethernet_frame(0x0800, ipv4_packet(udp_datagram(Bytes(40))));
  const DrainedSource few = decode(capture({other}));
  EXPECT_EQ(few.code, ErrorCode::kDataLoss);
  EXPECT_NE(few.error.find("no packet of the capture is MoldUDP64"), std::string::npos);
  const DrainedSource many = decode(capture(std::vector<Bytes>(300, other)));
  EXPECT_EQ(many.code, ErrorCode::kDataLoss);
  EXPECT_EQ(many.counters.malformed, 100U);
}

TEST(MoldUdp64Decoder, YieldsAllBeforeACutCapture) {
  Bytes file = capture(
      {mold_frame({.sequence = 1}, {add(1), add(2)}), mold_frame({.sequence = 3}, {add(3)})});
  file.resize(file.size() - 7);
  const DrainedSource decoded = decode(file);
  EXPECT_EQ(order_ids(decoded), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(decoded.code, ErrorCode::kDataLoss);
  EXPECT_NE(decoded.error.find("test.pcap, record 2"), std::string::npos) << decoded.error;
  EXPECT_NE(decoded.error.find("packet 2: "), std::string::npos) << decoded.error;
}

TEST(MoldUdp64Decoder, AllocatesNothingAfterWarmUp) {
  std::vector<Bytes> frames;
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    frames.push_back(mold_frame({.sequence = 2 * i}, {add(2 * i), add(2 * i + 1)}));
  }
  const Bytes file = capture(frames);
  const auto source = make_moldudp64_decoder(make_memory_stream("test.pcap", file), {});
  EventBatch batch;
  for (int i = 0; i < 100; ++i) (void)source.value()->next(batch);
  const std::uint64_t before = allocation_count();
  while (source.value()->next(batch) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(source.value()->counters().events, 2'000U);
}

struct RealCapture {
  std::string_view name;
  std::string_view type;
  std::uint64_t records;
  std::uint64_t events;
};

TEST(MoldUdp64Decoder, ReadsRealPacketsOfEachType) {
  const std::vector<RealCapture> captures = {
      {"AddOrderNoMpidAttributionMessage", "A add order", 1, 1},
      {"MarketParticipantPositionMessage", "L market participant position", 1, 0},
      {"NetOrderImbalanceIndicatorMessage", "I order imbalance", 1, 0},
      {"OrderDeleteMessage", "D order delete", 1, 1},
      {"OrderExecutedMessage", "E order executed", 1, 1},
      {"OrderReplaceMessage", "U order replace", 1, 2},
      {"StockTradingActionMessage", "H trading action", 1, 1},
      {"Multiple.Packets", "A add order", 39, 39},
  };
  if (tocsin_data_path("itch/moldudp64").empty()) {
    GTEST_SKIP() << "no itch/moldudp64 in TOCSIN_DATA";
  }
  for (const RealCapture& real : captures) {
    SCOPED_TRACE(real.name);
    auto stream =
        open_byte_stream(tocsin_data_path("itch/moldudp64/" + std::string(real.name) + ".pcap"));
    ASSERT_TRUE(stream.ok());
    const auto source = make_moldudp64_decoder(std::move(stream).value(), {});
    ASSERT_TRUE(source.ok());
    const DrainedSource decoded = drain(*source.value());
    EXPECT_EQ(decoded.error, "");
    EXPECT_EQ(decoded.counters.records, real.records);
    EXPECT_EQ(decoded.events.size(), real.events);
    EXPECT_EQ(decoded.by_type.count(std::string(real.type)), 1U);
    EXPECT_EQ(decoded.counters.malformed, 0U);
    for (const MarketEvent& event : decoded.events) {
      // Captured within a millisecond of the exchange's time, once the midnight is right.
      EXPECT_GT(event.receive_time_ns, event.exchange_time_ns);
      EXPECT_LT(event.receive_time_ns - event.exchange_time_ns, kHourNs / 3'600'000);
    }
  }
}

TEST(MoldUdp64Decoder, ReadsARealOrderToTheLastField) {
  const std::string path = tocsin_data_path("itch/moldudp64/AddOrderNoMpidAttributionMessage.pcap");
  if (path.empty()) GTEST_SKIP() << "no itch/moldudp64 in TOCSIN_DATA";
  auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream.ok());
  const auto source = make_moldudp64_decoder(std::move(stream).value(), {});
  const DrainedSource decoded = drain(*source.value());
  ASSERT_EQ(decoded.events.size(), 1U);
  const MarketEvent& event = decoded.events[0];
  EXPECT_EQ(decoded.instruments[0].symbol, "AMZU");
  EXPECT_EQ(event.sequence, 0x18BED5U);
  EXPECT_EQ(event.order_id, 0x17ABA5U);
  EXPECT_EQ(event.side, Side::kBid);
  EXPECT_EQ(event.quantity_nanos, 300'000'000'000);
  EXPECT_EQ(event.price_nanos, 24'270'000'000);
  EXPECT_EQ(event.receive_time_ns, 1'692'711'000'000'086'608);
}

}  // namespace
}  // namespace tocsin
