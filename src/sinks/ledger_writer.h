// Appends to a ledger so that a stop at any moment leaves complete records only, and goes on with
// the chain after a restart. While a repeated run catches up nothing is written: it is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "events/decision.h"
#include "sinks/file_io.h"
#include "sinks/ledger_chain.h"
#include "sinks/ledger_format.h"
#include "sinks/ledger_store.h"
#include "sinks/ledger_tail.h"

namespace tocsin {

struct LedgerWriterOptions {
  std::string folder;  // made if it is not there
  // A segment ends before the record that would take it past this size.
  std::uint64_t segment_bytes_max = std::uint64_t{64} << 20;
};

// What open() found and did.
struct LedgerOpening {
  bool resumed = false;                      // the last run is gone on with; else a new one began
  std::uint64_t run_record = 0;              // number of the run's start record
  std::uint64_t durable_decision_count = 0;  // decisions of the run that were in the ledger
  std::uint64_t torn_bytes = 0;              // unfinished record cut off the end
};

struct LedgerCheckpoint {
  std::uint64_t records = 0;
  Digest head{};
};

class LedgerWriter {
 public:
  static constexpr std::uint64_t kSegmentBytesMin = 1024;

  // Opens or creates the ledger for one process, cuts a torn record off its end, and begins a run
  // with `run`; or goes on with the last run if that is the same (same_run()) and was not
  // completed. Errors: kUnavailable if another process writes to it; kDataLoss if what was flushed
  // is damaged (nothing is touched then); what the file system says.
  static Result<std::unique_ptr<LedgerWriter>> open(const LedgerWriterOptions& options,
                                                    const LedgerRunStart& run);

  const LedgerOpening& opening() const noexcept { return opening_; }

  // True while decisions of the resumed run are in the ledger that were not derived again yet.
  bool catching_up() const noexcept { return durable_ && durable_->left() > 0; }

  // Takes the run's next decision that belongs into the ledger. While catching up it is compared
  // with the one in the ledger, all but its times (of an engine that isn't exact: all but times and
  // score), and false is returned; a difference is kAborted, "not reproducible at record N".
  // Afterwards it is appended to a buffer in memory: true. After an error it was not taken and may
  // be offered again.
  Result<bool> append(const DecisionRecord& decision, std::string_view symbol);

  // Hands what is buffered to the operating system: it survives the end of this process. After an
  // error (kResourceExhausted: disk full) the file ends in a complete record; what is left stays in
  // the buffer and is tried again by the next call.
  Status write_out();

  // write_out(), then sync().
  Status flush();

  // How far the ledger has come, for sync(): all of it must be written out.
  LedgerCheckpoint checkpoint() const noexcept { return {records(), position_.head}; }
  // Makes durable what was written out until then and says so in HEAD: it survives the end of the
  // machine. May be called by another thread while this one goes on appending; after an error
  // nothing may be appended.
  Status sync(const LedgerCheckpoint& checkpoint);

  // Ends the run and flushes. A run that is complete while catching_up() is kAborted: it has
  // derived fewer decisions than stand in the ledger.
  Status finish(const LedgerRunEnd& end);

  std::uint64_t records() const noexcept { return position_.next_record - 1; }
  const Digest& head() const noexcept { return position_.head; }
  // Of repeated decisions by an engine that isn't exact: scores whose bits were not the same.
  std::uint64_t differing_score_count() const noexcept { return differing_score_count_; }

 private:
  LedgerWriter(const LedgerWriterOptions& options, OutputFile lock)
      : options_(options), lock_(std::move(lock)), store_(options.folder) {}

  Status begin(const LedgerRunStart& run);
  Status go_on_after(const LedgerTail& tail, const LedgerRunStart& run);
  Result<LedgerTail> read_or_create();
  Status start_segment(std::uint32_t index);
  Status compare_with_durable();
  Status append_record(LedgerRecordKind kind);
  Status rotate_if_full();
  Status keep_complete_records(std::size_t written_bytes);

  LedgerWriterOptions options_;
  OutputFile lock_;
  FolderLedgerStore store_;
  LedgerOpening opening_;
  std::optional<DurableDecisions> durable_;
  std::optional<OutputFile> segment_;
  std::uint32_t segment_index_ = 0;
  std::vector<std::byte> buffer_;   // complete records, and a segment's header, not written yet
  std::vector<std::byte> payload_;  // of the record in hand
  LedgerDecision decision_;         // the decision in hand
  ChainPosition position_;
  ChainHasher chain_;
  std::optional<Error> broken_;  // the file's state is not known any more
  std::mutex sync_mutex_;        // held while segment_ is synced, or takes the place of another
  bool sync_failed_ = false;     // the segment's own sync, not that of HEAD
  std::uint64_t flushed_records_ = 0;
  std::uint64_t differing_score_count_ = 0;
};

}  // namespace tocsin
