// CME's MDP 3.0: packets numbered by channel, SBE messages, books by price level or by order, the
// end of a venue's event as the end of an update. Snapshots heal books that a gap has spoiled.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/gap_detector.h"
#include "ingest/mdp3_ladder.h"
#include "ingest/mdp3_layout.h"
#include "ingest/packet_protocol.h"
#include "ingest/wire_reader.h"

namespace tocsin {

struct MdpOptions {
  std::shared_ptr<const MdpLayout> layout = {};  // null: the one built in
  bool by_order = false;  // books of orders, where the feed has them; else of price levels
};

class MdpProtocol final : public PacketProtocol {
 public:
  MdpProtocol(FeedLedger& ledger, const MdpOptions& options);

  std::string_view name() const noexcept override { return "CME MDP 3.0"; }
  std::string venue() const override;
  std::optional<PacketRange> range_of(std::span<const std::byte> payload) const noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 protected:
  Content open_payload() override;
  void decode_next(EventBatch& batch) override;

 private:
  struct Security {
    std::int32_t id = 0;
    InstrumentId instrument = 0;
    bool wanted = false;
    bool named = false;
    bool has_event = false;  // its grid is final
    bool has_book = false;   // a snapshot or a reset was seen, and no gap since
    bool has_report = false;
    bool tells_gap = false;               // its next event is flagged
    bool in_update = false;               // it has events in the venue's event that is open
    std::uint32_t gap_count = 0;          // of its stream, when it was last known to be whole
    std::uint32_t report = 0;             // number of its last entry
    std::uint32_t sequence = 0;           // of the packet of its last entry
    std::uint32_t snapshot_sequence = 0;  // entries up to this packet are in its snapshot
    std::uint64_t last_record = 0;        // that has an event of it, at last_index of the batch
    std::size_t last_index = 0;
    std::size_t stream = 0;       // that its entries came by
    std::int64_t next_chunk = 0;  // of the snapshot of orders that is open; 0: none is
    std::array<char, 6> group{};
    std::array<MdpLadder, 2> ladders;  // bids, asks
  };
  // A channel's feed. Its second line has another destination and the same packets.
  struct Stream {
    GapDetector sequences;
    std::uint32_t gap_count = 0;
    std::int64_t last_receive_time_ns = 0;
    std::array<std::uint64_t, 64> recent_times{};  // of sending, by number modulo their count
  };
  // The repeating group of one message.
  struct Group {
    const std::byte* first = nullptr;
    std::size_t entry_bytes = 0;
    std::size_t entry_count = 0;
    std::span<const std::byte> entry(std::size_t index) const noexcept {
      return {first + index * entry_bytes, entry_bytes};
    }
  };
  struct Message {
    const MdpTemplate& layout;
    std::span<const std::byte> block;
    std::array<Group, 8> groups;
    EventBatch& batch;
    std::int64_t time_ns = 0;
  };
  struct OrderChange {
    std::span<const std::byte> entry;  // price, side and security
    std::int64_t action = 0;
    std::int64_t order_id = 0;
    const SbeField& quantity;  // in `order`
    std::span<const std::byte> order;
  };
  enum class Outcome : std::uint8_t { kDecoded, kIgnored, kFiltered, kMalformed, kBadQuantity };

  Stream& stream_of(std::uint64_t destination, std::uint32_t sequence, std::uint64_t sent);
  void follow_week(Stream& stream) noexcept;
  bool read_groups(WireReader& body, Message& message) const;
  Outcome decode_message(Message& message);
  Outcome decode_book(const Message& message);
  Outcome decode_orders_of(const Message& message);
  Outcome decode_order_book(const Message& message);
  Outcome change_order(const Message& message, const OrderChange& change);
  Outcome decode_trades(const Message& message);
  Outcome decode_statistics(const Message& message);
  Outcome decode_snapshot(const Message& message);
  Outcome decode_order_snapshot(const Message& message);
  void add_snapshot_order(const Message& message, Security& security,
                          std::span<const std::byte> entry, std::int64_t order_id,
                          Outcome& outcome);
  Outcome decode_status(const Message& message);
  Outcome decode_definition(const Message& message);
  Outcome decode_reset(const Message& message);
  // The venue's event ends: so do the updates of all securities in it.
  void end_event(const Message& message);

  Security* find_security(std::int64_t id);
  // False if the entry is in the security's snapshot already.
  bool follow_report(Security& security, const SbeField& number, std::span<const std::byte> entry);
  void change_level(const Message& message, Security& security, std::size_t side,
                    std::span<const std::byte> entry, Outcome& outcome);
  void set_level(const Message& message, Security& security, std::size_t side,
                 std::int64_t price_nanos, std::int64_t quantity_nanos);
  void clear_book(const Message& message, Security& security);
  // Null if the snapshot is not needed, stale, or of a security that was not asked for.
  Security* open_snapshot(const Message& message, Outcome& outcome);
  void leave_event(Security& security) noexcept;
  void name_security(Security& security, std::string_view symbol);
  MarketEvent& add_event(const Message& message, Security& security, EventKind kind);
  bool price_of(const SbeField& field, std::span<const std::byte> entry,
                std::int64_t& nanos) const noexcept;
  void lose_update(Security& security) noexcept;
  static void worsen(Outcome& outcome, Outcome other) noexcept;

  MdpOptions options_;
  const MdpLayout& layout_;  // options_.layout, or the one built in
  std::map<std::uint64_t, std::size_t> stream_by_destination_;
  std::vector<Stream> streams_;
  std::vector<Security> securities_;
  std::unordered_map<std::int32_t, std::uint32_t> security_by_id_;
  std::vector<std::uint32_t> updated_;  // securities of the event that is open
  std::vector<std::uint64_t> counts_;   // by template
  std::uint64_t unknown_template_count_ = 0;
  std::uint64_t duplicate_packet_count_ = 0;

  // The packet at hand.
  Stream* stream_ = nullptr;
  WireReader messages_{{}};
  std::uint32_t sequence_ = 0;
};

// True if `payload` opens like an MDP 3.0 packet with messages of known templates.
bool looks_like_mdp3(std::span<const std::byte> payload) noexcept;

}  // namespace tocsin
