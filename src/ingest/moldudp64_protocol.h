// MoldUDP64, the carrier of NASDAQ's ITCH 5.0: numbers the messages of a session, both lines of a
// feed into one. What comes again is a duplicate, not an error.
// Source: "MoldUDP64 Protocol Specification" V 1.00.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/gap_detector.h"
#include "ingest/itch_feed_decoder.h"
#include "ingest/packet_protocol.h"
#include "ingest/wire_reader.h"

namespace tocsin {

inline constexpr std::size_t kMoldSessionBytes = 10;
inline constexpr std::size_t kMoldHeaderBytes = 20;

class MoldUdp64Protocol final : public PacketProtocol {
 public:
  explicit MoldUdp64Protocol(FeedLedger& ledger);

  std::string_view name() const noexcept override { return "MoldUDP64"; }
  std::string venue() const override { return "NASDAQ TotalView-ITCH 5.0 (MoldUDP64)"; }
  std::optional<PacketRange> range_of(std::span<const std::byte> payload) const noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 protected:
  Content open_payload() override;
  void decode_next(EventBatch& batch) override;

 private:
  // Sequence numbers count within a session; stock locates hold within it.
  struct Session {
    std::string_view name() const noexcept { return {id.data(), id.size()}; }

    std::array<char, kMoldSessionBytes> id{};
    ItchStream messages;
    GapDetector sequences;
    bool has_midnight = false;
  };

  // Null if there are more sessions than kSessionsMax.
  Session* find_session(std::string_view id);
  void count_finding(const SequenceFinding& finding) noexcept;

  ItchFeedDecoder itch_;
  std::vector<Session> sessions_;  // never more than reserved, so that pointers hold
  std::uint64_t heartbeat_count_ = 0;
  std::uint64_t end_of_session_count_ = 0;

  // The packet at hand.
  Session* session_ = nullptr;
  WireReader messages_{{}};
  std::uint64_t sequence_ = 0;  // of its first message
};

// True if `payload` opens like a MoldUDP64 packet whose messages, if any, are ITCH 5.0.
bool looks_like_moldudp64(std::span<const std::byte> payload) noexcept;

}  // namespace tocsin
