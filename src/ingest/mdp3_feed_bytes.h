// Builds packets of CME's MDP 3.0 byte by byte, for the tests of this module.
// Not for the program itself, which writes no feed.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/packet_feed_bytes.h"

namespace tocsin {

inline constexpr std::int64_t kMdpPriceUnit = 1'000'000'000;  // of templates 46 on

inline Bytes mdp_packet(std::uint32_t sequence, const std::vector<Bytes>& messages,
                        std::uint64_t sent = 0) {
  FeedBytes bytes;
  bytes.little<std::uint32_t>(sequence).little<std::uint64_t>(sent == 0 ? sequence * 1'000 : sent);
  for (const Bytes& message : messages) bytes.append(message);
  return std::move(bytes).bytes();
}

inline Bytes mdp_message(std::uint16_t template_id, const FeedBytes& block,
                         const FeedBytes& groups = {}) {
  const std::size_t size = 10 + block.bytes().size() + groups.bytes().size();
  return FeedBytes()
      .little<std::uint16_t>(static_cast<std::uint16_t>(size))
      .little<std::uint16_t>(static_cast<std::uint16_t>(block.bytes().size()))
      .little<std::uint16_t>(template_id)
      .little<std::uint16_t>(1)
      .little<std::uint16_t>(9)
      .append(block.bytes())
      .append(groups.bytes())
      .bytes();
}

inline FeedBytes mdp_group(const std::vector<Bytes>& entries, std::size_t entry_bytes,
                           bool wide_header = false) {
  FeedBytes bytes;
  bytes.little<std::uint16_t>(static_cast<std::uint16_t>(entry_bytes));
  if (wide_header) bytes.zeros(5);
  bytes.little<std::uint8_t>(static_cast<std::uint8_t>(entries.size()));
  for (const Bytes& entry : entries) bytes.append(entry);
  return bytes;
}

struct MdpEntry {
  std::int64_t price = 100 * kMdpPriceUnit;
  std::int32_t quantity = 1;
  std::int32_t security = 17;
  std::uint32_t report = 1;
  std::uint8_t level = 1;
  std::uint8_t action = 0;
  char type = '0';
};

struct MdpOrder {
  std::uint64_t id = 1;
  std::int32_t quantity = 1;
  std::uint8_t reference = 1;
  std::uint8_t action = 0;
};

inline FeedBytes mdp_increment(bool end_of_event) {
  return FeedBytes()
      .little<std::uint64_t>(1'692'711'000'000'000'000U)
      .little<std::uint8_t>(end_of_event ? 0x84 : 0x04)
      .zeros(2);
}

// Template 46, or 32 with prices of seven decimals.
inline Bytes mdp_book(const std::vector<MdpEntry>& entries, bool end_of_event = true,
                      const std::vector<MdpOrder>& orders = {}, std::uint16_t template_id = 46) {
  std::vector<Bytes> levels;
  for (const MdpEntry& entry : entries) {
    levels.push_back(FeedBytes()
                         .little<std::int64_t>(entry.price)
                         .little<std::int32_t>(entry.quantity)
                         .little<std::int32_t>(entry.security)
                         .little<std::uint32_t>(entry.report)
                         .little<std::int32_t>(1)
                         .little<std::uint8_t>(entry.level)
                         .little<std::uint8_t>(entry.action)
                         .letter(entry.type)
                         .zeros(5)
                         .bytes());
  }
  std::vector<Bytes> named;
  for (const MdpOrder& order : orders) {
    named.push_back(FeedBytes()
                        .little<std::uint64_t>(order.id)
                        .little<std::uint64_t>(9)
                        .little<std::int32_t>(order.quantity)
                        .little<std::uint8_t>(order.reference)
                        .little<std::uint8_t>(order.action)
                        .zeros(2)
                        .bytes());
  }
  FeedBytes groups = mdp_group(levels, 32);
  groups.append(mdp_group(named, 24, true).bytes());
  return mdp_message(template_id, mdp_increment(end_of_event), groups);
}

// Template 47: one order alone.
inline Bytes mdp_order(const MdpEntry& entry, std::uint64_t order_id) {
  const Bytes bytes = FeedBytes()
                          .little<std::uint64_t>(order_id)
                          .little<std::uint64_t>(9)
                          .little<std::int64_t>(entry.price)
                          .little<std::int32_t>(entry.quantity)
                          .little<std::int32_t>(entry.security)
                          .little<std::uint8_t>(entry.action)
                          .letter(entry.type)
                          .zeros(6)
                          .bytes();
  return mdp_message(47, mdp_increment(true), mdp_group({bytes}, 40));
}

// Template 48; `action` and `level` of the entry are not used.
inline Bytes mdp_trade(const MdpEntry& entry, std::uint8_t aggressor, bool end_of_event = true) {
  const Bytes bytes = FeedBytes()
                          .little<std::int64_t>(entry.price)
                          .little<std::int32_t>(entry.quantity)
                          .little<std::int32_t>(entry.security)
                          .little<std::uint32_t>(entry.report)
                          .little<std::int32_t>(1)
                          .little<std::uint8_t>(aggressor)
                          .little<std::uint8_t>(entry.action)
                          .zeros(6)
                          .bytes();
  FeedBytes groups = mdp_group({bytes}, 32);
  groups.append(mdp_group({}, 16, true).bytes());
  return mdp_message(48, mdp_increment(end_of_event), groups);
}

struct MdpSnapshot {
  std::uint32_t last_sequence = 1;
  std::int32_t security = 17;
  std::uint32_t report = 1;
};

// Template 52.
inline Bytes mdp_snapshot(const MdpSnapshot& snapshot, const std::vector<MdpEntry>& entries) {
  FeedBytes block;
  block.little<std::uint32_t>(snapshot.last_sequence).little<std::uint32_t>(1);
  block.little<std::int32_t>(snapshot.security).little<std::uint32_t>(snapshot.report);
  block.little<std::uint64_t>(1'692'711'000'000'000'000U).zeros(8).zeros(2);
  block.little<std::uint8_t>(17).zeros(24);
  std::vector<Bytes> levels;
  for (const MdpEntry& entry : entries) {
    levels.push_back(FeedBytes()
                         .little<std::int64_t>(entry.price)
                         .little<std::int32_t>(entry.quantity)
                         .little<std::int32_t>(1)
                         .little<std::uint8_t>(entry.level)
                         .zeros(4)
                         .letter(entry.type)
                         .bytes());
  }
  return mdp_message(52, block, mdp_group(levels, 22));
}

// Template 53, chunk `chunk` of `chunk_count`.
struct MdpChunk {
  std::uint32_t number = 1;
  std::uint32_t count = 1;
};
inline Bytes mdp_order_snapshot(const MdpSnapshot& snapshot, const MdpChunk& chunk,
                                const std::vector<std::pair<std::uint64_t, MdpEntry>>& orders) {
  FeedBytes block;
  block.little<std::uint32_t>(snapshot.last_sequence).little<std::uint32_t>(1);
  block.little<std::int32_t>(snapshot.security).little<std::uint32_t>(chunk.count);
  block.little<std::uint32_t>(chunk.number).little<std::uint64_t>(1'692'711'000'000'000'000U);
  std::vector<Bytes> entries;
  for (const auto& [id, entry] : orders) {
    entries.push_back(FeedBytes()
                          .little<std::uint64_t>(id)
                          .little<std::uint64_t>(9)
                          .little<std::int64_t>(entry.price)
                          .little<std::int32_t>(entry.quantity)
                          .letter(entry.type)
                          .bytes());
  }
  return mdp_message(53, block, mdp_group(entries, 29));
}

// Template 54, with a market depth.
inline Bytes mdp_definition(std::string_view symbol, std::int32_t security, std::int64_t tick,
                            std::uint8_t depth = 10) {
  FeedBytes block;
  block.zeros(23).text("ES", 6, '\0').zeros(6).text(symbol, 20, '\0');
  block.little<std::int32_t>(security).zeros(32).little<std::int64_t>(tick).zeros(100);
  FeedBytes groups = mdp_group({}, 9);
  groups.append(
      mdp_group({FeedBytes().text("GBX", 3, '\0').little<std::uint8_t>(depth).bytes()}, 4).bytes());
  return mdp_message(54, block, groups);
}

// Template 30, of a group of securities.
inline Bytes mdp_status(std::string_view group, std::uint8_t status) {
  FeedBytes block;
  block.little<std::uint64_t>(1'692'711'000'000'000'000U).text(group, 6, '\0').zeros(6);
  block.little<std::int32_t>(INT32_MAX).zeros(2).little<std::uint8_t>(0x80);
  block.little<std::uint8_t>(status).zeros(2);
  return mdp_message(30, block);
}

}  // namespace tocsin
