// Linux sockets: SO_TIMESTAMPNS and SO_RXQ_OVFL come as control messages beside each datagram.
#include "ingest/udp_socket.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

namespace tocsin {
namespace {

Error system_error(const std::string& what) {
  return Error(ErrorCode::kUnavailable, what + ": " + std::strerror(errno));
}

std::string text_of(const UdpAddress& address) {
  const ::in_addr host{htonl(address.host)};
  std::array<char, INET_ADDRSTRLEN> text{};
  (void)::inet_ntop(AF_INET, &host, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(address.port);
}

::sockaddr_in socket_address(const UdpAddress& address) noexcept {
  ::sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(address.port);
  result.sin_addr.s_addr = htonl(address.host);
  return result;
}

template <typename T>
bool set_option(int descriptor, int level, int option, const T& value) noexcept {
  return ::setsockopt(descriptor, level, option, &value, sizeof(value)) == 0;
}

Result<::ip_mreqn> membership(const UdpAddress& group, const std::string& interface) {
  ::ip_mreqn request{};
  request.imr_multiaddr.s_addr = htonl(group.host);
  if (interface.empty()) return request;
  if (::inet_pton(AF_INET, interface.c_str(), &request.imr_address) == 1) return request;
  request.imr_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (request.imr_ifindex == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "interface \"" + interface + "\": neither a name of one here nor an IPv4 address");
  }
  return request;
}

Result<int> open_descriptor() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
  if (descriptor < 0) return system_error("a UDP socket");
  return descriptor;
}

bool poll_sockets(std::span<const std::unique_ptr<UdpSocket>> sockets,
                  std::int64_t wait_ns) noexcept {
  std::array<::pollfd, 8> entries{};
  const std::size_t count = std::min(sockets.size(), entries.size());
  for (std::size_t i = 0; i < count; ++i) {
    entries[i].fd = sockets[i]->descriptor();
    entries[i].events = POLLIN;
  }
  const ::timespec wait{.tv_sec = wait_ns / 1'000'000'000, .tv_nsec = wait_ns % 1'000'000'000};
  return ::ppoll(entries.data(), count, &wait, nullptr) > 0;
}

}  // namespace

Result<UdpAddress> udp_address_from_text(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ::in_addr host{};
  UdpAddress address;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos &&
      ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &host) == 1) {
    const auto [last, code] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (code == std::errc() && last == end && address.port != 0) {
      address.host = ntohl(host.s_addr);
      return address;
    }
  }
  return Error(ErrorCode::kInvalidArgument,
               "\"" + text + "\": expected an IPv4 address and a port, as in 239.1.2.3:26477");
}

Result<std::unique_ptr<UdpSocket>> UdpSocket::join(const UdpAddress& group,
                                                   const UdpSocketOptions& options) {
  constexpr std::uint32_t kMulticastMask = 0xF0000000U;
  constexpr std::uint32_t kMulticast = 0xE0000000U;
  if ((group.host & kMulticastMask) != kMulticast) {
    return Error(ErrorCode::kInvalidArgument, text_of(group) + ": not a multicast group");
  }
  TOCSIN_ASSIGN_OR_RETURN(const int descriptor, open_descriptor());
  std::unique_ptr<UdpSocket> socket(new UdpSocket(descriptor));
  const auto buffer_bytes =
      static_cast<int>(std::clamp<std::int64_t>(options.receive_buffer_bytes, 4096, INT32_MAX));
  (void)set_option(descriptor, SOL_SOCKET, SO_RCVBUF, buffer_bytes);
  (void)set_option(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  (void)set_option(descriptor, SOL_SOCKET, SO_RXQ_OVFL, 1);
  // Only what is sent to this group, not to others joined on this machine.
  (void)set_option(descriptor, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  if (!set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)) return system_error(text_of(group));
  const ::sockaddr_in address = socket_address(group);
  if (::bind(descriptor, reinterpret_cast<const ::sockaddr*>(&address), sizeof(address)) != 0) {
    return system_error("binding to " + text_of(group));
  }
  TOCSIN_ASSIGN_OR_RETURN(const ::ip_mreqn request, membership(group, options.interface));
  if (!set_option(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, request)) {
    return system_error("joining " + text_of(group) + " on interface \"" + options.interface +
                        "\"");
  }
  return socket;
}

Result<std::unique_ptr<UdpSocket>> UdpSocket::connect(const UdpAddress& server) {
  TOCSIN_ASSIGN_OR_RETURN(const int descriptor, open_descriptor());
  std::unique_ptr<UdpSocket> socket(new UdpSocket(descriptor));
  (void)set_option(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  const ::sockaddr_in address = socket_address(server);
  if (::connect(descriptor, reinterpret_cast<const ::sockaddr*>(&address), sizeof(address)) != 0) {
    return system_error(text_of(server));
  }
  return socket;
}

// The kernel drops a socket's memberships when it is closed.
UdpSocket::~UdpSocket() { (void)::close(descriptor_); }

bool UdpSocket::receive(UdpDatagram& datagram) noexcept {
  constexpr std::size_t kControlBytes =
      CMSG_SPACE(sizeof(::timespec)) + CMSG_SPACE(sizeof(std::uint32_t));
  alignas(::cmsghdr) std::array<std::byte, kControlBytes> control;
  ::iovec bytes{buffer_.data(), buffer_.size()};
  ::msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  // A server that is not there is told by an error of the socket, once; the next call goes on.
  const ::ssize_t size = ::recvmsg(descriptor_, &message, MSG_DONTWAIT);
  if (size < 0) return false;
  datagram.payload = std::span(buffer_).first(static_cast<std::size_t>(size));
  datagram.receive_time_ns = 0;
  for (::cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_TIMESTAMPNS) {
      ::timespec time{};
      std::memcpy(&time, CMSG_DATA(part), sizeof(time));
      datagram.receive_time_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    } else if (part->cmsg_type == SO_RXQ_OVFL) {
      std::uint32_t reading = 0;
      std::memcpy(&reading, CMSG_DATA(part), sizeof(reading));
      dropped_count_ += reading - last_drop_reading_;
      last_drop_reading_ = reading;
    }
  }
  return true;
}

bool UdpSocket::send(std::span<const std::byte> payload) noexcept {
  return ::send(descriptor_, payload.data(), payload.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<::ssize_t>(payload.size());
}

void wait_for_datagram(std::span<const std::unique_ptr<UdpSocket>> sockets,
                       std::int64_t wait_ns) noexcept {
  (void)poll_sockets(sockets, wait_ns);
}

bool datagram_waits(std::span<const std::unique_ptr<UdpSocket>> sockets) noexcept {
  return poll_sockets(sockets, 0);
}

}  // namespace tocsin
