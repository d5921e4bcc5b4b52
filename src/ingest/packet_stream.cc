// The container is libpcap's part, through a FILE whose bytes come from the ByteStream.
// Link, network and transport headers: IEEE 802.3 and 802.1Q, RFC 791, RFC 8200, RFC 768.
#include "ingest/packet_stream.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/decimal.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint16_t kEtherTypeIpv6 = 0x86DD;
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::size_t kUdpHeaderBytes = 8;

// The reading side of fopencookie(3).
::ssize_t read_bytes(void* cookie, char* out, std::size_t size) {
  auto& bytes = *static_cast<ByteStream*>(cookie);
  const std::span<const std::byte> ahead = bytes.peek(1);
  const std::size_t count = std::min(size, ahead.size());
  if (count > 0) std::memcpy(out, ahead.data(), count);
  bytes.consume(count);
  return static_cast<::ssize_t>(count);
}

struct FileCloser {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
struct CaptureCloser {
  void operator()(pcap_t* capture) const noexcept { ::pcap_close(capture); }
};

void set_malformed(Packet& packet, const char* fault) noexcept {
  packet.kind = PacketKind::kMalformed;
  packet.fault = fault;
}

void read_udp(std::span<const std::byte> captured, std::size_t length, Packet& packet) noexcept {
  if (length < kUdpHeaderBytes) return set_malformed(packet, "an IP payload too short for UDP");
  if (captured.size() < kUdpHeaderBytes) {
    packet.kind = PacketKind::kCut;
    return;
  }
  const std::size_t udp_length = load_big<std::uint16_t>(captured.data() + 4);
  if (udp_length < kUdpHeaderBytes || udp_length > length) {
    return set_malformed(packet, "a UDP length that contradicts the IP length");
  }
  if (captured.size() < udp_length) {
    packet.kind = PacketKind::kCut;
    return;
  }
  packet.kind = PacketKind::kUdp;
  packet.destination = packet.destination << 16U | load_big<std::uint16_t>(captured.data() + 2);
  packet.payload = captured.subspan(kUdpHeaderBytes, udp_length - kUdpHeaderBytes);
}

// `captured` starts after the IP header; `length` is what the IP header says there is.
void read_transport(std::uint8_t protocol, std::span<const std::byte> captured, std::size_t length,
                    Packet& packet) noexcept {
  if (protocol == kProtocolUdp) return read_udp(captured, length, packet);
  packet.kind = protocol == kProtocolTcp ? PacketKind::kTcp : PacketKind::kOtherProtocol;
}

void read_ipv4(std::span<const std::byte> captured, Packet& packet) noexcept {
  constexpr std::size_t kHeaderBytesMin = 20;
  if (captured.size() < kHeaderBytesMin) return set_malformed(packet, "a cut IPv4 header");
  const WireRecord<kHeaderBytesMin> header(captured.first<kHeaderBytesMin>());
  const unsigned version_and_size = header.big<std::uint8_t, 0>();
  const std::size_t header_size = std::size_t{version_and_size & 0x0FU} * 4;
  const std::size_t total_length = header.big<std::uint16_t, 2>();
  if (version_and_size >> 4U != 4 || header_size < kHeaderBytesMin) {
    return set_malformed(packet, "an IPv4 header of another version or of no size");
  }
  if (total_length < header_size || captured.size() < header_size) {
    return set_malformed(packet, "an IPv4 length below its header's");
  }
  constexpr unsigned kMoreFragments = 0x2000;
  constexpr unsigned kFragmentOffset = 0x1FFF;
  if ((header.big<std::uint16_t, 6>() & (kMoreFragments | kFragmentOffset)) != 0) {
    packet.kind = PacketKind::kFragment;
    return;
  }
  packet.destination = header.big<std::uint32_t, 16>();
  read_transport(header.big<std::uint8_t, 9>(), captured.subspan(header_size),
                 total_length - header_size, packet);
}

void read_ipv6(std::span<const std::byte> captured, Packet& packet) noexcept {
  constexpr std::size_t kHeaderBytes = 40;
  constexpr std::uint8_t kHopByHop = 0;
  constexpr std::uint8_t kRouting = 43;
  constexpr std::uint8_t kFragment = 44;
  constexpr std::uint8_t kDestinationOptions = 60;
  if (captured.size() < kHeaderBytes) return set_malformed(packet, "a cut IPv6 header");
  const WireRecord<kHeaderBytes> header(captured.first<kHeaderBytes>());
  if (header.big<std::uint8_t, 0>() >> 4U != 6) {
    return set_malformed(packet, "an IPv6 header of another version");
  }
  std::size_t length = header.big<std::uint16_t, 4>();
  std::uint8_t next = header.big<std::uint8_t, 6>();
  // The last four bytes hold a multicast group's number.
  packet.destination = header.big<std::uint32_t, 36>();
  std::span<const std::byte> left = captured.subspan(kHeaderBytes);
  while (next == kHopByHop || next == kRouting || next == kDestinationOptions) {
    if (left.size() < 2) return set_malformed(packet, "a cut IPv6 extension header");
    const std::size_t size = (std::to_integer<std::size_t>(left[1]) + 1) * 8;
    if (left.size() < size || length < size) {
      return set_malformed(packet, "an IPv6 extension header past the packet's end");
    }
    next = std::to_integer<std::uint8_t>(left[0]);
    left = left.subspan(size);
    length -= size;
  }
  if (next == kFragment) {
    packet.kind = PacketKind::kFragment;
    return;
  }
  read_transport(next, left, length, packet);
}

void read_network(std::uint16_t ether_type, std::span<const std::byte> captured,
                  Packet& packet) noexcept {
  if (ether_type == kEtherTypeIpv4) {
    read_ipv4(captured, packet);
  } else if (ether_type == kEtherTypeIpv6) {
    read_ipv6(captured, packet);
  } else {
    packet.kind = PacketKind::kOtherProtocol;
  }
}

// Raw IP: the version stands in the first four bits.
void read_raw_ip(std::span<const std::byte> captured, Packet& packet) noexcept {
  const unsigned version = captured.empty() ? 0 : std::to_integer<unsigned>(captured[0]) >> 4U;
  if (version == 6) return read_ipv6(captured, packet);
  read_ipv4(captured, packet);
}

// After the EtherType at `offset`: VLAN tags (two bytes and the next EtherType), then the network.
void read_tagged(std::span<const std::byte> captured, std::size_t offset, Packet& packet) noexcept {
  constexpr std::uint16_t kVlan = 0x8100;
  constexpr std::uint16_t kServiceVlan = 0x88A8;
  constexpr std::uint16_t kOldServiceVlan = 0x9100;
  for (;; offset += 4) {
    if (captured.size() < offset + 2) return set_malformed(packet, "a cut Ethernet header");
    const auto ether_type = load_big<std::uint16_t>(captured.data() + offset);
    if (ether_type != kVlan && ether_type != kServiceVlan && ether_type != kOldServiceVlan) {
      return read_network(ether_type, captured.subspan(offset + 2), packet);
    }
  }
}

// BSD loopback: an address family in the byte order of the machine that captured.
void read_loopback(std::span<const std::byte> captured, Packet& packet) noexcept {
  constexpr std::size_t kHeaderBytes = 4;
  if (captured.size() < kHeaderBytes) return set_malformed(packet, "a cut loopback header");
  read_raw_ip(captured.subspan(kHeaderBytes), packet);
}

void read_link(int link_type, std::span<const std::byte> captured, Packet& packet) noexcept {
  constexpr std::size_t kEthernetTypeOffset = 12;
  constexpr std::size_t kCookedTypeOffset = 14;
  constexpr std::size_t kCooked2HeaderBytes = 20;
  switch (link_type) {
    case DLT_EN10MB:
      return read_tagged(captured, kEthernetTypeOffset, packet);
    case DLT_LINUX_SLL:
      return read_tagged(captured, kCookedTypeOffset, packet);
    case DLT_LINUX_SLL2:
      if (captured.size() < kCooked2HeaderBytes) {
        return set_malformed(packet, "a cut Linux cooked header");
      }
      return read_network(load_big<std::uint16_t>(captured.data()),
                          captured.subspan(kCooked2HeaderBytes), packet);
    case DLT_NULL:
    case DLT_LOOP:
      return read_loopback(captured, packet);
    default:
      return read_raw_ip(captured, packet);
  }
}

bool is_link_type_read(int link_type) noexcept {
  switch (link_type) {
    case DLT_EN10MB:
    case DLT_LINUX_SLL:
    case DLT_LINUX_SLL2:
    case DLT_NULL:
    case DLT_LOOP:
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view packet_kind_name(PacketKind kind) noexcept {
  switch (kind) {
    case PacketKind::kUdp:
      return "UDP packet";
    case PacketKind::kFragment:
      return "IP fragment";
    case PacketKind::kTcp:
      return "TCP packet";
    case PacketKind::kOtherProtocol:
      return "packet of another protocol";
    case PacketKind::kMalformed:
      return "malformed packet";
    case PacketKind::kCut:
      return "packet cut by the capture";
  }
  return "";
}

struct PacketStream::State {
  ByteStream& bytes;
  std::unique_ptr<pcap_t, CaptureCloser> capture;  // owns the FILE over `bytes`
  int link_type;
  std::uint64_t packet_count = 0;
  Error error{ErrorCode::kOk, ""};
};

PacketStream::PacketStream(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
PacketStream::~PacketStream() = default;
const Error& PacketStream::error() const noexcept { return state_->error; }

Result<std::unique_ptr<PacketStream>> PacketStream::open(ByteStream& bytes) {
  const cookie_io_functions_t reading{&read_bytes, nullptr, nullptr, nullptr};
  std::unique_ptr<std::FILE, FileCloser> file(::fopencookie(&bytes, "rb", reading));
  if (file == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for a stream");
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  std::unique_ptr<pcap_t, CaptureCloser> capture(::pcap_fopen_offline_with_tstamp_precision(
      file.get(), PCAP_TSTAMP_PRECISION_NANO, reason.data()));
  if (capture == nullptr) {
    if (!bytes.status().ok()) return bytes.status().error();
    return Error(ErrorCode::kDataLoss,
                 bytes.path() + ": not a pcap or pcapng capture: " + reason.data());
  }
  (void)file.release();  // now the capture's
  const int link_type = ::pcap_datalink(capture.get());
  if (!is_link_type_read(link_type)) {
    const char* name = ::pcap_datalink_val_to_name(link_type);
    return Error(ErrorCode::kUnimplemented,
                 bytes.path() + ": link type " + (name != nullptr ? name : "?") + " (" +
                     std::to_string(link_type) +
                     "); Ethernet, raw IP, Linux cooked and BSD loopback are read");
  }
  return std::unique_ptr<PacketStream>(
      new PacketStream(std::make_unique<State>(State{bytes, std::move(capture), link_type})));
}

PacketStatus PacketStream::next(Packet& packet) noexcept {
  pcap_pkthdr* header = nullptr;
  const unsigned char* data = nullptr;
  const int code = ::pcap_next_ex(state_->capture.get(), &header, &data);
  if (code == PCAP_ERROR_BREAK && state_->bytes.status().ok()) return PacketStatus::kEnd;
  if (code != 1) {
    const Status& status = state_->bytes.status();
    const std::string reason =
        status.ok() ? ::pcap_geterr(state_->capture.get()) : status.error().message();
    state_->error = Error(ErrorCode::kDataLoss,
                          "packet " + std::to_string(state_->packet_count + 1) + ": " + reason);
    return PacketStatus::kError;
  }
  packet = Packet{};
  packet.number = ++state_->packet_count;
  // With nanosecond precision libpcap keeps nanoseconds in tv_usec.
  std::int64_t seconds_as_ns = 0;
  if (__builtin_mul_overflow(std::int64_t{header->ts.tv_sec}, kNanosPerUnit, &seconds_as_ns) ||
      __builtin_add_overflow(seconds_as_ns, std::int64_t{header->ts.tv_usec},
                             &packet.capture_time_ns)) {
    packet.capture_time_ns = 0;
    set_malformed(packet, "a capture time past the year 2262");
    return PacketStatus::kPacket;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  read_link(state_->link_type, {bytes, header->caplen}, packet);
  return PacketStatus::kPacket;
}

bool looks_like_capture(std::span<const std::byte> head) noexcept {
  if (head.size() < 4) return false;
  switch (load_big<std::uint32_t>(head.data())) {
    case 0xA1B2C3D4:  // pcap, microseconds; then as a little-endian machine writes it
    case 0xD4C3B2A1:
    case 0xA1B23C4D:  // pcap, nanoseconds
    case 0x4D3CB2A1:
    case 0x0A0D0D0A:  // pcapng: the same in both orders
      return true;
    default:
      return false;
  }
}

}  // namespace tocsin
