// The seam where bytes become events: a Source yields the events of one record after another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/instrument.h"
#include "events/market_event.h"

namespace tocsin {

// The events of one record. Reused from call to call, so that it stops allocating after warm-up.
using EventBatch = std::vector<MarketEvent>;

// Something wrong with the input, with its place; the first kMaxFaults are kept, all are counted.
struct InputFault {
  std::uint64_t record = 0;  // 1-based; 0 if before the first record
  std::string message;       // what was expected, what was found
};
inline constexpr std::size_t kMaxFaults = 20;

// Nothing is dropped without being counted here.
struct SourceCounters {
  std::uint64_t records = 0;         // records read, whatever became of them
  std::uint64_t events = 0;          // events yielded
  std::uint64_t bytes = 0;           // bytes after decompression
  std::uint64_t malformed = 0;       // records that could not be decoded; reading went on
  std::uint64_t filtered = 0;        // records of instruments not asked for
  std::uint64_t ignored = 0;         // well-formed records of kinds that no stage reads
  std::uint64_t gaps = 0;            // places where sequence numbers are missing
  std::uint64_t missing = 0;         // sequence numbers missing in them
  std::uint64_t duplicates = 0;      // records seen before, not applied
  std::uint64_t out_of_order = 0;    // records with a sequence below the last, not applied
  std::uint64_t time_backwards = 0;  // records whose exchange time is below the last
  std::uint64_t bad_quantity = 0;    // negative or overflowing quantities or prices
};

enum class SourceStatus : std::uint8_t {
  kEvents,  // `batch` holds the events of one record (possibly none: a record that yields nothing)
  kEnd,     // the source is exhausted
  kError,   // the source cannot go on; error() says why; all events before stand
};

class Source {
 public:
  virtual ~Source() = default;

  // Clears `batch` and fills it with the events of the next record. All events of one record carry
  // its number in MarketEvent::record; record numbers rise. Allocates nothing after warm-up.
  virtual SourceStatus next(EventBatch& batch) noexcept = 0;

  // Whether a record waits whose time has come.
  virtual bool is_due() noexcept { return false; }
  // Whether records come when is_due() says so; otherwise they come when they are asked for.
  virtual bool is_paced() const noexcept { return false; }
  // How long it took to decode the last batch, where that was not all done in next(), or next()
  // waited too.
  virtual std::optional<std::int64_t> decode_ns() const noexcept { return {}; }
  // Whether this comes from a wire and cannot be read a second time: a run of it ends when it is
  // told to, and is then complete.
  virtual bool is_live() const noexcept { return false; }

  // The stream this reads from broke off and goes on later: nothing joins what came before, and
  // what follows waits for a snapshot.
  virtual void interrupt() noexcept {}
  // The book of an instrument was found wrong: a live source fetches a snapshot, if it can.
  virtual void resynchronise(InstrumentId /*instrument*/) noexcept {}

  // Valid after next() returned kError.
  virtual const Error& error() const noexcept = 0;
  virtual const SourceCounters& counters() const noexcept = 0;
  virtual std::span<const InputFault> faults() const noexcept = 0;
  // Instruments seen so far, by InstrumentId. The span is valid until the next call of next().
  virtual std::span<const Instrument> instruments() const noexcept = 0;
  // Records or messages by type name, for `tocsin inspect`.
  virtual std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const = 0;
  // What sent the records, in words, where the content tells more than the format; else empty.
  virtual std::string venue() const { return {}; }
  // Share of the input consumed, 0 to 1; -1 if it cannot be known.
  virtual double progress() const noexcept = 0;
};

enum class FeedFormat : std::uint8_t {
  kBinanceUsdm,
  kLobster,
  kItch50,
  kMoldUdp64,
  kDbn,
  kIex,
  kPitch,
  kMdp3,
  kKraken,
  kJsonLines,
  kCsv,
  kSseL2,
  kSzseSnapshot,
  kRecording
};
std::string_view feed_format_name(FeedFormat format) noexcept;   // "binance_usdm", "lobster", ...
std::span<const std::string_view> feed_format_names() noexcept;  // in the order of FeedFormat
Result<FeedFormat> feed_format_from_name(std::string_view name);

struct FileSourceOptions {
  std::string path;
  std::optional<FeedFormat> format;  // absent: told from the content
  // LOBSTER only: the book file; absent: "message" in the file's name replaced by "orderbook".
  std::string orderbook_path;
  // JSON lines and CSV: the map of their fields (feed_map.h), which also tells which of the two.
  std::string map_path;
  std::vector<std::string> symbols;  // empty: all
  // DBN only: the price step of instruments that have no definition record in the file; 0: 0.01.
  std::int64_t price_tick_nanos = 0;
  // CME MDP 3.0 only: the SBE schema (XML) of the messages; empty: the common templates built in.
  std::string schema_path;
  // CME MDP 3.0 only: books of orders, of a feed that has them; else of price levels.
  bool by_order = false;
  // Tocsin's own recordings only: begin with the last segment that begins at or before this time.
  std::optional<std::int64_t> from_time_ns{};
};

// Opens a plain, gzip or zstd file (told from its first bytes) and the decoder for its format.
Result<std::unique_ptr<Source>> open_file_source(const FileSourceOptions& options);

// The format of these options: as asked for, the map's, or told from the file's content.
Result<FeedFormat> feed_format_of(const FileSourceOptions& options);
// What a file is, from its first bytes after decompression; the error says what was looked for.
Result<FeedFormat> detect_feed_format(const std::string& path);

}  // namespace tocsin
