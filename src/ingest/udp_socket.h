// A UDP socket that receives datagrams with the kernel's time and drop count: a multicast group
// that is joined while it lives, or the answers of a server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace tocsin {

struct UdpAddress {
  std::uint32_t host = 0;  // IPv4, as a number
  std::uint16_t port = 0;
  friend bool operator==(const UdpAddress&, const UdpAddress&) = default;
};

// "239.1.2.3:26477".
Result<UdpAddress> udp_address_from_text(const std::string& text);

struct UdpSocketOptions {
  std::string interface;  // name or IPv4 address of the one to join on; empty: the system's choice
  std::int64_t receive_buffer_bytes = std::int64_t{8} << 20;  // asked for; the kernel may give less
};

struct UdpDatagram {
  std::span<const std::byte> payload;  // valid until the next receive()
  std::int64_t receive_time_ns = 0;    // the kernel's, since 1970-01-01 UTC; 0: it gave none
};

class UdpSocket {
 public:
  static constexpr std::size_t kDatagramBytesMax = 65'536;

  // Joins a multicast group and receives what is sent to it and its port.
  static Result<std::unique_ptr<UdpSocket>> join(const UdpAddress& group,
                                                 const UdpSocketOptions& options);
  // Sends to a server and receives its answers.
  static Result<std::unique_ptr<UdpSocket>> connect(const UdpAddress& server);
  ~UdpSocket();  // leaves the group
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // False if no datagram waits. Never waits itself.
  bool receive(UdpDatagram& datagram) noexcept;
  // To the server. False if the system refuses; datagrams may be lost anyway.
  bool send(std::span<const std::byte> payload) noexcept;
  // Datagrams that the kernel dropped because its buffer was full.
  std::uint64_t dropped_count() const noexcept { return dropped_count_; }
  int descriptor() const noexcept { return descriptor_; }

 private:
  explicit UdpSocket(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_;
  std::uint64_t dropped_count_ = 0;
  std::uint32_t last_drop_reading_ = 0;  // the kernel's count wraps
  std::array<std::byte, kDatagramBytesMax> buffer_;
};

// Whether a datagram waits on one of the sockets.
bool datagram_waits(std::span<const std::unique_ptr<UdpSocket>> sockets) noexcept;
// Waits until a datagram waits on one of the sockets, or the time is over.
void wait_for_datagram(std::span<const std::unique_ptr<UdpSocket>> sockets,
                       std::int64_t wait_ns) noexcept;

}  // namespace tocsin
