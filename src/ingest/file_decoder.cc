// The end of a source over a file, the same for all file decoders.
#include "ingest/file_decoder.h"

namespace tocsin {

FileDecoder::FileDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols)
    : FeedLedger(std::move(symbols)), stream_(std::move(stream)) {}

void FileDecoder::count_row_fault(const RowFault& fault) {
  ++(fault.is_quantity ? counters_.bad_quantity : counters_.malformed);
  if (!keeps_faults()) return;
  constexpr std::size_t kShownMax = 80;
  std::string message(fault.what);
  message += ", found \"";
  message += fault.found.substr(0, kShownMax);
  message += '"';
  add_fault(std::move(message));
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

SourceStatus FileDecoder::end_of_text(std::uint64_t header_count) {
  const SourceCounters& c = counters_;
  const bool faults_only =
      c.malformed + c.bad_quantity > 0 && c.events + c.filtered == 0 && c.ignored <= header_count;
  if (!faults_only || !stream_->status().ok()) return end_of_stream();
  std::string message =
      "not one record could be decoded: a file of another format, or a broken one";
  if (!faults().empty()) {
    message += "; the first fault, at record ";
    message += std::to_string(faults().front().record);
    message += ": ";
    message += faults().front().message;
  }
  return fail(ErrorCode::kDataLoss, message);
}

}  // namespace tocsin
