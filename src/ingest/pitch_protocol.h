// Cboe's Multicast PITCH in the sequenced unit header: order by order, each unit numbered by
// itself. Later messages name an order alone; which symbol it is of is kept in an OrderIndex.
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
#include "ingest/order_index.h"
#include "ingest/packet_protocol.h"
#include "ingest/pitch_messages.h"
#include "ingest/wire_reader.h"

namespace tocsin {

class PitchProtocol final : public PacketProtocol {
 public:
  explicit PitchProtocol(FeedLedger& ledger);

  std::string_view name() const noexcept override { return "Cboe PITCH"; }
  std::string venue() const override { return "Cboe PITCH"; }
  std::optional<PacketRange> range_of(std::span<const std::byte> payload) const noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 protected:
  Content open_payload() override;
  void decode_next(EventBatch& batch) override;

 private:
  enum class Outcome : std::uint8_t { kDecoded, kIgnored, kFiltered, kMalformed, kBadQuantity };

  struct Symbol {
    InstrumentId instrument = 0;
    std::uint32_t gap_count = 0;  // of the unit, at the symbol's last event
    bool wanted = false;
    bool cleared = false;    // its book was cleared since the start of the day
    bool has_event = false;  // its grid is final
    bool in_update = false;  // it has events in the transaction that is open
  };
  struct Unit {
    std::uint8_t number = 0;
    bool from_start = false;  // all of its day was seen: books begin empty
    bool in_transaction = false;
    bool is_complex = false;  // prices of complex instruments are signed
    bool has_second = false;
    std::int64_t second_time_ns = 0;  // what the messages' offsets count from
    std::int64_t last_time_ns = INT64_MIN;
    std::int64_t last_receive_time_ns = 0;
    GapDetector sequences;
    std::uint32_t gap_count = 0;
    OrderIndex orders;
    std::vector<Symbol> symbols;
    std::unordered_map<std::uint64_t, std::uint32_t> symbol_by_name;
    std::vector<std::uint32_t> updated;  // symbols of the transaction that is open
  };
  // One message on its way into the batch. Offsets of fields count from its length byte.
  struct Message {
    PitchType type;
    std::span<const std::byte> bytes;
    std::uint64_t sequence;
    bool is_late;
    EventBatch& batch;
  };
  // Of an order or a trade. A price that does not fit makes the quantity 0, which none may have.
  struct Terms {
    std::uint32_t quantity = 0;
    std::int64_t price_nanos = 0;
  };

  Unit& unit_of(std::uint8_t number);
  void decode_message(const Message& message);
  Outcome decode_body(const Message& message);
  Outcome decode_time(const Message& message);
  Outcome decode_add(const Message& message);
  Outcome decode_trade(const Message& message);
  // Messages that name an order alone.
  Outcome decode_change(const Message& message);
  Outcome decode_execution(const Message& message, OrderIndex::Entry& order);
  Outcome decode_reduction(const Message& message, OrderIndex::Entry& order);
  Outcome decode_modification(const Message& message, OrderIndex::Entry& order);
  Outcome decode_status(const Message& message);
  Outcome decode_mapping(const Message& message);
  Outcome decode_futures_definition(const Message& message);
  Outcome clear_unit(const Message& message);
  Outcome end_transaction(const Message& message);

  // The symbol whose name stands in `field`; absent if that is no text.
  std::optional<std::uint32_t> find_symbol(std::string_view field);
  void name_symbol(std::uint32_t symbol, std::string name);
  MarketEvent& add_event(const Message& message, std::uint32_t symbol, EventKind kind);
  std::int64_t time_of(const Message& message) noexcept;
  Terms long_terms(const std::byte* quantity, const std::byte* price) const noexcept;
  Terms short_terms(const std::byte* quantity, const std::byte* price) const noexcept;
  void open_unit(std::uint32_t first);
  void lose_update(std::uint32_t symbol) noexcept;
  void count_finding(const SequenceFinding& finding) noexcept;

  std::array<std::uint16_t, 256> unit_index_{};  // by number, plus one; 0: not seen
  std::vector<Unit> units_;
  std::array<std::uint64_t, kPitchMessageTypes.size()> counts_{};
  std::uint64_t unknown_type_count_ = 0;
  std::uint64_t unknown_order_count_ = 0;
  std::uint64_t heartbeat_count_ = 0;

  // The packet at hand.
  Unit* unit_ = nullptr;
  WireReader messages_{{}};
  std::uint32_t sequence_ = 0;  // of its first message; 0: not numbered
};

// True if `payload` is a sequenced unit of PITCH messages, or its heartbeat.
bool looks_like_pitch(std::span<const std::byte> payload) noexcept;

}  // namespace tocsin
