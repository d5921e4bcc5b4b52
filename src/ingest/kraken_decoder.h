// Kraken's book and trade channels, WebSocket versions 1 and 2, recorded a message a line. Every
// update carries a CRC32 of the ten best levels a side: an oracle (kExpectChecksum).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/file_decoder.h"
#include "ingest/gap_detector.h"
#include "ingest/json_tree.h"
#include "ingest/written_number.h"

namespace tocsin {

// True if `head`, the first bytes of a file, starts with such a line, or with the line that names
// the connection to Kraken.
bool looks_like_kraken(std::span<const std::byte> head) noexcept;

class KrakenDecoder final : public FileDecoder {
 public:
  static constexpr std::size_t kSymbolsMax = 10'000;

  KrakenDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols);

  SourceStatus next(EventBatch& batch) noexcept override;
  void interrupt() noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  enum Kind : std::uint8_t {
    kSnapshot,
    kUpdate,
    kTrade,
    kInstrument,
    kHeartbeat,
    kStatus,
    kConnection,  // a recorder's own line: "wss://ws.kraken.com <-> TIME"
    kOther,
    kKindCount
  };
  enum class Step : std::uint8_t { kOk, kMalformed, kBadQuantity };

  struct SymbolState {
    std::string symbol;
    bool wanted = false;
    bool has_book = false;         // a snapshot has come: `instrument` is valid
    bool awaits_snapshot = false;  // the stream broke off
    InstrumentId instrument = 0;
    std::uint16_t depth = 0;  // subscribed; 0: not told
    int price_decimals = -1;  // from the instrument channel; -1: as the snapshot writes them
    int quantity_decimals = -1;
    std::int64_t last_book_time_ns = 0;
    std::int64_t last_trade_time_ns = 0;
    GapDetector trades;         // version 2 numbers them
    QualityFlags owed_quality;  // of an update that was lost: the next event carries it
    std::uint64_t count_before_book = 0;
  };
  struct SymbolHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Level {
    WrittenNumber price;
    WrittenNumber quantity;
    Side side = Side::kNone;
  };
  // One book message of either version.
  struct BookMessage {
    bool is_snapshot = false;
    bool has_checksum = false;
    std::uint64_t checksum = 0;
    std::int64_t time_ns = 0;  // 0: the message tells none
  };

  void decode_line(std::string_view line, EventBatch& batch);
  void decode_version1(const JsonNode& root, EventBatch& batch);
  void decode_version2(const JsonNode& root, EventBatch& batch);
  void decode_control(const JsonNode& root);
  void decode_book2(const JsonNode& root, EventBatch& batch);
  void decode_trades2(const JsonNode& root, EventBatch& batch);
  void take_precisions(const JsonNode& root);

  Step take_levels1(const JsonNode* list, Side side, BookMessage& book);
  Step take_levels2(const JsonNode* list, Side side);
  Step take_level(const JsonNode* price, const JsonNode* quantity, Side side);
  Step leave_out(std::string_view price);
  Step take_checksum(const JsonNode& checksum, BookMessage& book);
  Step take_trade1(const JsonNode& trade, SymbolState& state, EventBatch& batch);
  Step take_trade2(const JsonNode& trade, SymbolState& state, EventBatch& batch);
  Step malformed(std::string_view expected, std::string_view found = {});

  void yield_book(SymbolState& state, BookMessage& book, EventBatch& batch);
  void yield_trade(SymbolState& state, MarketEvent event, EventBatch& batch);
  void open_book(SymbolState& state);
  MarketEvent first_event(const SymbolState& state, std::int64_t time_ns) noexcept;
  QualityFlags check_time(std::int64_t time_ns, std::int64_t& last_time_ns) noexcept;
  SymbolState* state_of(std::string_view symbol);
  bool passes_over(SymbolState* state) noexcept;
  // Counts a record that could not be decoded; what it would have changed is missing in the book of
  // `state`, or, if nobody knows whose it was (null), of all. A lost trade is missing in no book.
  void lose(Step step, SymbolState* state, Quality what_is_missing = Quality::kGap);

  JsonTree tree_;
  std::vector<Level> levels_;
  std::vector<std::unique_ptr<SymbolState>> states_;
  std::unordered_map<std::string, SymbolState*, SymbolHash, std::equal_to<>> state_by_symbol_;
  std::array<std::uint64_t, kKindCount> counts_{};
  std::int64_t receive_time_ns_ = 0;
  std::string fault_;
  bool finished_ = false;
};

}  // namespace tocsin
