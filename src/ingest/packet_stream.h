// UDP payloads of a capture file (pcap or pcapng, micro- or nanoseconds) over a ByteStream.
// libpcap reads the container; Ethernet, IP and UDP are read here. Nothing is reassembled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/byte_stream.h"

namespace tocsin {

enum class PacketKind : std::uint8_t {
  kUdp,       // `payload` is set
  kFragment,  // a part of an IP packet
  kTcp,
  kOtherProtocol,  // neither UDP nor TCP, or not IP at all
  kMalformed,      // lengths that contradict each other; `fault` says which
  kCut,            // the capture kept less of the packet than its UDP payload
};
inline constexpr std::size_t kPacketKindCount = 6;
std::string_view packet_kind_name(PacketKind kind) noexcept;

struct Packet {
  PacketKind kind = PacketKind::kOtherProtocol;
  std::span<const std::byte> payload;  // valid until the next call of next()
  std::int64_t capture_time_ns = 0;    // since 1970-01-01 UTC
  std::uint64_t number = 0;            // 1-based, as capture tools count
  std::uint64_t destination = 0;       // address and UDP port, tells multicast groups apart
  const char* fault = "";              // a literal
};

enum class PacketStatus : std::uint8_t { kPacket, kEnd, kError };

class PacketStream {
 public:
  // Reads the capture's header. `bytes` must outlive the packet stream. Link types that are read:
  // Ethernet (with any number of VLAN tags), raw IP, Linux cooked (both versions), BSD loopback.
  static Result<std::unique_ptr<PacketStream>> open(ByteStream& bytes);
  ~PacketStream();
  PacketStream(const PacketStream&) = delete;
  PacketStream& operator=(const PacketStream&) = delete;

  PacketStatus next(Packet& packet) noexcept;
  // Valid after next() returned kError: why, with the number of the packet.
  const Error& error() const noexcept;

 private:
  struct State;
  explicit PacketStream(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

// True if `head` opens like a pcap or pcapng file.
bool looks_like_capture(std::span<const std::byte> head) noexcept;

}  // namespace tocsin
