// IEX's DEEP (price levels) and TOPS (best quotes) over IEX-TP, the transport that numbers their
// messages within a session.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/gap_detector.h"
#include "ingest/iex_messages.h"
#include "ingest/packet_protocol.h"
#include "ingest/wire_reader.h"

namespace tocsin {

class IexProtocol final : public PacketProtocol {
 public:
  explicit IexProtocol(FeedLedger& ledger);

  std::string_view name() const noexcept override { return "IEX DEEP or TOPS over IEX-TP"; }
  std::string venue() const override;
  std::optional<PacketRange> range_of(std::span<const std::byte> payload) const noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 protected:
  Content open_payload() override;
  void decode_next(EventBatch& batch) override;

 private:
  enum class Outcome : std::uint8_t { kDecoded, kIgnored, kMalformed, kBadQuantity };

  struct Security {
    InstrumentId instrument = 0;
    std::uint32_t gap_count = 0;  // of the channel, at the security's last event
    std::int64_t last_event_time_ns = INT64_MIN;
    bool wanted = false;
    bool cleared = false;        // its book was cleared since the start of messages
    bool in_transition = false;  // the last level update was not the last of its transaction
    bool operational_halt = false;
    bool has_event = false;
    TradingStatus status = TradingStatus::kUnknown;  // but for operational halts
  };
  // One message protocol on one channel; a session follows another on it.
  struct Channel {
    std::uint16_t protocol = 0;
    std::uint32_t id = 0;
    std::uint32_t session = 0;
    std::int64_t last_send_time_ns = 0;
    GapDetector sequences;
    std::uint32_t gap_count = 0;
    bool from_start_of_messages = false;  // books begin empty
    std::string name_suffix;              // put behind symbols; tells two channels' apart
    std::vector<Security> securities;
    std::unordered_map<std::uint64_t, std::uint32_t> security_by_symbol;
  };
  // One message on its way into the batch.
  struct Decoding {
    std::span<const std::byte> bytes;
    Security& security;
    MarketEvent event;  // what all events of the message share
    EventBatch& batch;

    MarketEvent& add(EventKind kind) const {
      MarketEvent& added = batch.emplace_back(event);
      added.kind = kind;
      return added;
    }
  };

  Channel* find_channel(std::uint16_t protocol, std::uint32_t id);
  // False for a packet of a session that has ended: the other line's late copy.
  bool follow_session(std::uint32_t session, std::uint64_t first, std::int64_t send_time_ns);
  void start_over();
  void decode_message(std::span<const std::byte> bytes, std::uint64_t sequence, bool is_late,
                      EventBatch& batch);
  Security* find_security(std::span<const std::byte> symbol);
  QualityFlags check_event_time(const Decoding& decoding) noexcept;
  Outcome decode_body(const Decoding& decoding);
  Outcome decode_level(const Decoding& decoding);
  Outcome decode_quote(const Decoding& decoding);
  Outcome decode_trade(const Decoding& decoding);
  static Outcome decode_trading_status(const Decoding& decoding);
  static Outcome decode_operational_halt(const Decoding& decoding);
  Outcome decode_directory(const Decoding& decoding);
  void count(Outcome outcome, char letter);
  void count_finding(const SequenceFinding& finding) noexcept;

  std::vector<Channel> channels_;  // never more than reserved, so that pointers hold
  std::array<std::uint64_t, kIexMessageTypes.size()> counts_{};
  std::uint64_t unknown_count_ = 0;
  std::uint64_t heartbeat_count_ = 0;
  std::uint64_t restart_count_ = 0;

  // The packet at hand.
  Channel* channel_ = nullptr;
  WireReader messages_{{}};
  std::uint64_t sequence_ = 0;  // of its first message
};

// True if `payload` opens like an IEX-TP segment of DEEP or TOPS.
bool looks_like_iex(std::span<const std::byte> payload) noexcept;

}  // namespace tocsin
