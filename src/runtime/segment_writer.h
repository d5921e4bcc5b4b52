// Writes a recording: events of records into blocks, blocks into segments. A block is in the file,
// whole, or not there; a killed process loses the open one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/segment_format.h"
#include "sinks/file_io.h"

namespace tocsin {

struct SegmentWriterOptions {
  std::string folder;       // is created; one that holds a recording already is refused
  std::string source_name;  // of what is recorded
  std::string format;
  std::uint64_t segment_bytes_max = std::uint64_t{64} << 20;  // a segment ends behind this
  std::size_t block_events_max = 8192;
};

struct SegmentWriterCounters {
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

class SegmentWriter {
 public:
  // Leaves nothing behind if it fails.
  static Result<SegmentWriter> create(SegmentWriterOptions options);
  // Takes away what holds no block: a later attempt may use the folder then.
  void remove_if_empty() noexcept;

  // The events of one record; all known instruments by their number.
  void append(std::span<const MarketEvent> events, std::span<const Instrument> instruments);
  // True once the open block has as many events as it may.
  bool block_is_full() const noexcept {
    return content_.events.size() >= options_.block_events_max;
  }
  bool has_open_block() const noexcept { return !content_.events.empty(); }
  // Puts the open block into the file. `account`: what the source says by now.
  Status close_block(const SourceAccount& account, std::span<const Instrument> instruments);
  // True once the segment is as large as it may be; then the next one is due.
  bool segment_is_full() const noexcept {
    // Its books alone do not make it so.
    return !places_.empty() && places_.back().header.kind == BlockKind::kEvents &&
           file_->size_bytes() >= options_.segment_bytes_max;
  }
  // Completes the segment and begins the next one; `books` are the books as they are now, as
  // events of the last record. No block may be open.
  Status begin_segment(const SourceAccount& account, std::span<const Instrument> instruments,
                       std::vector<MarketEvent> books);
  // Completes the recording. No block may be open. `source_error`: what the source ended with, if
  // not with its end.
  Status finish(const SourceAccount& account, std::span<const Instrument> instruments,
                std::string_view source_error);

  const SegmentWriterCounters& counters() const noexcept { return counters_; }

 private:
  explicit SegmentWriter(SegmentWriterOptions options) : options_(std::move(options)) {}

  Status open_segment();
  Status end_segment(BlockKind kind, const SourceAccount& account,
                     std::span<const Instrument> instruments, std::string_view source_error);
  Status write_block(BlockKind kind, std::span<const std::byte> raw);
  void note_instrument(InstrumentId id, const Instrument& instrument, std::uint64_t record);
  void note_instruments(std::span<const Instrument> instruments, std::uint64_t record);
  Status append_bytes(std::span<const std::byte> bytes);

  SegmentWriterOptions options_;
  bool made_folder_ = false;
  std::unique_ptr<OutputFile> file_;
  BlockCodec codec_;
  std::uint32_t segment_ = 0;
  Digest last_hash_{};  // of the last block, or of the header
  std::uint64_t last_record_ = 0;
  std::vector<Instrument> written_instruments_;  // as this segment has them
  BlockContent content_;
  std::vector<std::byte> raw_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> bytes_;
  std::vector<BlockPlace> places_;  // of the segment
  SegmentWriterCounters counters_;
};

}  // namespace tocsin
