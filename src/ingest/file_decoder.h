// What all file decoders share: a ByteStream, the ways out of next(), the feed's ledger. A decoder
// is a Source over a ByteStream; src/ingest/file_source.cc lists them all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/byte_stream.h"
#include "ingest/feed_ledger.h"
#include "ingest/header_table.h"
#include "ingest/source.h"

namespace tocsin {

class FileDecoder : public Source, protected FeedLedger {
 public:
  FileDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols);

  const Error& error() const noexcept final { return error_; }
  const SourceCounters& counters() const noexcept final { return counters_; }
  std::span<const InputFault> faults() const noexcept final { return kept_faults(); }
  std::span<const Instrument> instruments() const noexcept final { return known_instruments(); }
  double progress() const noexcept override { return stream_->progress(); }

 protected:
  // Counts and keeps the fault of a table's row.
  void count_row_fault(const RowFault& fault);
  // The way out of next() for a record: counts the batch's events and the bytes. Returns kEvents.
  SourceStatus yield(const EventBatch& batch) noexcept;
  // Ends the source: the error names path, record and byte offset. Returns kError.
  SourceStatus fail(ErrorCode code, std::string_view message);
  // Ends the source with the stream's own failure if there is one, else kEnd.
  SourceStatus end_of_stream();
  // The same for text, where anything has lines: that none of them could be decoded is DATA_LOSS.
  // `header_count`: records that say what the others are.
  SourceStatus end_of_text(std::uint64_t header_count = 0);
  // For counters_.bytes; a decoder of several streams adds them up.
  virtual std::uint64_t bytes_read() const noexcept { return stream_->offset_bytes(); }

  std::unique_ptr<ByteStream> stream_;

 private:
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
