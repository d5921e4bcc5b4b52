// Counters, faults and the end of a source, the same for all file decoders.
#include "ingest/file_decoder.h"

#include <algorithm>

namespace tocsin {

FileDecoder::FileDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols)
    : stream_(std::move(stream)), symbols_(std::move(symbols)) {
  faults_.reserve(kMaxFaults);
}

void FileDecoder::add_fault(std::string message) {
  if (keeps_faults()) faults_.push_back({counters_.records, std::move(message)});
}

SourceStatus FileDecoder::yield(const EventBatch& batch) noexcept {
  counters_.events += batch.size();
  counters_.bytes = bytes_read();
  return SourceStatus::kEvents;
}

SourceStatus FileDecoder::fail(ErrorCode code, std::string_view message) {
  counters_.bytes = bytes_read();
  std::string text = stream_->path();
  text += ", record ";
  text += std::to_string(counters_.records);
  text += ", byte ";
  text += std::to_string(stream_->offset_bytes());
  text += ": ";
  text += message;
  error_ = Error(code, std::move(text));
  return SourceStatus::kError;
}

SourceStatus FileDecoder::end_of_stream() {
  counters_.bytes = bytes_read();
  const Status& status = stream_->status();
  if (status.ok()) return SourceStatus::kEnd;
  // The stream's message names path and byte already.
  error_ = Error(status.error().code(), status.error().message() + " (after record " +
                                            std::to_string(counters_.records) + ")");
  return SourceStatus::kError;
}

SourceStatus FileDecoder::end_of_text() {
  const SourceCounters& c = counters_;
  const bool faults_only =
      c.malformed + c.bad_quantity > 0 && c.events + c.ignored + c.filtered == 0;
  if (!faults_only || !stream_->status().ok()) return end_of_stream();
  std::string message =
      "not one record could be decoded: a file of another format, or a broken one";
  if (!faults_.empty()) {
    message += "; the first fault, at record ";
    message += std::to_string(faults_.front().record);
    message += ": ";
    message += faults_.front().message;
  }
  return fail(ErrorCode::kDataLoss, message);
}

bool FileDecoder::wants(std::string_view symbol) const noexcept {
  return symbols_.empty() || std::find(symbols_.begin(), symbols_.end(), symbol) != symbols_.end();
}

InstrumentId FileDecoder::add_instrument(Instrument instrument) {
  instruments_.push_back(std::move(instrument));
  return static_cast<InstrumentId>(instruments_.size() - 1);
}

QualityFlags FileDecoder::count_sequence(const SequenceFinding& finding) noexcept {
  if (finding.quality.has(Quality::kGap)) ++counters_.gaps;
  if (finding.quality.has(Quality::kDuplicate)) ++counters_.duplicates;
  if (finding.quality.has(Quality::kOutOfOrder)) ++counters_.out_of_order;
  counters_.missing += finding.missing_count;
  return finding.quality;
}

void FileDecoder::rename_instrument(InstrumentId id, std::string symbol) {
  TOCSIN_ASSERT(id < instruments_.size());
  instruments_[id].symbol = std::move(symbol);
}

QualityFlags FileDecoder::check_time(std::int64_t exchange_time_ns) noexcept {
  QualityFlags quality;
  if (exchange_time_ns < last_exchange_time_ns_) {
    ++counters_.time_backwards;
    quality |= Quality::kTimeBackwards;
  }
  last_exchange_time_ns_ = exchange_time_ns;
  return quality;
}

}  // namespace tocsin
