// Reads a ledger and proves it: every record that was changed, is missing, was added, swapped or
// cut off is found and its place named. What a reader is shown has been verified up to there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sinks/ledger_chain.h"
#include "sinks/ledger_fault.h"
#include "sinks/ledger_format.h"
#include "sinks/ledger_store.h"

namespace tocsin {

// A verified record. The payload is valid until the visitor returns.
struct LedgerEntry {
  std::uint32_t segment = 0;
  std::uint64_t number = 0;
  std::uint64_t byte = 0;
  LedgerRecordKind kind = LedgerRecordKind::kDecision;
  std::span<const std::byte> payload;
  Digest hash{};
};
using LedgerVisitor = std::function<void(const LedgerEntry&)>;

// A head that somebody noted outside the ledger: the chain must have gone through it. Only this
// finds a ledger whose end was cut off together with its HEAD, or that was written anew as a whole.
struct LedgerAnchor {
  Digest hash{};
  std::optional<std::uint64_t> records;  // number of the record with that hash, where known
};

struct LedgerReport {
  std::uint64_t records = 0;   // verified, up to the fault if there is one
  std::uint32_t segments = 0;  // segments that these lie in
  Digest head = ledger_genesis();
  // An unfinished record at the end, past all that was flushed: what a killed writer leaves. Not a
  // fault; the next writer cuts it off.
  std::uint64_t torn_bytes = 0;
  std::optional<LedgerFault> fault;  // the first one

  bool ok() const noexcept { return !fault.has_value(); }
};

// Verifies everything, and shows each verified record to `visitor`, if there is one, in order. The
// error is about the environment (no ledger there, not readable); what is wrong with the ledger
// itself is in the report. Memory: one segment.
Result<LedgerReport> verify_ledger(LedgerStore& store,
                                   const std::optional<LedgerAnchor>& anchor = {},
                                   const LedgerVisitor& visitor = {});

// A decision with all that is needed to explain and to replay it.
struct FoundDecision {
  LedgerDecision decision;
  LedgerRunStart run;
  std::uint32_t segment = 0;
  std::uint64_t record = 0;
  std::uint64_t byte = 0;
  Digest hash{};
  LedgerReport report;  // of the whole ledger that it was found in
};

// By an id in full or short form. The same decision in several runs is found in the last of them.
// kNotFound; kInvalidArgument if the text is no id, or several ids begin with it (they are named).
Result<FoundDecision> find_decision(LedgerStore& store, std::string_view id_text);

// The walk below verify_ledger(), for a writer that starts at a later segment.
struct LedgerWalkStart {
  std::uint32_t segment = 1;
  ChainPosition position;
};
enum class TornTail : std::uint8_t {
  kMustBeUnfinished,  // past the flushed part only the beginning of a record is taken for torn
  kAnything,          // past the flushed part whatever does not verify is taken for torn
};
struct LedgerWalkOptions {
  LedgerWalkStart start;
  TornTail torn_tail = TornTail::kMustBeUnfinished;
  std::optional<LedgerAnchor> anchor;
};
Result<LedgerReport> walk_ledger(LedgerStore& store, const LedgerWalkOptions& options,
                                 const LedgerVisitor& visitor);

}  // namespace tocsin
