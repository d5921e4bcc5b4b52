// Builds the packets of exchanges' feeds byte by byte: what the tests of this module decode.
// Not for the program itself, which writes no feed.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/feed_bytes.h"

namespace tocsin {

// A payload all the way down to the wire.
inline Bytes udp_frame(std::span<const std::byte> payload) {
  return ethernet_frame(0x0800, ipv4_packet(udp_datagram(payload)));
}

// Frames one after another, 10 us apart, from `start_time_ns` on.
inline Bytes capture_of(const std::vector<Bytes>& payloads,
                        std::int64_t start_time_ns = 1'692'711'000'000'000'000) {
  std::vector<CapturedFrame> frames;
  for (const Bytes& payload : payloads) {
    frames.push_back({start_time_ns + 10'000 * static_cast<std::int64_t>(frames.size() + 1),
                      udp_frame(payload)});
  }
  return pcap_file(frames);
}

// ---- IEX-TP -------------------------------------------------------------------------------------

struct IexPacket {
  std::uint16_t protocol = 0x8004;  // DEEP 1.0
  std::uint32_t channel = 1;
  std::uint32_t session = 7;
  std::uint64_t first = 1;
  std::int64_t send_time_ns = 1'000;
};

inline Bytes iex_packet(const IexPacket& packet, const std::vector<Bytes>& messages) {
  FeedBytes body;
  for (const Bytes& message : messages) {
    body.little<std::uint16_t>(static_cast<std::uint16_t>(message.size())).append(message);
  }
  return FeedBytes()
      .little<std::uint8_t>(1)
      .little<std::uint8_t>(0)
      .little<std::uint16_t>(packet.protocol)
      .little<std::uint32_t>(packet.channel)
      .little<std::uint32_t>(packet.session)
      .little<std::uint16_t>(static_cast<std::uint16_t>(body.bytes().size()))
      .little<std::uint16_t>(static_cast<std::uint16_t>(messages.size()))
      .little<std::uint64_t>(0)
      .little<std::uint64_t>(packet.first)
      .little<std::int64_t>(packet.send_time_ns)
      .append(body.bytes())
      .bytes();
}

struct IexHeader {
  std::string_view symbol = "ZIEXT";
  std::int64_t time_ns = 1'000;
};

inline FeedBytes iex_header(char type, char code, const IexHeader& header) {
  FeedBytes bytes;
  bytes.letter(type).letter(code).little<std::int64_t>(header.time_ns);
  if (type != 'S') bytes.text(header.symbol, 8, ' ');
  return bytes;
}

inline Bytes iex_system_event(char event) { return iex_header('S', event, {}).bytes(); }

struct IexLevel {
  char side = '8';  // 8: buy, 5: sell
  bool complete = true;
  std::uint32_t shares = 100;
  std::int64_t price = 100'000;  // four decimals
};

inline Bytes iex_level(const IexLevel& level, const IexHeader& header) {
  return iex_header(level.side, level.complete ? '\1' : '\0', header)
      .little<std::uint32_t>(level.shares)
      .little<std::int64_t>(level.price)
      .bytes();
}

inline Bytes iex_trade(std::uint32_t shares, std::int64_t price, const IexHeader& header) {
  return iex_header('T', '\0', header)
      .little<std::uint32_t>(shares)
      .little<std::int64_t>(price)
      .little<std::uint64_t>(42)
      .bytes();
}

struct IexQuote {
  std::uint32_t bid_shares = 0;
  std::int64_t bid_price = 0;
  std::int64_t ask_price = 0;
  std::uint32_t ask_shares = 0;
};

inline Bytes iex_quote(const IexQuote& quote, const IexHeader& header) {
  return iex_header('Q', '\0', header)
      .little<std::uint32_t>(quote.bid_shares)
      .little<std::int64_t>(quote.bid_price)
      .little<std::int64_t>(quote.ask_price)
      .little<std::uint32_t>(quote.ask_shares)
      .bytes();
}

inline Bytes iex_directory(std::int64_t closing_price, const IexHeader& header) {
  return iex_header('D', '\0', header)
      .little<std::uint32_t>(100)
      .little<std::int64_t>(closing_price)
      .little<std::uint8_t>(1)
      .bytes();
}

inline Bytes iex_status(char status, const IexHeader& header) {
  return iex_header('H', status, header).text("", 4, ' ').bytes();
}

// ---- Cboe PITCH ---------------------------------------------------------------------------------

struct PitchPacket {
  std::uint8_t unit = 1;
  std::uint32_t sequence = 1;
};

inline Bytes pitch_packet(const PitchPacket& packet, const std::vector<Bytes>& messages) {
  FeedBytes body;
  for (const Bytes& message : messages) body.append(message);
  return FeedBytes()
      .little<std::uint16_t>(static_cast<std::uint16_t>(8 + body.bytes().size()))
      .little<std::uint8_t>(static_cast<std::uint8_t>(messages.size()))
      .little<std::uint8_t>(packet.unit)
      .little<std::uint32_t>(packet.sequence)
      .append(body.bytes())
      .bytes();
}

// A message behind its length and type: what follows the time offset, or the seconds of a time.
inline Bytes pitch_message(std::uint8_t type, const FeedBytes& rest,
                           std::uint32_t offset_ns = 1'000) {
  return FeedBytes()
      .little<std::uint8_t>(static_cast<std::uint8_t>(6 + rest.bytes().size()))
      .little<std::uint8_t>(type)
      .little<std::uint32_t>(offset_ns)
      .append(rest.bytes())
      .bytes();
}

inline Bytes pitch_time(std::uint32_t seconds) { return pitch_message(0x20, {}, seconds); }

struct PitchOrder {
  std::uint64_t id = 1;
  char side = 'B';
  std::uint32_t quantity = 100;
  std::int64_t price = 100'000;  // four decimals, of a short message two
  std::string_view symbol = "ZVZZT";
};

inline Bytes pitch_add_long(const PitchOrder& order) {
  return pitch_message(0x21, FeedBytes()
                                 .little<std::uint64_t>(order.id)
                                 .letter(order.side)
                                 .little<std::uint32_t>(order.quantity)
                                 .text(order.symbol, 6, ' ')
                                 .little<std::int64_t>(order.price)
                                 .little<std::uint8_t>(1));
}

inline Bytes pitch_add_short(const PitchOrder& order) {
  return pitch_message(0x22, FeedBytes()
                                 .little<std::uint64_t>(order.id)
                                 .letter(order.side)
                                 .little<std::uint16_t>(static_cast<std::uint16_t>(order.quantity))
                                 .text(order.symbol, 6, ' ')
                                 .little<std::uint16_t>(static_cast<std::uint16_t>(order.price))
                                 .little<std::uint8_t>(1));
}

inline Bytes pitch_add_expanded(const PitchOrder& order) {
  return pitch_message(0x2F, FeedBytes()
                                 .little<std::uint64_t>(order.id)
                                 .letter(order.side)
                                 .little<std::uint32_t>(order.quantity)
                                 .text(order.symbol, 8, ' ')
                                 .little<std::int64_t>(order.price)
                                 .little<std::uint8_t>(1)
                                 .text("MPID", 4, ' '));
}

// What names an order alone; `rest` stands behind its id.
inline Bytes pitch_change(std::uint8_t type, std::uint64_t order_id, const FeedBytes& rest) {
  return pitch_message(type, FeedBytes().little<std::uint64_t>(order_id).append(rest.bytes()));
}

}  // namespace tocsin
