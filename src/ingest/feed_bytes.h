// Builds binary feeds byte by byte: what the tests and benchmarks of this module decode.
// Not for the program itself, which writes no feed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tocsin {

using Bytes = std::vector<std::byte>;

class FeedBytes {
 public:
  template <std::integral T>
  FeedBytes& big(std::type_identity_t<T> value) {
    for (std::size_t i = sizeof(T); i-- > 0;) push(static_cast<std::uint64_t>(value) >> (8 * i));
    return *this;
  }
  template <std::integral T>
  FeedBytes& little(std::type_identity_t<T> value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) push(static_cast<std::uint64_t>(value) >> (8 * i));
    return *this;
  }
  FeedBytes& letter(char value) { return big<std::uint8_t>(static_cast<std::uint8_t>(value)); }
  // `text`, filled up to `size_bytes` with `padding`.
  FeedBytes& text(std::string_view text, std::size_t size_bytes, char padding) {
    for (std::size_t i = 0; i < size_bytes; ++i) letter(i < text.size() ? text[i] : padding);
    return *this;
  }
  FeedBytes& zeros(std::size_t size_bytes) {
    bytes_.resize(bytes_.size() + size_bytes);
    return *this;
  }
  FeedBytes& append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  const Bytes& bytes() const& { return bytes_; }
  Bytes bytes() && { return std::move(bytes_); }

 private:
  void push(std::uint64_t value) { bytes_.push_back(static_cast<std::byte>(value & 0xFFU)); }

  Bytes bytes_;
};

// ---- ITCH 5.0 -----------------------------------------------------------------------------------

struct ItchHeader {
  std::uint16_t locate = 1;
  std::uint64_t time_ns = 0;  // since midnight
};

inline FeedBytes itch_header(char type, const ItchHeader& header) {
  FeedBytes bytes;
  bytes.letter(type).big<std::uint16_t>(header.locate).big<std::uint16_t>(0);
  bytes.big<std::uint16_t>(static_cast<std::uint16_t>(header.time_ns >> 32));
  bytes.big<std::uint32_t>(static_cast<std::uint32_t>(header.time_ns));
  return bytes;
}

inline Bytes itch_system_event(char event, const ItchHeader& header = {.locate = 0}) {
  return itch_header('S', header).letter(event).bytes();
}

inline Bytes itch_directory(std::string_view symbol, const ItchHeader& header) {
  return itch_header('R', header).text(symbol, 8, ' ').zeros(20).bytes();
}

inline Bytes itch_status(std::string_view symbol, char state, const ItchHeader& header) {
  return itch_header('H', header).text(symbol, 8, ' ').letter(state).zeros(5).bytes();
}

struct ItchOrder {
  std::uint64_t id = 0;
  char side = 'B';
  std::uint32_t shares = 100;
  std::uint32_t price = 0;  // four decimals
  std::string_view symbol = "TEST";
};

inline Bytes itch_add(const ItchOrder& order, const ItchHeader& header = {}) {
  return itch_header('A', header)
      .big<std::uint64_t>(order.id)
      .letter(order.side)
      .big<std::uint32_t>(order.shares)
      .text(order.symbol, 8, ' ')
      .big<std::uint32_t>(order.price)
      .bytes();
}

// E (execution), X (cancel): an order and a number of shares; D (delete): the order alone.
inline Bytes itch_change(char type, std::uint64_t order_id, std::uint32_t shares,
                         const ItchHeader& header = {}) {
  FeedBytes bytes = itch_header(type, header).big<std::uint64_t>(order_id);
  if (type != 'D') bytes.big<std::uint32_t>(shares);
  if (type == 'E') bytes.big<std::uint64_t>(7'000);  // the match number
  return std::move(bytes).bytes();
}

inline Bytes itch_replace(std::uint64_t old_id, const ItchOrder& order,
                          const ItchHeader& header = {}) {
  return itch_header('U', header)
      .big<std::uint64_t>(old_id)
      .big<std::uint64_t>(order.id)
      .big<std::uint32_t>(order.shares)
      .big<std::uint32_t>(order.price)
      .bytes();
}

// A message as files carry it.
inline void append_itch(Bytes& file, std::span<const std::byte> message) {
  file.push_back(std::byte{0});
  file.push_back(static_cast<std::byte>(message.size()));
  file.insert(file.end(), message.begin(), message.end());
}

// ---- MoldUDP64 in captures ----------------------------------------------------------------------

struct MoldHeader {
  std::string_view session = "0000000001";
  std::uint64_t sequence = 1;
};

inline Bytes mold_packet(const MoldHeader& header, const std::vector<Bytes>& messages) {
  FeedBytes bytes;
  bytes.text(header.session, 10, ' ').big<std::uint64_t>(header.sequence);
  bytes.big<std::uint16_t>(static_cast<std::uint16_t>(messages.size()));
  for (const Bytes& message : messages) {
    bytes.big<std::uint16_t>(static_cast<std::uint16_t>(message.size())).append(message);
  }
  return std::move(bytes).bytes();
}

inline Bytes udp_datagram(std::span<const std::byte> payload) {
  return FeedBytes()
      .big<std::uint16_t>(26477)
      .big<std::uint16_t>(26477)
      .big<std::uint16_t>(static_cast<std::uint16_t>(8 + payload.size()))
      .big<std::uint16_t>(0)
      .append(payload)
      .bytes();
}

inline Bytes ipv4_packet(std::span<const std::byte> content, std::uint8_t protocol = 17,
                         std::uint16_t fragment = 0) {
  return FeedBytes()
      .big<std::uint8_t>(0x45)
      .big<std::uint8_t>(0)
      .big<std::uint16_t>(static_cast<std::uint16_t>(20 + content.size()))
      .big<std::uint16_t>(0)
      .big<std::uint16_t>(fragment)
      .big<std::uint8_t>(20)
      .big<std::uint8_t>(protocol)
      .big<std::uint16_t>(0)
      .big<std::uint32_t>(0xCEC87F8A)
      .big<std::uint32_t>(0xE9360C6F)
      .append(content)
      .bytes();
}

inline Bytes ethernet_frame(std::uint16_t ether_type, std::span<const std::byte> content) {
  return FeedBytes().zeros(12).big<std::uint16_t>(ether_type).append(content).bytes();
}

// The whole way down: what one line of a feed puts on the wire.
inline Bytes mold_frame(const MoldHeader& header, const std::vector<Bytes>& messages) {
  return ethernet_frame(0x0800, ipv4_packet(udp_datagram(mold_packet(header, messages))));
}

struct CapturedFrame {
  std::int64_t time_ns = 0;
  Bytes bytes;
};

struct CaptureFormat {
  bool nanoseconds = true;
  std::uint32_t link_type = 1;  // Ethernet
};

inline Bytes pcap_file(const std::vector<CapturedFrame>& frames, const CaptureFormat& format = {}) {
  FeedBytes bytes;
  bytes.little<std::uint32_t>(format.nanoseconds ? 0xA1B23C4DU : 0xA1B2C3D4U);
  bytes.little<std::uint16_t>(2).little<std::uint16_t>(4).zeros(8);
  bytes.little<std::uint32_t>(65'535).little<std::uint32_t>(format.link_type);
  for (const CapturedFrame& frame : frames) {
    const std::int64_t fraction_ns = frame.time_ns % 1'000'000'000;
    const auto size = static_cast<std::uint32_t>(frame.bytes.size());
    bytes.little<std::uint32_t>(static_cast<std::uint32_t>(frame.time_ns / 1'000'000'000));
    bytes.little<std::uint32_t>(
        static_cast<std::uint32_t>(format.nanoseconds ? fraction_ns : fraction_ns / 1'000));
    bytes.little<std::uint32_t>(size).little<std::uint32_t>(size).append(frame.bytes);
  }
  return std::move(bytes).bytes();
}

inline void append_pcapng_block(FeedBytes& file, std::uint32_t type, Bytes body) {
  while (body.size() % 4 != 0) body.push_back(std::byte{0});
  const auto total = static_cast<std::uint32_t>(12 + body.size());
  file.little<std::uint32_t>(type).little<std::uint32_t>(total).append(body);
  file.little<std::uint32_t>(total);
}

// One section with one interface.
inline Bytes pcapng_file(const std::vector<CapturedFrame>& frames,
                         const CaptureFormat& format = {}) {
  FeedBytes file;
  append_pcapng_block(file, 0x0A0D0D0A,
                      FeedBytes()
                          .little<std::uint32_t>(0x1A2B3C4D)
                          .little<std::uint16_t>(1)
                          .little<std::uint16_t>(0)
                          .little<std::int64_t>(-1)
                          .bytes());
  FeedBytes interface;
  interface.little<std::uint16_t>(static_cast<std::uint16_t>(format.link_type));
  interface.little<std::uint16_t>(0).little<std::uint32_t>(65'535);
  if (format.nanoseconds) {  // option if_tsresol: units of 10^-9 s
    interface.little<std::uint16_t>(9).little<std::uint16_t>(1).little<std::uint32_t>(9);
    interface.little<std::uint32_t>(0);
  }
  append_pcapng_block(file, 1, interface.bytes());
  for (const CapturedFrame& frame : frames) {
    const auto units = static_cast<std::uint64_t>(frame.time_ns / (format.nanoseconds ? 1 : 1'000));
    const auto size = static_cast<std::uint32_t>(frame.bytes.size());
    append_pcapng_block(file, 6,
                        FeedBytes()
                            .little<std::uint32_t>(0)
                            .little<std::uint32_t>(static_cast<std::uint32_t>(units >> 32))
                            .little<std::uint32_t>(static_cast<std::uint32_t>(units))
                            .little<std::uint32_t>(size)
                            .little<std::uint32_t>(size)
                            .append(frame.bytes)
                            .bytes());
  }
  return std::move(file).bytes();
}

// ---- Databento DBN ------------------------------------------------------------------------------

struct DbnHeader {
  std::uint8_t version = 3;
  std::uint16_t schema = 0;  // mbo
  // One symbol, by instrument id, from 1970 on.
  std::string_view symbol = "ESH4";
  std::string_view id = "17077";
};

inline Bytes dbn_header(const DbnHeader& header = {}) {
  const bool is_version1 = header.version == 1;
  const std::size_t symbol_bytes = is_version1 ? 22 : 71;
  FeedBytes fields;
  fields.text("GLBX.MDP3", 16, '\0').little<std::uint16_t>(header.schema);
  fields.zeros(is_version1 ? 32 : 24);
  fields.little<std::uint8_t>(1).little<std::uint8_t>(0).little<std::uint8_t>(0);
  if (!is_version1) fields.little<std::uint16_t>(static_cast<std::uint16_t>(symbol_bytes));
  fields.zeros(is_version1 ? 47 : 53).little<std::uint32_t>(0);
  for (int list = 0; list < 3; ++list) fields.little<std::uint32_t>(0);
  fields.little<std::uint32_t>(1).text(header.symbol, symbol_bytes, '\0');
  fields.little<std::uint32_t>(1).little<std::uint32_t>(19700101).little<std::uint32_t>(20991231);
  fields.text(header.id, symbol_bytes, '\0');
  return FeedBytes()
      .text("DBN", 3, ' ')
      .little<std::uint8_t>(header.version)
      .little<std::uint32_t>(static_cast<std::uint32_t>(fields.bytes().size()))
      .append(fields.bytes())
      .bytes();
}

struct DbnRecord {
  std::uint64_t time_ns = 1'000;  // received ten nanoseconds later
  std::uint32_t sequence = 1;
  char action = 'A';
  char side = 'B';
  std::uint8_t flags = 0x80;
  std::int64_t price_nanos = 4'800'000'000'000;
  std::uint32_t size = 1;
  std::uint64_t order_id = 1;
  std::uint32_t instrument_id = 17077;
  std::uint16_t publisher_id = 1;
};

inline FeedBytes dbn_record_header(std::uint8_t type, std::size_t size_bytes,
                                   const DbnRecord& record) {
  FeedBytes bytes;
  bytes.little<std::uint8_t>(static_cast<std::uint8_t>(size_bytes / 4)).little<std::uint8_t>(type);
  bytes.little<std::uint16_t>(record.publisher_id).little<std::uint32_t>(record.instrument_id);
  bytes.little<std::uint64_t>(record.time_ns);
  return bytes;
}

inline Bytes dbn_mbo(const DbnRecord& record) {
  return dbn_record_header(0xA0, 56, record)
      .little<std::uint64_t>(record.order_id)
      .little<std::int64_t>(record.price_nanos)
      .little<std::uint32_t>(record.size)
      .little<std::uint8_t>(record.flags)
      .little<std::uint8_t>(0)
      .letter(record.action)
      .letter(record.side)
      .little<std::uint64_t>(record.time_ns + 10)
      .little<std::int32_t>(0)
      .little<std::uint32_t>(record.sequence)
      .bytes();
}

struct DbnLevel {
  std::int64_t bid_price_nanos = INT64_MAX;
  std::int64_t ask_price_nanos = INT64_MAX;
  std::uint32_t bid_size = 0;
  std::uint32_t ask_size = 0;
};

// trades without levels, mbp-1 and tbbo with one, mbp-10 with ten.
inline Bytes dbn_levels(const DbnRecord& record, const std::vector<DbnLevel>& levels) {
  const std::uint8_t type = levels.empty() ? 0x00 : levels.size() == 1 ? 0x01 : 0x0A;
  FeedBytes bytes = dbn_record_header(type, 48 + 32 * levels.size(), record);
  bytes.little<std::int64_t>(record.price_nanos).little<std::uint32_t>(record.size);
  bytes.letter(record.action).letter(record.side).little<std::uint8_t>(record.flags);
  bytes.little<std::uint8_t>(0).little<std::uint64_t>(record.time_ns + 10);
  bytes.little<std::int32_t>(0).little<std::uint32_t>(record.sequence);
  for (const DbnLevel& level : levels) {
    bytes.little<std::int64_t>(level.bid_price_nanos).little<std::int64_t>(level.ask_price_nanos);
    bytes.little<std::uint32_t>(level.bid_size).little<std::uint32_t>(level.ask_size).zeros(8);
  }
  return std::move(bytes).bytes();
}

}  // namespace tocsin
