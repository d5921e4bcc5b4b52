// What all file decoders share: counters, faults, instruments, the check of time. A decoder is a
// Source over a ByteStream; src/ingest/file_source.cc lists them all.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/byte_stream.h"
#include "ingest/gap_detector.h"
#include "ingest/source.h"

namespace tocsin {

class FileDecoder : public Source {
 public:
  FileDecoder(std::unique_ptr<ByteStream> stream, std::vector<std::string> symbols);

  const Error& error() const noexcept final { return error_; }
  const SourceCounters& counters() const noexcept final { return counters_; }
  std::span<const InputFault> faults() const noexcept final { return faults_; }
  std::span<const Instrument> instruments() const noexcept final { return instruments_; }
  double progress() const noexcept override { return stream_->progress(); }

 protected:
  // Records a fault at the current record (counters_.records); kept up to kMaxFaults. Does not
  // count: the caller adds to the counter that fits.
  void add_fault(std::string message);
  // False once kMaxFaults are kept: the caller need not put a message together.
  bool keeps_faults() const noexcept { return faults_.size() < kMaxFaults; }
  // The way out of next() for a record: counts the batch's events and the bytes. Returns kEvents.
  SourceStatus yield(const EventBatch& batch) noexcept;
  // Ends the source: the error names path, record and byte offset. Returns kError.
  SourceStatus fail(ErrorCode code, std::string_view message);
  // Ends the source with the stream's own failure if there is one, else kEnd.
  SourceStatus end_of_stream();
  // The same for text, where anything has lines: that none of them could be decoded is DATA_LOSS.
  SourceStatus end_of_text();
  // For counters_.bytes; a decoder of several streams adds them up.
  virtual std::uint64_t bytes_read() const noexcept { return stream_->offset_bytes(); }
  // True if no symbols were asked for, or this one was.
  bool wants(std::string_view symbol) const noexcept;
  std::span<const std::string> asked_symbols() const noexcept { return symbols_; }
  InstrumentId add_instrument(Instrument instrument);
  // Counts what a sequence check found and returns its flags.
  QualityFlags count_sequence(const SequenceFinding& finding) noexcept;
  // For feeds that give the name after the first event.
  void rename_instrument(InstrumentId id, std::string symbol);
  // Flags kTimeBackwards and counts it if `exchange_time_ns` lies below the last one given.
  QualityFlags check_time(std::int64_t exchange_time_ns) noexcept;

  std::unique_ptr<ByteStream> stream_;
  SourceCounters counters_;

 private:
  std::vector<std::string> symbols_;
  std::vector<Instrument> instruments_;
  std::vector<InputFault> faults_;
  Error error_{ErrorCode::kOk, ""};
  std::int64_t last_exchange_time_ns_ = INT64_MIN;
};

}  // namespace tocsin
