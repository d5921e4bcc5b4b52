// Buffering, segments, HEAD and catch-up of the ledger.
#include "sinks/ledger_writer.h"

#include <algorithm>
#include <filesystem>

#include "sinks/ledger_text.h"

namespace tocsin {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

}  // namespace

Result<std::unique_ptr<LedgerWriter>> LedgerWriter::open(const LedgerWriterOptions& options,
                                                         const LedgerRunStart& run) {
  if (options.segment_bytes_max < kSegmentBytesMin)
    return Error(ErrorCode::kInvalidArgument,
                 "segment_bytes_max " + std::to_string(options.segment_bytes_max) +
                     ": expected at least " + std::to_string(kSegmentBytesMin));
  TOCSIN_RETURN_IF_ERROR(create_folders(options.folder));
  TOCSIN_ASSIGN_OR_RETURN(
      OutputFile lock, OutputFile::open((std::filesystem::path(options.folder) / "LOCK").string()));
  TOCSIN_RETURN_IF_ERROR(lock.lock());
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(options, std::move(lock)));
  TOCSIN_RETURN_IF_ERROR(writer->begin(run));
  return writer;
}

Status LedgerWriter::begin(const LedgerRunStart& run) {
  TOCSIN_ASSIGN_OR_RETURN(const LedgerTail tail, read_or_create());
  return go_on_after(tail, run);
}

Result<LedgerTail> LedgerWriter::read_or_create() {
  auto tail = read_ledger_tail(store_);
  if (tail.ok() || tail.error().code() != ErrorCode::kNotFound) return tail;
  // HEAD comes first: a segment without one has lost it.
  TOCSIN_RETURN_IF_ERROR(replace_file(ledger_head_path(options_.folder), encode_head({})));
  return LedgerTail{};
}

Status LedgerWriter::go_on_after(const LedgerTail& tail, const LedgerRunStart& run) {
  position_ = tail.position;
  flushed_records_ = 0;
  opening_.torn_bytes = tail.torn_bytes;
  if (tail.segment == 0 || tail.segment_bytes == 0) {
    TOCSIN_RETURN_IF_ERROR(start_segment(std::max(tail.segment, 1U)));
  } else {
    TOCSIN_ASSIGN_OR_RETURN(segment_,
                            OutputFile::open(ledger_segment_path(options_.folder, tail.segment)));
    segment_index_ = tail.segment;
    if (tail.torn_bytes > 0) TOCSIN_RETURN_IF_ERROR(segment_->cut(tail.segment_bytes));
  }
  opening_.resumed =
      tail.run && same_run(tail.run->start, run) && tail.run->ended != RunEndReason::kComplete;
  payload_.clear();
  if (opening_.resumed) {
    opening_.run_record = tail.run->record;
    opening_.durable_decision_count = tail.run->decision_count;
    durable_.emplace(store_, *tail.run);
    encode_resume(
        {run.unix_time_ns, tail.run->record, tail.run->decision_count, tail.torn_bytes, run.isa},
        payload_);
  } else {
    opening_.run_record = position_.next_record;
    TOCSIN_RETURN_IF_ERROR(encode_run_start(run, payload_));
  }
  TOCSIN_RETURN_IF_ERROR(
      append_record(opening_.resumed ? LedgerRecordKind::kResume : LedgerRecordKind::kRunStart));
  return flush();
}

// The header goes into the buffer, with the first records of the segment.
Status LedgerWriter::start_segment(std::uint32_t index) {
  TOCSIN_ASSIGN_OR_RETURN(OutputFile file,
                          OutputFile::open(ledger_segment_path(options_.folder, index)));
  if (file.size_bytes() > 0) TOCSIN_RETURN_IF_ERROR(file.cut(0));  // a torn header
  TOCSIN_RETURN_IF_ERROR(sync_folder(options_.folder));
  {
    const std::scoped_lock lock(sync_mutex_);
    segment_ = std::move(file);
  }
  segment_index_ = index;
  TOCSIN_ASSERT(buffer_.empty());
  encode_segment_header({index, position_.next_record, position_.head}, buffer_);
  return {};
}

Result<bool> LedgerWriter::append(const DecisionRecord& decision, std::string_view symbol) {
  decision_.run_record = opening_.run_record;
  decision_.symbol.assign(symbol);
  decision_.decision = decision;
  payload_.clear();
  encode_decision(decision_, payload_);
  if (catching_up()) {
    TOCSIN_RETURN_IF_ERROR(compare_with_durable());
    return false;
  }
  TOCSIN_RETURN_IF_ERROR(append_record(LedgerRecordKind::kDecision));
  return true;
}

Status LedgerWriter::compare_with_durable() {
  TOCSIN_ASSIGN_OR_RETURN(const DurableDecisions::Entry entry, durable_->next());
  const bool is_exact = decision_.decision.determinism == DeterminismClass::kExact;
  bool same = entry.payload.size() == payload_.size();
  bool same_score = true;
  for (std::size_t i = 0; same && i < payload_.size() - kLedgerTimingBytes; ++i) {
    if (entry.payload[i] == payload_[i]) continue;
    const bool in_score = i >= kLedgerScoreOffset && i < kLedgerScoreOffset + sizeof(float);
    same_score = same_score && !in_score;
    same = in_score && !is_exact;
  }
  if (!same) {
    TOCSIN_ASSIGN_OR_RETURN(const LedgerDecision recorded, decode_decision(entry.payload));
    return Error(ErrorCode::kAborted, options_.folder + ": not reproducible at record " +
                                          std::to_string(entry.number) + ": " +
                                          describe_difference(recorded, decision_));
  }
  if (!same_score) ++differing_score_count_;
  return {};
}

// Appends payload_ to the buffer as the next record of the chain.
Status LedgerWriter::append_record(LedgerRecordKind kind) {
  if (broken_) return *broken_;
  if (buffer_.size() >= kBufferBytes) TOCSIN_RETURN_IF_ERROR(write_out());
  TOCSIN_RETURN_IF_ERROR(rotate_if_full());
  const std::size_t start = buffer_.size();
  encode_record_header(kind, position_.next_record, payload_.size(), buffer_);
  buffer_.insert(buffer_.end(), payload_.begin(), payload_.end());
  const Digest hash = chain_.hash(position_.head, std::span(buffer_).subspan(start));
  const auto hash_bytes = std::as_bytes(std::span(hash));
  buffer_.insert(buffer_.end(), hash_bytes.begin(), hash_bytes.end());
  position_ = {position_.next_record + 1, hash};
  return {};
}

// Everything of a segment is flushed before the next one begins, so that only the last one can end
// in what was not.
Status LedgerWriter::rotate_if_full() {
  const std::uint64_t segment_bytes = segment_->size_bytes() + buffer_.size();
  if (segment_bytes <= kSegmentHeaderBytes ||
      segment_bytes + kRecordOverheadBytes + payload_.size() <= options_.segment_bytes_max)
    return {};
  TOCSIN_RETURN_IF_ERROR(flush());
  return start_segment(segment_index_ + 1);
}

Status LedgerWriter::write_out() {
  if (broken_) return *broken_;
  std::size_t written_bytes = 0;
  const Status status = segment_->append(buffer_, written_bytes);
  if (status.ok()) {
    buffer_.clear();
    return {};
  }
  TOCSIN_RETURN_IF_ERROR(keep_complete_records(written_bytes));
  return status;
}

// After a write that stopped in the middle: the file keeps the records that are whole.
Status LedgerWriter::keep_complete_records(std::size_t written_bytes) {
  const std::uint64_t size_before = segment_->size_bytes() - written_bytes;
  std::size_t complete_bytes = 0;
  std::size_t next = size_before == 0 ? kSegmentHeaderBytes : 0;
  while (next <= written_bytes) {
    complete_bytes = next;
    const auto frame = record_frame_at(buffer_, next);
    if (!frame) break;
    next = frame->end();
  }
  if (const Status cut = segment_->cut(size_before + complete_bytes); !cut.ok()) {
    broken_ = cut.error();
    return *broken_;
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(complete_bytes));
  return {};
}

Status LedgerWriter::flush() {
  TOCSIN_RETURN_IF_ERROR(write_out());
  const Status synced = sync(checkpoint());
  // The kernel may have dropped the pages: what is on the disk is not known, and won't be tried
  // again.
  if (!synced.ok() && sync_failed_) broken_ = synced.error();
  return synced;
}

Status LedgerWriter::sync(const LedgerCheckpoint& checkpoint) {
  const std::scoped_lock lock(sync_mutex_);
  if (checkpoint.records <= flushed_records_) return {};
  sync_failed_ = true;
  TOCSIN_RETURN_IF_ERROR(segment_->sync());
  sync_failed_ = false;
  TOCSIN_RETURN_IF_ERROR(replace_file(ledger_head_path(options_.folder),
                                      encode_head({checkpoint.records, checkpoint.head})));
  flushed_records_ = checkpoint.records;
  return {};
}

Status LedgerWriter::finish(const LedgerRunEnd& end) {
  if (catching_up() && end.reason == RunEndReason::kComplete)
    return Error(ErrorCode::kAborted, options_.folder +
                                          ": not reproducible: the run is over, and " +
                                          std::to_string(durable_->left()) +
                                          " decisions that are in the ledger were not made again");
  payload_.clear();
  encode_run_end(end, payload_);
  TOCSIN_RETURN_IF_ERROR(append_record(LedgerRecordKind::kRunEnd));
  return flush();
}

}  // namespace tocsin
