// Looks ahead from a break in the chain for records that prove what happened.
#include "sinks/ledger_diagnosis.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "sinks/byte_coding.h"

namespace tocsin {
namespace {

std::string quoted(std::uint64_t number) { return "record " + std::to_string(number); }

class Diagnosis {
 public:
  explicit Diagnosis(const ChainBreak& chain_break)
      : break_(chain_break),
        segment_(chain_break.segment),
        number_(chain_break.expected.next_record),
        found_(record_frame_at(segment_, chain_break.offset)) {}

  BreakDiagnosis run() {
    if (const auto displaced = find_displaced()) return diagnose_displaced(*displaced);
    if (found_ && found_->number == number_)
      return {LedgerFaultKind::kChanged, "its hash does not fit its content"};
    if (is_repaired_by_number() || is_repaired_by_length())
      return {LedgerFaultKind::kChanged, "its header was changed"};
    if (records_are_missing())
      return {LedgerFaultKind::kMissing, quoted(found_->number) + " stands in its place"};
    const auto next = find_consistent();
    if (next) {
      if (next->number > number_ + 1 && !found_)
        return {LedgerFaultKind::kChanged, "nothing readable up to " + quoted(next->number)};
      return {LedgerFaultKind::kChanged, "its header was changed; " + quoted(next->number) +
                                             " follows at byte " + std::to_string(next->offset)};
    }
    if (!found_) return {LedgerFaultKind::kTruncated, "the segment ends within it"};
    if (found_->number < number_)
      return {LedgerFaultKind::kAdded, quoted(found_->number) + " stands here once more"};
    return {LedgerFaultKind::kChanged, "its header was changed"};
  }

  // The expected record itself, further on: its hash proves it.
  std::optional<RecordFrame> find_displaced() {
    return find_frame([this](const RecordFrame& frame) {
      return frame.number == number_ && chain_.verifies(frame, break_.expected.head);
    });
  }

 private:
  // Any record whose hash is chained to the 32 bytes before it, as every intact record's is.
  std::optional<RecordFrame> find_consistent() {
    return find_frame([this](const RecordFrame& frame) {
      Digest before;
      std::copy_n(
          reinterpret_cast<const std::uint8_t*>(segment_.data()) + frame.offset - before.size(),
          before.size(), before.begin());
      return chain_.verifies(frame, before);
    });
  }

  // Bounded work: bytes made to look like many large records end the search, not the program.
  template <typename Predicate>
  std::optional<RecordFrame> find_frame(Predicate predicate) {
    std::size_t budget_bytes = kSearchBytesMax;
    for (std::size_t offset = break_.offset + 1; offset + kRecordOverheadBytes <= segment_.size();
         ++offset) {
      const auto frame = record_frame_at(segment_, offset);
      if (!frame || !frame->header_valid) continue;
      if (frame->content.size() > budget_bytes) return std::nullopt;
      budget_bytes -= frame->content.size();
      if (predicate(*frame)) return frame;
    }
    return std::nullopt;
  }

  // The expected record stands further on; is what stands before it one of its successors?
  BreakDiagnosis diagnose_displaced(const RecordFrame& displaced) {
    const std::string where = "it stands at byte " + std::to_string(displaced.offset);
    if (found_ && found_->header_valid && found_->number > number_ &&
        found_->end() <= displaced.offset) {
      const bool proved = found_->number == number_ + 1 && chain_.verifies(*found_, displaced.hash);
      const auto after = record_frame_at(segment_, found_->end());
      if (proved || (after && after->number == number_ + 1))
        return {LedgerFaultKind::kSwapped, where + ", " + quoted(found_->number) + " in its place"};
    }
    const std::string added = found_ && found_->header_valid && found_->end() <= displaced.offset
                                  ? quoted(found_->number)
                                  : std::to_string(displaced.offset - break_.offset) + " bytes";
    return {LedgerFaultKind::kAdded, where + ", " + added + " before it"};
  }

  // The record found fits the chain if its number is set right: so only that was changed.
  bool is_repaired_by_number() {
    if (!found_) return false;
    std::vector<std::byte> content(found_->content.begin(), found_->content.end());
    std::vector<std::byte> number;
    ByteEncoder(number).number(number_);
    std::copy(number.begin(), number.end(), content.begin() + kRecordNumberOffset);
    return chain_.hash(break_.expected.head, content) == found_->hash;
  }

  // The last record of a segment fits the chain if its length is set right.
  bool is_repaired_by_length() {
    const std::size_t left = segment_.size() - break_.offset;
    if (left < kRecordOverheadBytes || left - kRecordOverheadBytes > kLedgerPayloadBytesMax)
      return false;
    std::vector<std::byte> content;
    ByteEncoder encoder(content);
    encoder.number(static_cast<std::uint32_t>(left - kRecordOverheadBytes));
    encoder.bytes(segment_.subspan(break_.offset + sizeof(std::uint32_t),
                                   left - sizeof(std::uint32_t) - sizeof(Digest)));
    Digest stored;
    std::copy_n(
        reinterpret_cast<const std::uint8_t*>(segment_.data()) + segment_.size() - stored.size(),
        stored.size(), stored.begin());
    return chain_.hash(break_.expected.head, content) == stored;
  }

  // A later record stands here and its successor, or the end of the segment, follows it.
  bool records_are_missing() {
    if (!found_ || !found_->header_valid || found_->number <= number_) return false;
    if (found_->end() == segment_.size()) return true;
    const auto after = record_frame_at(segment_, found_->end());
    return after && after->header_valid && after->number == found_->number + 1;
  }

  static constexpr std::ptrdiff_t kRecordNumberOffset = 8;
  static constexpr std::size_t kSearchBytesMax = std::size_t{512} << 20;

  ChainBreak break_;
  std::span<const std::byte> segment_;
  std::uint64_t number_;
  std::optional<RecordFrame> found_;
  ChainHasher chain_;
};

}  // namespace

std::string_view ledger_fault_kind_name(LedgerFaultKind kind) noexcept {
  switch (kind) {
    case LedgerFaultKind::kChanged:
      return "changed";
    case LedgerFaultKind::kMissing:
      return "missing";
    case LedgerFaultKind::kAdded:
      return "added";
    case LedgerFaultKind::kSwapped:
      return "swapped";
    case LedgerFaultKind::kTruncated:
      return "truncated";
  }
  return "unknown";
}

std::string format_ledger_fault(const LedgerFault& fault) {
  const std::string place =
      fault.segment == 0 ? std::string("HEAD") : "segment " + std::to_string(fault.segment);
  return place + ", record " + std::to_string(fault.record) + ", byte " +
         std::to_string(fault.byte) + ": " + std::string(ledger_fault_kind_name(fault.kind)) +
         " (" + fault.detail + ")";
}

BreakDiagnosis diagnose_break(const ChainBreak& chain_break) {
  return Diagnosis(chain_break).run();
}

bool contains_record(std::span<const std::byte> segment, const ChainPosition& expected) {
  return Diagnosis({segment, kSegmentHeaderBytes - 1, expected}).find_displaced().has_value();
}

bool is_unfinished_record(const ChainBreak& chain_break) {
  const std::span<const std::byte> left = chain_break.segment.subspan(chain_break.offset);
  ByteDecoder decoder(left);
  const auto payload_bytes = decoder.number<std::uint32_t>();
  if (decoder.failed()) return true;
  if (payload_bytes > kLedgerPayloadBytesMax || left.size() >= kRecordOverheadBytes + payload_bytes)
    return false;
  // What there is of kind, zero bytes and number must be right.
  std::vector<std::byte> header;
  const auto kind = decoder.number<std::uint8_t>();
  if (decoder.failed()) return true;
  if (kind < static_cast<std::uint8_t>(LedgerRecordKind::kRunStart) ||
      kind > static_cast<std::uint8_t>(LedgerRecordKind::kResume))
    return false;
  encode_record_header(static_cast<LedgerRecordKind>(kind), chain_break.expected.next_record,
                       payload_bytes, header);
  const std::size_t known = std::min(left.size(), header.size());
  return std::equal(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(known),
                    left.begin());
}

}  // namespace tocsin
