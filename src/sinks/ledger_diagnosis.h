// Tells what happened at the place where a segment's chain breaks: changed, missing, added, swapped
// or cut off. Certain where a hash proves it, the likeliest story else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sinks/ledger_chain.h"
#include "sinks/ledger_fault.h"

namespace tocsin {

struct ChainBreak {
  std::span<const std::byte> segment;
  std::size_t offset = 0;  // the record expected here isn't here
  ChainPosition expected;  // its number and the hash before it
};

struct BreakDiagnosis {
  LedgerFaultKind kind = LedgerFaultKind::kChanged;
  std::string detail;
};

// Looks only ahead in the same segment; time grows with the bytes left in it.
BreakDiagnosis diagnose_break(const ChainBreak& chain_break);

// True if the record that belongs at `expected` stands anywhere in the segment; its hash proves it.
bool contains_record(std::span<const std::byte> segment, const ChainPosition& expected);

// True if the bytes from the break to the end can be the beginning of the expected record, as a
// writer that was stopped in the middle leaves it.
bool is_unfinished_record(const ChainBreak& chain_break);

}  // namespace tocsin
