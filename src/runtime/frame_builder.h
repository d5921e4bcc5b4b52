// Book, oracle and features of every instrument of a source: events in, frames out. Live runs,
// replays, exports and benchmarks all build their frames here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "events/decision.h"
#include "events/feature_frame.h"
#include "features/book_oracle.h"
#include "features/feature_engine.h"
#include "features/order_book.h"
#include "ingest/source.h"

namespace tocsin {

struct BookCounters {
  std::uint64_t updates = 0;         // updates completed
  std::uint64_t crossed = 0;         // updates after which the book stood crossed
  std::uint64_t bad_quantity = 0;    // events that would take more than rested, or were negative
  std::uint64_t unknown_orders = 0;  // events that name an order never seen
  std::uint64_t untrusted = 0;       // updates after which the book was not trusted
};

// What books and features hold, in bytes; what was never touched of it costs address space alone.
struct FrameMemory {
  std::uint64_t instruments = 0;
  std::uint64_t orders = 0;  // resting now
  std::uint64_t levels = 0;  // of both sides
  std::uint64_t book_bytes = 0;
  std::uint64_t feature_bytes = 0;
};

// The features of leaders compare the moves of `symbol` with those of `leader`.
struct LeaderPair {
  std::string symbol;
  std::string leader;
};

class FrameBuilder {
 public:
  // From so many instruments on, each begins small and grows as it needs to; fewer have room from
  // the start, so that a short run allocates nothing.
  static constexpr std::size_t kManyInstruments = 64;

  // `source` and `clock` must outlive the builder; instruments are taken from the source as they
  // come. Pairs of instruments that never come stay without effect.
  FrameBuilder(const FeatureSchema& schema, const Source& source, const Clock& clock,
               std::vector<LeaderPair> leaders = {});

  // Applies events of `batch` from `index` on, up to and including the first update that makes a
  // frame; moves `index` behind it. False: the batch is used up and `frame` is not written.
  // The time taken is added to `durations` (book, features).
  bool next_frame(const EventBatch& batch, std::size_t& index, FeatureFrame& frame,
                  StageDurations& durations) noexcept;

  // An instrument whose book the feed itself has contradicted since the last call; false: none.
  bool take_wrong_book(InstrumentId& instrument) noexcept;

  // The book of an instrument that had an event; valid until the next call of next_frame().
  const OrderBook& book(InstrumentId instrument) const noexcept { return keys_[instrument].book; }
  std::size_t instrument_count() const noexcept { return keys_.size(); }
  const BookCounters& counters() const noexcept { return counters_; }
  OracleCounters oracle_counters() const noexcept;
  FrameMemory memory() const noexcept;

 private:
  struct Key {
    OrderBook book;
    BookOracle oracle;
    FeatureEngine features;
  };

  void apply_to_book(const EventBatch& batch, std::size_t first, std::size_t last) noexcept;
  Key& key_of(InstrumentId instrument) noexcept;
  void add_key() noexcept;

  FeatureSchema schema_;
  const Source& source_;
  const Clock& clock_;
  std::vector<LeaderPair> leaders_;
  std::vector<Key> keys_;              // by InstrumentId
  std::vector<QualityFlags> noticed_;  // what the book said to each event of the update at hand
  BookCounters counters_;
  std::vector<InstrumentId> wrong_books_;  // not taken yet
};

// Once all instruments are known: warns of each that is named as leader or follower and is none of
// them, misspelt or of another file.
void warn_of_absent_leaders(std::span<const LeaderPair> leaders,
                            std::span<const Instrument> instruments);

}  // namespace tocsin
