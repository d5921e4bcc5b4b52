// Shenzhen's 10-level snapshots (a table of rows every three seconds, tick.csv): each row restates
// the book; what was traded since the row before is one print. What lies between is not known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/file_decoder.h"

namespace tocsin {

// True if `head`, the first bytes of a file, is the header of such a table.
bool looks_like_szse_snapshot(std::span<const std::byte> head) noexcept;

class SzseSnapshotDecoder final : public FileDecoder {
 public:
  static constexpr std::size_t kLevels = 10;

  static Result<std::unique_ptr<Source>> open(std::unique_ptr<ByteStream> stream,
                                              std::vector<std::string> symbols);

  SourceStatus next(EventBatch& batch) noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  // TradingPhaseCode; the venue's own names.
  enum Phase : std::uint8_t {
    kStart = 0,
    kOpenCall = 1,
    kOpened = 2,  // the opening match is made, trading has not begun
    kTrade = 3,
    kBreak = 4,  // over noon
    kCloseCall = 5,
    kClosed = 6,
    kHalted = 7,
    kPhaseCount = 8
  };
  static constexpr std::size_t kSecuritiesMax = 100'000;

  struct Level {
    std::int64_t price_nanos = 0;
    std::int64_t quantity_nanos = 0;
  };
  struct Row {
    std::int64_t time_ns = 0;
    std::uint64_t phase = 0;
    std::int64_t traded_nanos = 0;  // quantity since the start of the day
    double traded_value = 0;        // in yuan, since the start of the day
    std::int64_t last_price_nanos = 0;
    std::array<Level, kLevels> bids{};
    std::array<Level, kLevels> asks{};
  };
  struct Security {
    InstrumentId instrument = 0;
    bool wanted = true;
    bool started = false;
    Row last;
  };
  // Who came to trade, as far as a difference of sums tells.
  enum PrintKind : std::uint8_t { kAtAsk, kAtBid, kMixed, kPrintKindCount };

  SzseSnapshotDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols);
  Status read_header();
  Security* security_of(std::string_view name);
  RowFault parse(Row& row) const noexcept;
  RowFault parse_levels(std::array<Level, kLevels>& levels,
                        std::size_t first_column) const noexcept;
  SourceStatus faulty_record(const RowFault& fault, EventBatch& batch);
  void append_row(Security& security, const Row& row, EventBatch& batch);
  void append_trade(const Security& security, const Row& row, MarketEvent event, EventBatch& batch);
  static PrintKind kind_of_print(const Row& before, const Row& row) noexcept;

  HeaderTable table_;
  std::map<std::string, Security, std::less<>> securities_;
  std::string day_text_;  // of the row before: the same for thousands of rows
  std::int64_t midnight_time_ns_ = 0;
  std::array<std::uint64_t, kPhaseCount> rows_by_phase_{};
  std::array<std::uint64_t, kPrintKindCount> prints_by_kind_{};
};

}  // namespace tocsin
