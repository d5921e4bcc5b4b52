// Binance USD-M recordings: raw websocket lines and REST depth snapshots, each behind a local time
// in nanoseconds. A symbol yields nothing before its first snapshot (src/ingest/README.md says
// why).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/binance_message.h"
#include "ingest/book_join.h"
#include "ingest/file_decoder.h"
#include "ingest/gap_detector.h"

namespace tocsin {

// True if `head`, the first bytes of a file, starts with such a line.
bool looks_like_binance(std::span<const std::byte> head) noexcept;

class BinanceDecoder final : public FileDecoder {
 public:
  // Symbols past this limit are faults: a file of garbage must not fill the memory.
  static constexpr std::size_t kSymbolsMax = 10'000;

  BinanceDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols);

  SourceStatus next(EventBatch& batch) noexcept override;
  void interrupt() noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  static constexpr std::size_t kKindCount = 5;

  struct SymbolState {
    std::string symbol;
    bool wanted = false;
    bool has_book = false;  // a snapshot has come: `instrument` is valid
    InstrumentId instrument = 0;
    BookJoin join;
    GapDetector trades;
    std::uint64_t last_ticker_id = 0;
    std::array<std::int64_t, kKindCount> last_time_ns{};  // by kind: streams run side by side
    std::uint64_t count_before_book = 0;  // messages passed over because no snapshot had come
  };
  // Lets a string_view be looked up without a string being made.
  struct SymbolHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  void decode_line(std::string_view line, EventBatch& batch);
  SymbolState* state_of(std::string_view symbol);
  SymbolState* state_of_snapshot(std::string_view symbol);
  MarketEvent first_event(SymbolState& state);
  void on_depth(SymbolState& state, EventBatch& batch);
  void on_snapshot(SymbolState& state, EventBatch& batch);
  void on_ticker(SymbolState& state, EventBatch& batch);
  void on_trade(SymbolState& state, EventBatch& batch);
  void pass_over(SymbolState& state) noexcept;
  void count_join(const SymbolState& state, const BookJoinFinding& finding);
  void note_gap(const SymbolState& state, std::string_view what, std::uint64_t id);
  void finish();

  BinanceMessageParser parser_;
  std::vector<std::unique_ptr<SymbolState>> states_;
  std::unordered_map<std::string, SymbolState*, SymbolHash, std::equal_to<>> state_by_symbol_;
  std::array<std::uint64_t, kKindCount> counts_{};
  bool finished_ = false;
};

}  // namespace tocsin
