// What ITCH 5.0 messages mean, whatever carries them: a part of the file and the packet decoder.
// The side of a replaced order is known to the book alone: see EventKind::kAddOrder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/feed_ledger.h"
#include "ingest/itch_messages.h"

namespace tocsin {

// What is known of one stream of messages: a file, or a MoldUDP64 session.
struct ItchStream {
  // By stock locate, the feed's own number of a stock, valid for one day.
  struct Stock {
    InstrumentId instrument = 0;
    std::uint32_t gap_count = 0;  // of the stream, at the stock's last event
    bool known = false;           // `wanted`, and `instrument` where wanted, are set
    bool named = false;           // a message gave the symbol; else it goes by its locate
    bool wanted = false;
    bool cleared = false;  // its book was cleared since the start of the day
  };

  std::string name_suffix;            // put behind symbols; tells the stocks of two streams apart
  bool has_receive_time = false;      // else the exchange's time stands in for it
  std::int64_t midnight_time_ns = 0;  // what message times count from
  std::int64_t last_time_ns = INT64_MIN;
  bool from_start_of_day = false;  // 'start of messages' was seen: books begin empty
  std::uint32_t gap_count = 0;     // gaps and unreadable messages since the stream or day began
  std::vector<Stock> stocks;
  std::unordered_map<std::string, InstrumentId> instrument_by_symbol;
};

struct ItchMessage {
  std::span<const std::byte> bytes;  // one message, which check_message() has accepted
  std::uint64_t sequence = 0;        // 0 where the carrier has none
  std::int64_t receive_time_ns = 0;  // read if the stream has receive times
  bool is_late = false;              // a later one was decoded before it: flagged, never applied
};

class ItchFeedDecoder {
 public:
  // What is found is entered into `ledger`, which must outlive the decoder.
  explicit ItchFeedDecoder(FeedLedger& ledger) noexcept : ledger_(ledger) {}

  // True if `bytes` is one whole message of a known type. Else counts it as malformed, with a
  // fault.
  bool check_message(std::span<const std::byte> bytes);
  // Appends the events of one message and counts what became of it.
  void decode_message(ItchStream& stream, const ItchMessage& message, EventBatch& batch);
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const;

 private:
  enum class Outcome : std::uint8_t { kDecoded, kIgnored, kMalformed, kBadQuantity };
  struct Decoding;

  static Outcome decode_body(const Decoding& decoding);
  static Outcome decode_add(const Decoding& decoding);
  static Outcome decode_execution(const Decoding& decoding);
  static Outcome decode_priced_execution(const Decoding& decoding);
  static Outcome decode_cancel(const Decoding& decoding);
  static Outcome decode_delete(const Decoding& decoding);
  static Outcome decode_replace(const Decoding& decoding);
  static Outcome decode_trade(const Decoding& decoding);
  static Outcome decode_cross(const Decoding& decoding);
  static Outcome decode_status(const Decoding& decoding);

  void decode_system_event(ItchStream& stream, const ItchMessage& message);
  QualityFlags check_message_time(ItchStream& stream, const ItchMessage& message,
                                  std::int64_t exchange_time_ns) noexcept;
  // Null if the message's symbol is no text.
  ItchStream::Stock* find_stock(ItchStream& stream, std::span<const std::byte> bytes);
  void name_stock(ItchStream& stream, ItchStream::Stock& stock, std::string_view symbol);
  void count(Outcome outcome, ItchStream& stream, std::span<const std::byte> bytes);

  FeedLedger& ledger_;
  std::array<std::uint64_t, kItchMessageTypes.size()> counts_{};
};

// True if `head`, the first bytes of a file, begins with messages of ITCH 5.0, each behind its
// length or behind 0x0000.
bool looks_like_itch50(std::span<const std::byte> head) noexcept;

}  // namespace tocsin
