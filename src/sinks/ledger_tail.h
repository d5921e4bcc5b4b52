// The end of a ledger, as a writer needs it: where to go on, and the run that stands there last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "sinks/ledger_chain.h"
#include "sinks/ledger_format.h"
#include "sinks/ledger_store.h"

namespace tocsin {

struct LedgerTailRun {
  LedgerRunStart start;
  std::uint64_t record = 0;   // its own number
  std::uint32_t segment = 0;  // where its start stands
  std::uint64_t decision_count = 0;
  std::optional<RunEndReason> ended;  // by the last of its end records; none: it was killed
};

struct LedgerTail {
  ChainPosition position;
  std::uint32_t segment = 0;        // the last one; 0: none yet
  std::uint64_t segment_bytes = 0;  // verified; what follows is torn
  std::uint64_t torn_bytes = 0;
  std::optional<LedgerTailRun> run;  // the last one
};

// Verifies from the segment in which the last run begins to the end (what lies before is
// verify_ledger()'s to check). Past the flushed part whatever does not verify is torn. A fault in
// what was flushed is kDataLoss with its place; no ledger at all is kNotFound.
Result<LedgerTail> read_ledger_tail(LedgerStore& store);

// The payloads of the decisions of a run, one after the other, as they stand in the ledger.
class DurableDecisions {
 public:
  DurableDecisions(LedgerStore& store, const LedgerTailRun& run)
      : store_(store),
        segment_(run.segment),
        first_record_(run.record),
        left_(run.decision_count) {}

  std::uint64_t left() const noexcept { return left_; }
  // The next one's number in the ledger and payload, valid until the next call. Precondition:
  // left() > 0.
  struct Entry {
    std::uint64_t number = 0;
    std::span<const std::byte> payload;
  };
  Result<Entry> next();

 private:
  LedgerStore& store_;
  std::uint32_t segment_;
  std::uint64_t first_record_;
  std::uint64_t left_;
  std::vector<std::byte> bytes_;  // of segment_
  std::size_t offset_ = 0;        // 0: not loaded yet
};

}  // namespace tocsin
