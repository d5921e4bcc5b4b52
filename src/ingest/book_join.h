// Joins one symbol's snapshot and its diffs as Binance prescribes for USD-M futures ("How to manage
// a local order book correctly"), to which the rules of other venues reduce. Diffs are held until a
// snapshot has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "events/market_event.h"
#include "ingest/source.h"

namespace tocsin {

// One price of a message, or one side of a ticker.
struct FeedLevel {
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;
  Side side = Side::kNone;
};

// The numbers of the updates that a diff holds.
struct UpdateIds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t previous = 0;  // the last one of the diff before
};

// What became of one diff or snapshot, for the decoder's counters.
struct BookJoinFinding {
  std::uint64_t gap_count = 0;
  std::uint64_t duplicate_count = 0;
  std::uint64_t out_of_order_count = 0;
  std::uint64_t ignored_count = 0;  // messages that will never yield an event
};

class BookJoin {
 public:
  // Diffs and their events held for a snapshot, both counted; past this limit all are let go.
  static constexpr std::size_t kHeldMax = 250'000;

  BookJoin() { scratch_.reserve(kLevelsReserved); }

  // `first` carries what all events have in common: times, record, instrument, quality. Appends to
  // `batch`; nothing before the first snapshot, since the book it belongs to is not known.
  BookJoinFinding on_diff(const UpdateIds& ids, std::span<const FeedLevel> levels,
                          const MarketEvent& first, EventBatch& batch);
  // Appends the snapshot and the held diffs that it needs, which keep their own times.
  BookJoinFinding on_snapshot(std::uint64_t last_update_id, std::span<const FeedLevel> levels,
                              const MarketEvent& first, EventBatch& batch);

  // Nothing that follows joins what came: a snapshot is waited for, as at the start. Returns how
  // many held diffs will never yield an event.
  std::uint64_t restart() noexcept;
  // Diffs held that have not yielded events: they never will if no snapshot comes anymore.
  std::uint64_t held_count() const noexcept;
  std::uint64_t last_update_id() const noexcept { return last_update_id_; }

 private:
  static constexpr std::size_t kLevelsReserved = 4096;  // of one message; more just grow it

  enum class Phase : std::uint8_t {
    kNoSnapshot,  // diffs are held
    kJoining,     // a snapshot is in; the first diff has to reach back to it
    kJoined,      // each diff follows the one before
    kBroken,      // something is missing: diffs are passed on, and held for the next snapshot
  };
  struct HeldDiff {
    UpdateIds ids;
    std::size_t event_begin = 0;
    std::size_t event_count = 0;
    bool yielded = false;
  };
  struct Held {
    std::vector<HeldDiff> diffs;
    std::vector<MarketEvent> events;
    void clear() noexcept {
      diffs.clear();
      events.clear();
    }
  };

  void take(HeldDiff diff, std::span<const MarketEvent> events, BookJoinFinding& finding,
            EventBatch& batch);
  QualityFlags judge(const HeldDiff& diff, BookJoinFinding& finding) noexcept;
  void hold(HeldDiff diff, std::span<const MarketEvent> events, BookJoinFinding& finding);

  Phase phase_ = Phase::kNoSnapshot;
  std::uint64_t last_update_id_ = 0;  // of the last diff passed on, or of the snapshot
  QualityFlags owed_quality_;         // of a diff without levels: the next event carries it
  Held held_;
  Held replayed_;  // held_ while it is passed on, so that it can be held anew
  std::vector<MarketEvent> scratch_;
};

}  // namespace tocsin
