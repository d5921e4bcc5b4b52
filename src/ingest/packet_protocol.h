// A feed's protocol over datagrams: one payload with its receive time goes in, the events of one
// message after another come out. Capture files and live sockets drive the same class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/feed_ledger.h"
#include "ingest/source.h"

namespace tocsin {

struct Datagram {
  std::span<const std::byte> payload;  // must stay while the protocol has_message()
  std::int64_t receive_time_ns = 0;    // since 1970-01-01 UTC
  std::uint64_t number = 0;            // 1-based, for faults
  std::uint64_t destination = 0;       // address and port it was sent to; 0: not known
};

// What a datagram carries of a stream that the venue numbers without holes.
struct PacketRange {
  std::uint64_t stream = 0;  // tells the streams of one feed apart: sessions, units
  std::uint64_t first = 0;
  std::uint64_t count = 0;  // 0: an announcement of the next number (a heartbeat)
  friend bool operator==(const PacketRange&, const PacketRange&) = default;
};

class PacketProtocol : public FaultPlace {
 public:
  // What is found is entered into `ledger`, which must outlive the protocol.
  explicit PacketProtocol(FeedLedger& ledger) : ledger_(ledger) { ledger_.set_place(this); }
  ~PacketProtocol() override { ledger_.set_place(nullptr); }
  PacketProtocol(const PacketProtocol&) = delete;
  PacketProtocol& operator=(const PacketProtocol&) = delete;

  // Opens a datagram and appends the events of its first message to `batch`. A datagram without
  // messages is a record too: ignored, or malformed, with a fault. What was left of the datagram
  // before is dropped.
  void take(const Datagram& datagram, EventBatch& batch);
  // A datagram that is not one, for the reason given: a malformed record.
  void refuse(std::uint64_t number, std::string_view fault);
  // Whether the datagram at hand has a message left.
  bool has_message() const noexcept { return message_index_ < message_count_; }
  // Appends the events of the next message, which is a record, to `batch`. Allocates nothing after
  // warm-up. Requires has_message().
  void next_message(EventBatch& batch);

  // False until a datagram was this protocol's.
  bool recognised() const noexcept { return recognised_; }
  virtual std::string_view name() const noexcept = 0;  // of the protocol: "MoldUDP64"
  // What sent the packets taken so far, in words: "IEX DEEP 1.0".
  virtual std::string venue() const = 0;
  // What a payload carries, without decoding it; absent if it is not this protocol's.
  virtual std::optional<PacketRange> range_of(
      std::span<const std::byte> payload) const noexcept = 0;
  // Messages and packets by type name.
  virtual std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const = 0;

  std::string place() const override;

 protected:
  enum class Content : std::uint8_t { kMessages, kNone, kMalformed };

  // Reads the header of datagram_: sets message_count_ (kMessages), or packet_fault_ (kMalformed).
  virtual Content open_payload() = 0;
  // Decodes the message that message_index_, already counted up, names.
  virtual void decode_next(EventBatch& batch) = 0;
  // For a datagram whose framing is lost; what is dropped is found missing by the next one.
  void drop_rest_of_packet() noexcept { message_index_ = message_count_ = 0; }

  FeedLedger& ledger_;
  Datagram datagram_;
  std::uint32_t message_index_ = 0;
  std::uint32_t message_count_ = 0;
  const char* packet_fault_ = "";  // a literal

 private:
  bool recognised_ = false;
};

}  // namespace tocsin
