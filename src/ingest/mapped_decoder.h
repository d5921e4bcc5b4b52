// Lines of JSON or CSV whose fields a map names: snapshots, diffs, trades and tickers of any venue.
// A message that no map entry fits is ignored; one that fits and cannot be read names its field.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/book_join.h"
#include "ingest/csv_row.h"
#include "ingest/feed_map.h"
#include "ingest/file_decoder.h"
#include "ingest/gap_detector.h"
#include "ingest/json_tree.h"

namespace tocsin {

class MappedDecoder final : public FileDecoder {
 public:
  static constexpr std::size_t kSymbolsMax = 10'000;
  static constexpr std::size_t kRanksMax = 1'000;  // levels a side that a feed may tell by rank

  MappedDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols, FeedMap map);

  SourceStatus next(EventBatch& batch) noexcept override;
  void interrupt() noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  struct SymbolState {
    std::string symbol;
    bool wanted = false;
    bool is_open = false;     // its grid is known: `instrument` is valid
    bool book_begun = false;  // by its first diff, where no snapshot is promised
    InstrumentId instrument = 0;
    BookJoin join;
    // Numbers the updates of a feed that does not; of one whose numbers only rise, the last.
    std::uint64_t update_count = 0;
    GapDetector trades;
    std::uint64_t last_ticker_id = 0;
    std::array<std::int64_t, kMappedKindCount> last_time_ns{};
    std::array<std::vector<std::int64_t>, 2> price_by_rank;  // of each side; 0: nothing yet
    QualityFlags owed_quality;  // of an update that was lost: the next event carries it
    std::uint64_t count_before_book = 0;
  };
  struct SymbolHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  // The message at hand.
  struct Message {
    const MessageMap* map = nullptr;
    const JsonNode* element = nullptr;
    SymbolState* state = nullptr;
    std::int64_t time_ns = 0;
    UpdateIds ids;
  };
  // kNobodys: malformed, but no book that is known can have missed it.
  enum class Step : std::uint8_t { kOk, kMalformed, kBadQuantity, kNobodys };

  void decode_line(std::string_view line, EventBatch& batch);
  bool read_row(std::string_view line);
  void decode_message(EventBatch& batch);
  bool fits(const MessageMap& map, const JsonNode& element) const noexcept;
  Step decode_element(const MessageMap& map, const JsonNode& element, EventBatch& batch);
  Step take_symbol(Message& message);
  Step take_time(Message& message);
  Step take_ids(Message& message);
  Step take_levels(const Message& message);
  Step take_list(const FieldPath& list, const Message& message, Side side);
  Step take_level(const MessageMap& map, const JsonNode& level, Side side);
  Step take_side(const MessageMap& map, const JsonNode& element, Side& side);
  Step take_number(const FieldPath& path, const JsonNode& element, std::int64_t& nanos);
  Step take_id(const FieldPath& path, const JsonNode& element, std::uint64_t& id);
  Step take_rank(const Message& message);

  Step on_book(Message& message, EventBatch& batch);
  Step on_trade(const Message& message, EventBatch& batch);
  Step on_ticker(const Message& message, EventBatch& batch);

  const JsonNode* field(const FieldPath& path, const JsonNode& element) const noexcept;
  std::string_view text_of(const FieldPath& path, const JsonNode& element) const noexcept;
  Step malformed(const FieldPath& path, std::string_view expected, std::string_view found);
  void lose(Step step, SymbolState* state, MappedKind kind);
  void count_join(const SymbolState& state, const BookJoinFinding& finding);
  void open(SymbolState& state);
  bool is_known(const Message& message) noexcept;
  MarketEvent first_event(const Message& message) noexcept;
  SymbolState* state_of(std::string_view symbol);
  void finish();

  FeedMap map_;
  JsonTree tree_;
  CsvRow row_;
  std::vector<std::string> columns_;  // CSV: their names
  std::vector<std::string_view> column_views_;
  std::vector<FeedLevel> levels_;
  std::vector<std::unique_ptr<SymbolState>> states_;
  SymbolState unwanted_;
  bool has_unwanted_ = false;
  std::unordered_map<std::string, SymbolState*, SymbolHash, std::equal_to<>> state_by_symbol_;
  std::array<std::uint64_t, kMappedKindCount> counts_{};
  std::uint64_t other_count_ = 0;
  std::int64_t receive_time_ns_ = 0;  // 0: the line tells none
  std::string fault_;
  SymbolState* faulty_ = nullptr;
  std::string symbol_scratch_;
  bool has_columns_ = false;
  bool finished_ = false;
};

}  // namespace tocsin
