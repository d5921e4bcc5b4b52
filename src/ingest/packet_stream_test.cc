// Captures in all their forms, every header on the way down to UDP, and captures that are cut.
#include "ingest/packet_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/feed_bytes.h"

namespace tocsin {
namespace {

constexpr std::int64_t kTimeNs = 1'692'711'000'123'456'789;

struct Read {
  std::vector<PacketKind> kinds;
  std::vector<std::int64_t> times_ns;
  std::vector<std::string> payloads;
  std::string fault;  // of the last malformed one
  std::string error;
};

Read read(const Bytes& file) {
  Read read;
  const auto stream = make_memory_stream("test.pcap", file);
  const auto packets = PacketStream::open(*stream);
  if (!packets.ok()) {
    read.error = packets.error().message();
    return read;
  }
  Packet packet;
  for (;;) {
    const PacketStatus status = packets.value()->next(packet);
    if (status == PacketStatus::kError) read.error = packets.value()->error().message();
    if (status != PacketStatus::kPacket) break;
    EXPECT_EQ(packet.number, read.kinds.size() + 1);
    read.kinds.push_back(packet.kind);
    read.times_ns.push_back(packet.capture_time_ns);
    const auto* text = reinterpret_cast<const char*>(packet.payload.data());
    read.payloads.emplace_back(text, packet.payload.size());
    if (packet.kind == PacketKind::kMalformed) read.fault = packet.fault;
  }
  return read;
}

Bytes payload() { return FeedBytes().text("hello", 5, ' ').bytes(); }
Bytes datagram() { return udp_datagram(payload()); }

Bytes ipv6_packet(std::uint8_t next_header, const Bytes& content) {
  return FeedBytes()
      .big<std::uint32_t>(0x60000000)
      .big<std::uint16_t>(static_cast<std::uint16_t>(content.size()))
      .big<std::uint8_t>(next_header)
      .big<std::uint8_t>(64)
      .zeros(32)
      .append(content)
      .bytes();
}

// What one frame is read as.
Read read_frame(const Bytes& frame, std::uint32_t link_type = 1) {
  return read(pcap_file({{kTimeNs, frame}}, {.link_type = link_type}));
}

void expect_payload(const Read& read) {
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.kinds, std::vector{PacketKind::kUdp}) << read.fault;
  EXPECT_EQ(read.payloads[0], "hello");
}

TEST(PacketStream, ReadsBothContainersInBothResolutions) {
  const std::vector<CapturedFrame> frames = {
      {kTimeNs, ethernet_frame(0x0800, ipv4_packet(datagram()))}};
  for (const bool nanoseconds : {true, false}) {
    const std::int64_t time_ns = nanoseconds ? kTimeNs : kTimeNs / 1'000 * 1'000;
    for (const Bytes& file : {pcap_file(frames, {.nanoseconds = nanoseconds}),
                              pcapng_file(frames, {.nanoseconds = nanoseconds})}) {
      EXPECT_TRUE(looks_like_capture(file));
      const Read result = read(file);
      expect_payload(result);
      EXPECT_EQ(result.times_ns, std::vector{time_ns});
    }
  }
}

TEST(PacketStream, ReadsThroughVlanTags) {
  const Bytes ip = ipv4_packet(datagram());
  const Bytes tagged =
      FeedBytes().big<std::uint16_t>(141).big<std::uint16_t>(0x0800).append(ip).bytes();
  expect_payload(read_frame(ethernet_frame(0x8100, tagged)));
  const Bytes twice =
      FeedBytes().big<std::uint16_t>(7).big<std::uint16_t>(0x8100).append(tagged).bytes();
  expect_payload(read_frame(ethernet_frame(0x88A8, twice)));
}

TEST(PacketStream, ReadsTheOtherLinkTypes) {
  const Bytes ip = ipv4_packet(datagram());
  constexpr std::uint32_t kRaw = 101;
  constexpr std::uint32_t kCooked = 113;
  constexpr std::uint32_t kCooked2 = 276;
  constexpr std::uint32_t kLoopback = 0;
  expect_payload(read_frame(ip, kRaw));
  expect_payload(read_frame(ipv6_packet(17, datagram()), kRaw));
  expect_payload(
      read_frame(FeedBytes().zeros(14).big<std::uint16_t>(0x0800).append(ip).bytes(), kCooked));
  expect_payload(
      read_frame(FeedBytes().big<std::uint16_t>(0x0800).zeros(18).append(ip).bytes(), kCooked2));
  expect_payload(read_frame(FeedBytes().little<std::uint32_t>(2).append(ip).bytes(), kLoopback));
}

TEST(PacketStream, SkipsIpv6ExtensionHeaders) {
  const Bytes options = FeedBytes()
                            .big<std::uint8_t>(60)
                            .big<std::uint8_t>(0)
                            .zeros(6)
                            .big<std::uint8_t>(17)
                            .big<std::uint8_t>(1)
                            .zeros(14)
                            .append(datagram())
                            .bytes();
  expect_payload(read_frame(ethernet_frame(0x86DD, ipv6_packet(0, options))));
}

TEST(PacketStream, IgnoresEthernetPadding) {
  Bytes frame = ethernet_frame(0x0800, ipv4_packet(datagram()));
  frame.resize(64);
  expect_payload(read_frame(frame));
}

TEST(PacketStream, TellsWhatIsNotUdp) {
  const auto kind_of = [](const Bytes& frame) { return read_frame(frame).kinds.at(0); };
  constexpr std::uint16_t kMoreFragments = 0x2000;
  EXPECT_EQ(kind_of(ethernet_frame(0x0806, Bytes(28))), PacketKind::kOtherProtocol);
  EXPECT_EQ(kind_of(ethernet_frame(0x0800, ipv4_packet(Bytes(20), 6))), PacketKind::kTcp);
  EXPECT_EQ(kind_of(ethernet_frame(0x0800, ipv4_packet(Bytes(8), 2))), PacketKind::kOtherProtocol);
  EXPECT_EQ(kind_of(ethernet_frame(0x0800, ipv4_packet(datagram(), 17, kMoreFragments))),
            PacketKind::kFragment);
  EXPECT_EQ(kind_of(ethernet_frame(0x0800, ipv4_packet(datagram(), 17, 185))),
            PacketKind::kFragment);
  EXPECT_EQ(kind_of(ethernet_frame(0x86DD, ipv6_packet(44, Bytes(16)))), PacketKind::kFragment);
}

TEST(PacketStream, SaysWhichLengthIsWrong) {
  const auto fault_of = [](Bytes frame, std::size_t at, std::uint8_t value) {
    frame.at(at) = std::byte{value};
    return read_frame(frame).fault;
  };
  const Bytes good = ethernet_frame(0x0800, ipv4_packet(datagram()));
  constexpr std::size_t kIp = 14;
  constexpr std::size_t kUdp = kIp + 20;
  EXPECT_EQ(fault_of(good, kIp, 0x44), "an IPv4 header of another version or of no size");
  EXPECT_EQ(fault_of(good, kIp, 0x65), "an IPv4 header of another version or of no size");
  EXPECT_EQ(fault_of(good, kIp + 3, 19), "an IPv4 length below its header's");
  EXPECT_EQ(fault_of(good, kIp + 3, 27), "an IP payload too short for UDP");
  EXPECT_EQ(fault_of(good, kUdp + 5, 7), "a UDP length that contradicts the IP length");
  EXPECT_EQ(fault_of(good, kUdp + 5, 200), "a UDP length that contradicts the IP length");
  const Bytes v6 = ethernet_frame(0x86DD, ipv6_packet(0, Bytes(8)));
  EXPECT_EQ(fault_of(v6, kIp + 41, 9), "an IPv6 extension header past the packet's end");
}

TEST(PacketStream, TellsAPacketThatTheCaptureCut) {
  Bytes frame = ethernet_frame(0x0800, ipv4_packet(datagram()));
  frame.pop_back();
  EXPECT_EQ(read_frame(frame).kinds.at(0), PacketKind::kCut);
}

TEST(PacketStream, NeverReadsPastAFrameOfAnySize) {
  const Bytes v4 = ethernet_frame(0x0800, ipv4_packet(datagram()));
  const Bytes v6 = ethernet_frame(0x86DD, ipv6_packet(17, datagram()));
  for (const Bytes& whole : {v4, v6}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // A copy of its own, so that the address sanitizer sees its end.
      const Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const Read result = read_frame(frame);
      ASSERT_EQ(result.kinds.size(), 1U) << size;
      EXPECT_NE(result.kinds[0], PacketKind::kUdp) << size;
    }
  }
}

TEST(PacketStream, NamesThePacketInWhichAFileIsCut) {
  const CapturedFrame frame{kTimeNs, ethernet_frame(0x0800, ipv4_packet(datagram()))};
  for (const Bytes& whole : {pcap_file({frame, frame}), pcapng_file({frame, frame})}) {
    const std::size_t second = whole == pcap_file({frame, frame}) ? pcap_file({frame}).size()
                                                                  : pcapng_file({frame}).size();
    for (std::size_t size = second + 1; size < whole.size(); ++size) {
      const Read result = read(Bytes(whole.begin(), whole.begin() + static_cast<int>(size)));
      EXPECT_EQ(result.kinds.size(), 1U);
      EXPECT_EQ(result.error.substr(0, 10), "packet 2: ") << size;
    }
  }
}

TEST(PacketStream, RefusesWhatIsNoCapture) {
  EXPECT_NE(read(Bytes(64, std::byte{'x'})).error.find("not a pcap or pcapng capture"),
            std::string::npos);
  EXPECT_FALSE(looks_like_capture(Bytes(64, std::byte{'x'})));
  EXPECT_NE(read(Bytes(3, std::byte{0xD4})).error, "");
  EXPECT_FALSE(looks_like_capture({}));
}

TEST(PacketStream, NamesALinkTypeThatIsNotRead) {
  constexpr std::uint32_t kWireless = 105;
  const Read result = read_frame(Bytes(10), kWireless);
  EXPECT_EQ(result.error,
            "test.pcap: link type IEEE802_11 (105); Ethernet, raw IP, Linux cooked and BSD "
            "loopback are read");
}

}  // namespace
}  // namespace tocsin
