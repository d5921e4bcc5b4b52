// What is wrong with a ledger, and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tocsin {

enum class LedgerFaultKind : std::uint8_t {
  kChanged,    // a record, a segment's header or the HEAD isn't what was written
  kMissing,    // records or whole segments are not there, others follow
  kAdded,      // something stands where nothing was written
  kSwapped,    // records or segments are there, in another order
  kTruncated,  // the end of the ledger, or of a segment, is not there
};
std::string_view ledger_fault_kind_name(LedgerFaultKind kind) noexcept;

struct LedgerFault {
  std::uint32_t segment = 0;  // 0: the HEAD file
  std::uint64_t record = 0;   // number of the record expected at this place
  std::uint64_t byte = 0;     // offset in the segment's file where it was expected
  LedgerFaultKind kind = LedgerFaultKind::kChanged;
  std::string detail;  // what was found, in words
};

// "segment 2, record 812, byte 4711: changed (its hash does not fit its content)".
std::string format_ledger_fault(const LedgerFault& fault);

}  // namespace tocsin
