// Databento DBN: market by order, market by price and trades. Other schemas are counted by name.
// What ends the venue's event is a flag on its last record; a record that changes no book hands it
// on as kEndOfUpdate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/dbn_metadata.h"
#include "ingest/dbn_records.h"
#include "ingest/file_decoder.h"
#include "ingest/wire_reader.h"

namespace tocsin {

class DbnDecoder final : public FileDecoder {
 public:
  static constexpr std::uint32_t kMalformedRunMax = 100;  // so many in a row: this is no DBN

  // `stream` stands behind the header that gave `metadata`.
  DbnDecoder(std::unique_ptr<ByteStream> stream, const FileSourceOptions& options,
             DbnMetadata metadata);

  SourceStatus next(EventBatch& batch) noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  using MboRecord = WireRecord<dbn::mbo::kSizeBytes>;
  using TradeRecord = WireRecord<dbn::trade::kSizeBytes>;

  // An instrument of a publisher: a book of its own.
  struct Listing {
    InstrumentId instrument = 0;
    bool wanted = false;
    bool in_snapshot = false;
    bool tell_gap = false;  // something of this book was lost: the next event says so
    std::uint64_t last_sequence = 0;
    std::int64_t last_time_ns = INT64_MIN;
  };
  // What mbo and trade records share, at different places.
  struct Common {
    std::uint64_t receive_time;
    std::uint32_t sequence;
    unsigned flags;
  };
  // A record of an instrument that is wanted.
  struct Opened {
    Listing* listing = nullptr;
    MarketEvent event;     // what all events of the record share
    bool is_late = false;  // flagged, never applied
  };
  struct Level {
    Side side;
    std::int64_t price_nanos;
    std::uint32_t size;
  };

  // dbn_decoder.cc: from bytes to opened records.
  void decode_record(std::span<const std::byte> bytes, EventBatch& batch);
  // False if the record is filtered or has no time.
  bool open_record(std::span<const std::byte> bytes, const Common& common, Opened& opened);
  void check_order(Opened& opened);
  Listing& find_listing(std::span<const std::byte> bytes, std::int64_t time_ns);
  void name_listing(Listing& listing, std::uint64_t key, std::int64_t time_ns);
  void read_definition(std::span<const std::byte> bytes);
  void read_symbol_mapping(std::span<const std::byte> bytes);
  void count_malformed(std::string_view what);
  // These leave a mark on the book of the record: what it would have changed is not known.
  void count_malformed(const Opened& opened, std::string_view what);
  void count_bad_quantity(const Opened& opened);
  void count_short(std::span<const std::byte> bytes, std::size_t size_min);

  // dbn_book_records.cc: from opened records to events.
  void decode_mbo(std::span<const std::byte> bytes, EventBatch& batch);
  void append_action(const MboRecord& record, const Opened& opened, EventBatch& batch);
  void append_top(const MboRecord& record, const Opened& opened, EventBatch& batch);
  void decode_levels(std::span<const std::byte> bytes, std::size_t level_count, EventBatch& batch);
  void append_levels(std::span<const std::byte> bytes, const Opened& opened, EventBatch& batch);
  static void append_level(const Level& level, const Opened& opened, EventBatch& batch);
  void append_trade(const TradeRecord& record, const Opened& opened, EventBatch& batch);
  static void finish_update(bool is_last, const Opened& opened, EventBatch& batch);

  DbnMetadata metadata_;
  std::int64_t default_price_tick_nanos_;
  std::unordered_map<std::uint64_t, Listing> listings_;  // by publisher and instrument
  std::uint64_t last_key_ = UINT64_MAX;                  // no key: publishers have 16 bits
  Listing* last_listing_ = nullptr;                      // of last_key_; nodes do not move
  std::unordered_map<std::string, InstrumentId> instrument_by_symbol_;
  std::unordered_map<std::uint64_t, std::int64_t> price_ticks_;    // as listings_
  std::unordered_map<std::uint32_t, std::string> mapped_symbols_;  // by DBN's instrument id
  std::optional<std::uint16_t> first_publisher_id_;
  std::uint32_t malformed_run_ = 0;
  std::array<std::uint64_t, 256> counts_by_record_type_{};
  std::array<std::uint64_t, 256> counts_by_action_{};  // of mbo records, by letter
};

}  // namespace tocsin
