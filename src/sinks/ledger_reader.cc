// Walks the segments in order, checks every byte against the chain, the HEAD and the anchor.
#include "sinks/ledger_reader.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sinks/ledger_diagnosis.h"
#include "sinks/sink.h"

namespace tocsin {
namespace {

bool payload_decodes(LedgerRecordKind kind, std::span<const std::byte> payload) {
  switch (kind) {
    case LedgerRecordKind::kRunStart:
      return decode_run_start(payload).ok();
    case LedgerRecordKind::kDecision:
      return decode_decision(payload).ok();
    case LedgerRecordKind::kRunEnd:
      return decode_run_end(payload).ok();
    case LedgerRecordKind::kResume:
      return decode_resume(payload).ok();
  }
  return false;
}

class LedgerWalk {
 public:
  LedgerWalk(LedgerStore& store, const LedgerWalkOptions& options, const LedgerVisitor& visitor)
      : store_(store), options_(options), visitor_(visitor), position_(options.start.position) {}

  Result<LedgerReport> run() {
    TOCSIN_ASSIGN_OR_RETURN(indices_, store_.segments());
    TOCSIN_ASSIGN_OR_RETURN(const std::optional<std::string> head_text, store_.head());
    if (indices_.empty() && !head_text)
      return Error(ErrorCode::kNotFound, store_.name() + ": there is no ledger");
    if (head_text) head_ = head_from_text(*head_text);
    check_against_outside(position_);
    const std::uint32_t last = indices_.empty() ? 0 : indices_.back();
    for (std::uint32_t index = options_.start.segment; index <= last && !report_.fault; ++index) {
      if (!has_segment(index)) {
        set_fault(index, 0, LedgerFaultKind::kMissing, "the whole segment is not there");
        break;
      }
      TOCSIN_RETURN_IF_ERROR(walk_segment(index, index == last));
    }
    if (!report_.fault) check_head(head_text.has_value());
    if (!report_.fault) check_anchor();
    report_.records = position_.next_record - 1;
    report_.head = position_.head;
    return report_;
  }

 private:
  Status walk_segment(std::uint32_t index, bool is_last) {
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, store_.segment(index));
    const bool may_be_torn = is_last && (!head_ || position_.next_record > head_->records);
    if (!check_header(index, bytes, may_be_torn)) return {};
    report_.segments = index;
    std::size_t offset = kSegmentHeaderBytes;
    while (offset < bytes.size()) {
      const auto frame = record_frame_at(bytes, offset);
      if (!frame || frame->number != position_.next_record ||
          !chain_.verifies(*frame, position_.head)) {
        break_at({bytes, offset, position_}, index, is_last);
        break;
      }
      const auto kind = static_cast<LedgerRecordKind>(frame->kind);
      if (!payload_decodes(kind, frame->payload())) {
        set_fault(index, offset, LedgerFaultKind::kChanged,
                  "the chain holds, but the content is no " +
                      std::string(ledger_record_kind_name(kind)) + " record");
        break;
      }
      if (visitor_) visitor_({index, frame->number, offset, kind, frame->payload(), frame->hash});
      position_ = {frame->number + 1, frame->hash};
      check_against_outside(position_);
      offset = frame->end();
    }
    segment_end_ = offset;
    return {};
  }

  // The chain breaks at a record: an unfinished one past the flushed part, or a fault.
  void break_at(const ChainBreak& chain_break, std::uint32_t index, bool is_last) {
    const bool past_head = !head_ || position_.next_record > head_->records;
    if (is_last && past_head &&
        (options_.torn_tail == TornTail::kAnything || is_unfinished_record(chain_break))) {
      report_.torn_bytes = chain_break.segment.size() - chain_break.offset;
      return;
    }
    BreakDiagnosis diagnosis = diagnose_break(chain_break);
    if (diagnosis.kind == LedgerFaultKind::kMissing && !is_last &&
        next_segment_holds_expected(index))
      diagnosis = {LedgerFaultKind::kSwapped, "it stands in segment " + std::to_string(index + 1)};
    set_fault(index, chain_break.offset, diagnosis.kind, diagnosis.detail);
  }

  bool next_segment_holds_expected(std::uint32_t index) {
    const auto bytes = store_.segment(index + 1);
    return bytes.ok() && contains_record(*bytes, position_);
  }

  // False if the segment can't be read on: a fault, or a header that was never finished.
  bool check_header(std::uint32_t index, const std::vector<std::byte>& bytes, bool may_be_torn) {
    std::vector<std::byte> expected;
    encode_segment_header({index, position_.next_record, position_.head}, expected);
    const std::size_t known = std::min(bytes.size(), expected.size());
    const bool agrees = std::equal(
        expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(known), bytes.begin());
    if (agrees && known == expected.size()) return true;
    if (known < expected.size()) {
      if (may_be_torn && (agrees || options_.torn_tail == TornTail::kAnything))
        report_.torn_bytes = bytes.size();
      else
        set_fault(index, bytes.size(), LedgerFaultKind::kTruncated,
                  "the segment ends in its header");
      return false;
    }
    diagnose_header(index, bytes);
    return false;
  }

  void diagnose_header(std::uint32_t index, const std::vector<std::byte>& bytes) {
    const SegmentHeader header = *segment_header_of(bytes);
    std::vector<std::byte> as_read;
    encode_segment_header(header, as_read);
    const bool fits =
        header.first_record == position_.next_record && header.previous == position_.head;
    const bool strange = !std::equal(as_read.begin(), as_read.end(), bytes.begin());
    if (strange || (header.index != index && fits)) {
      set_fault(index, 0, LedgerFaultKind::kChanged,
                "the segment's header isn't that of format version " +
                    std::to_string(kLedgerFormatVersion) + ", segment " + std::to_string(index));
    } else if (header.index != index) {
      const std::string detail = "segment " + std::to_string(header.index) + " stands in its place";
      const auto kind = is_elsewhere(index)    ? LedgerFaultKind::kSwapped
                        : header.index < index ? LedgerFaultKind::kAdded
                                               : LedgerFaultKind::kMissing;
      set_fault(index, 0, kind, detail);
    } else if (header.first_record > position_.next_record && header.previous != position_.head) {
      set_fault(index > 1 ? index - 1 : index, segment_end_, LedgerFaultKind::kMissing,
                "segment " + std::to_string(index) + " begins with record " +
                    std::to_string(header.first_record));
    } else if (header.first_record < position_.next_record && header.previous != position_.head) {
      set_fault(index, 0, LedgerFaultKind::kAdded,
                "the segment begins with record " + std::to_string(header.first_record));
    } else {
      set_fault(index, 0, LedgerFaultKind::kChanged, "the segment's header does not fit the chain");
    }
  }

  // True if the segment of that index lies under another one's name.
  bool is_elsewhere(std::uint32_t index) {
    return std::any_of(indices_.begin(), indices_.end(), [&](std::uint32_t other) {
      if (other == index) return false;
      const auto bytes = store_.segment(other);
      const auto header = bytes.ok() ? segment_header_of(*bytes) : std::nullopt;
      return header && header->index == index;
    });
  }

  bool has_segment(std::uint32_t index) const {
    return std::binary_search(indices_.begin(), indices_.end(), index);
  }

  // Notes whether the HEAD's and the anchor's hashes are where they should be.
  void check_against_outside(const ChainPosition& position) {
    const std::uint64_t records = position.next_record - 1;
    if (head_ && records == head_->records) head_agrees_ = position.head == head_->hash;
    if (!options_.anchor || position.head != options_.anchor->hash) return;
    if (options_.anchor->records.value_or(records) == records) anchor_agrees_ = true;
  }

  void check_head(bool is_there) {
    const auto fault_of_head = [&](LedgerFaultKind kind, std::string detail) {
      report_.fault = LedgerFault{0, head_ ? head_->records : 0, 0, kind, std::move(detail)};
    };
    if (!is_there) {
      fault_of_head(LedgerFaultKind::kMissing, "the HEAD file is not there");
    } else if (!head_) {
      fault_of_head(LedgerFaultKind::kChanged, "the HEAD file isn't what a writer wrote");
    } else if (head_->records >= position_.next_record) {
      set_fault(indices_.empty() ? 1 : indices_.back(), segment_end_, LedgerFaultKind::kTruncated,
                "HEAD counts " + std::to_string(head_->records) + " records");
    } else if (!head_agrees_) {
      fault_of_head(LedgerFaultKind::kChanged,
                    "record " + std::to_string(head_->records) +
                        " has another hash: HEAD was replaced, or the records were written anew");
    }
  }

  void check_anchor() {
    if (!options_.anchor || anchor_agrees_) return;
    const auto records = options_.anchor->records;
    const bool is_short = !records || *records >= position_.next_record;
    set_fault(report_.segments, segment_end_,
              is_short ? LedgerFaultKind::kTruncated : LedgerFaultKind::kChanged,
              is_short
                  ? "the head given from outside is not in the chain: the ledger was cut back "
                    "before it, or written anew"
                  : "record " + std::to_string(*records) +
                        " has another hash than the head given from outside: the records up to "
                        "it were written anew");
  }

  void set_fault(std::uint32_t segment, std::uint64_t byte, LedgerFaultKind kind,
                 std::string detail) {
    report_.fault = LedgerFault{segment, position_.next_record, byte, kind, std::move(detail)};
  }

  LedgerStore& store_;
  const LedgerWalkOptions& options_;
  const LedgerVisitor& visitor_;
  ChainPosition position_;
  ChainHasher chain_;
  LedgerReport report_;
  std::vector<std::uint32_t> indices_;
  std::optional<LedgerHead> head_;
  bool head_agrees_ = false;
  bool anchor_agrees_ = false;
  std::uint64_t segment_end_ = 0;  // where the last segment's verified part ends
};

}  // namespace

Result<LedgerReport> walk_ledger(LedgerStore& store, const LedgerWalkOptions& options,
                                 const LedgerVisitor& visitor) {
  return LedgerWalk(store, options, visitor).run();
}

Result<LedgerReport> verify_ledger(LedgerStore& store, const std::optional<LedgerAnchor>& anchor,
                                   const LedgerVisitor& visitor) {
  LedgerWalkOptions options;
  options.anchor = anchor;
  return walk_ledger(store, options, visitor);
}

Result<FoundDecision> find_decision(LedgerStore& store, std::string_view id_text) {
  TOCSIN_ASSIGN_OR_RETURN(const AlertIdPrefix prefix, parse_alert_id(id_text));
  std::map<std::uint64_t, FoundDecision> found;  // by id: the last of each
  LedgerRunStart run;
  const auto visit = [&](const LedgerEntry& entry) {
    if (entry.kind == LedgerRecordKind::kRunStart) run = decode_run_start(entry.payload).value();
    if (entry.kind != LedgerRecordKind::kDecision) return;
    LedgerDecision decision = decode_decision(entry.payload).value();
    const AlertId id = decision.decision.id;
    if (!prefix.matches(id)) return;
    found[id.value] = {std::move(decision), run, entry.segment, entry.number, entry.byte,
                       entry.hash,          {}};
  };
  TOCSIN_ASSIGN_OR_RETURN(const LedgerReport report, verify_ledger(store, {}, visit));
  if (found.empty())
    return Error(ErrorCode::kNotFound, store.name() + ": no decision with the id '" +
                                           std::string(id_text) + "' among " +
                                           std::to_string(report.records) + " records");
  if (found.size() > 1) {
    std::vector<AlertId> ids;
    ids.reserve(found.size());
    for (const auto& [value, decision] : found) ids.push_back({value});
    return ambiguous_alert_id(id_text, ids);
  }
  FoundDecision decision = std::move(found.begin()->second);
  decision.report = report;
  return decision;
}

}  // namespace tocsin
