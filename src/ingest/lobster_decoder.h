// LOBSTER: a message file and the book file that goes with it, row for row (academic data from
// NASDAQ TotalView-ITCH). Each row is one record: the message, the book it left behind, the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingest/file_decoder.h"

namespace tocsin {

// True if `head`, the first bytes of a file, starts with a row of a LOBSTER message file.
bool looks_like_lobster(std::span<const std::byte> head) noexcept;
// The same for the book file, which is not read alone.
bool looks_like_lobster_orderbook(std::span<const std::byte> head) noexcept;

class LobsterDecoder final : public FileDecoder {
 public:
  static constexpr std::size_t kDepthMax = 1000;  // levels a side; LOBSTER sells up to 200

  // The symbol and the day come from the message stream's path.
  LobsterDecoder(std::unique_ptr<ByteStream> messages, std::unique_ptr<ByteStream> orderbook,
                 std::vector<std::string> symbols);

  SourceStatus next(EventBatch& batch) noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  static constexpr std::size_t kTypeCount = 8;  // message types 1 to 7, by number

  struct Message {
    std::int64_t time_ns = 0;  // since midnight
    std::int64_t type = 0;
    std::int64_t order_id = 0;
    std::int64_t size = 0;
    std::int64_t price = 0;  // dollars x 10,000
    std::int64_t direction = 0;
  };
  struct Level {
    std::int64_t price_nanos = 0;
    std::int64_t quantity_nanos = 0;
  };

  std::uint64_t bytes_read() const noexcept override {
    return stream_->offset_bytes() + orderbook_->offset_bytes();
  }
  SourceStatus end_of_rows(bool message_read, bool orderbook_read);
  bool decode_message(std::string_view row, MarketEvent& event);
  bool parse_message(std::string_view row, Message& message);
  bool fill_event(const Message& message, MarketEvent& event);
  bool decode_orderbook(std::string_view row);
  bool parse_level(std::string_view price_text, std::string_view size_text, Level& level);
  void append_row(const MarketEvent& event, bool orderbook_known, EventBatch& batch) const;
  bool malformed(std::string_view what, std::string_view found);
  bool bad_quantity(std::string_view what, std::int64_t found);

  std::unique_ptr<ByteStream> orderbook_;
  std::int64_t midnight_time_ns_ = 0;
  InstrumentId instrument_ = 0;
  bool wanted_ = true;
  // The next row starts the book anew: the first one, and the one after a message that was lost.
  bool seeds_book_ = true;
  std::size_t depth_ = 0;      // levels a side, from the first row of the book file
  std::vector<Level> levels_;  // ask 1, bid 1, ask 2, bid 2, ...; as the file has them
  std::array<std::uint64_t, kTypeCount> counts_{};
};

}  // namespace tocsin
