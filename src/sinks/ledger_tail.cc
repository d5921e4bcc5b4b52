// Finds the last run from the end backwards, then verifies forwards from there.
#include "sinks/ledger_tail.h"

#include "sinks/ledger_reader.h"

namespace tocsin {
namespace {

bool contains_run_start(std::span<const std::byte> segment) {
  std::size_t offset = kSegmentHeaderBytes;
  while (const auto frame = record_frame_at(segment, offset)) {
    if (frame->kind == static_cast<std::uint8_t>(LedgerRecordKind::kRunStart)) return true;
    offset = frame->end();
  }
  return false;
}

// The segment in which the last run begins, with the chain's state before it as its header says.
Result<LedgerWalkStart> find_walk_start(LedgerStore& store,
                                        const std::vector<std::uint32_t>& indices) {
  for (std::size_t i = indices.size(); i > 0; --i) {
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, store.segment(indices[i - 1]));
    const auto header = segment_header_of(bytes);
    if (header && header->index == indices[i - 1] && header->index > 1 && contains_run_start(bytes))
      return LedgerWalkStart{header->index, {header->first_record, header->previous}};
  }
  return LedgerWalkStart{};
}

}  // namespace

Result<LedgerTail> read_ledger_tail(LedgerStore& store) {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> indices, store.segments());
  LedgerWalkOptions options;
  options.torn_tail = TornTail::kAnything;
  TOCSIN_ASSIGN_OR_RETURN(options.start, find_walk_start(store, indices));
  LedgerTail tail;
  tail.segment = indices.empty() ? 0 : indices.back();
  const auto visit = [&](const LedgerEntry& entry) {
    if (entry.segment == tail.segment)
      tail.segment_bytes = entry.byte + kRecordOverheadBytes + entry.payload.size();
    switch (entry.kind) {
      case LedgerRecordKind::kRunStart:
        tail.run = LedgerTailRun{
            decode_run_start(entry.payload).value(), entry.number, entry.segment, 0, {}};
        break;
      case LedgerRecordKind::kDecision:
        if (tail.run) ++tail.run->decision_count;
        break;
      case LedgerRecordKind::kRunEnd:
        if (tail.run) tail.run->ended = decode_run_end(entry.payload).value().reason;
        break;
      case LedgerRecordKind::kResume:
        if (tail.run) tail.run->ended.reset();
        break;
    }
  };
  TOCSIN_ASSIGN_OR_RETURN(const LedgerReport report, walk_ledger(store, options, visit));
  if (report.fault)
    return Error(ErrorCode::kDataLoss, store.name() +
                                           ": the ledger is damaged and was left as it is: " +
                                           format_ledger_fault(*report.fault));
  tail.position = {report.records + 1, report.head};
  tail.torn_bytes = report.torn_bytes;
  // A segment without a record: its header stands, or is torn too.
  if (tail.segment != 0 && tail.segment_bytes == 0 && report.segments == tail.segment)
    tail.segment_bytes = kSegmentHeaderBytes;
  return tail;
}

Result<DurableDecisions::Entry> DurableDecisions::next() {
  TOCSIN_ASSERT(left_ > 0);
  for (;;) {
    if (offset_ == 0) {
      TOCSIN_ASSIGN_OR_RETURN(bytes_, store_.segment(segment_));
      offset_ = kSegmentHeaderBytes;
    }
    while (const auto frame = record_frame_at(bytes_, offset_)) {
      offset_ = frame->end();
      if (frame->number <= first_record_ ||
          frame->kind != static_cast<std::uint8_t>(LedgerRecordKind::kDecision))
        continue;
      --left_;
      return Entry{frame->number, frame->payload()};
    }
    ++segment_;
    offset_ = 0;
  }
}

}  // namespace tocsin
