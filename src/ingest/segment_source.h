// Plays a recording of Tocsin's own (a folder of segments) again: the same events, the same
// records, the same counts. A fault ends it, with file, block and byte; all before it has been
// yielded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingest/segment_format.h"
#include "ingest/source.h"

namespace tocsin {

// True if `path` is a folder that holds segments.
bool looks_like_recording(const std::string& path);
// The header of its first segment: what was recorded.
Result<RecordingHeader> read_recording_header(const std::string& path);

// What alerts are numbered by: the file's name; of a recording, that of what was recorded.
std::string source_name_of(const std::string& path);

struct SegmentSourceOptions {
  // Empty: all. Blocks without an event of these are checked, but not unpacked.
  std::vector<std::string> symbols;
  // Begins with the last segment that begins at or before this time, by its books; a time outside
  // the recording is refused; absent: with the first one.
  std::optional<std::int64_t> from_time_ns;
};

class SegmentSource final : public Source {
 public:
  static Result<std::unique_ptr<Source>> open(const std::string& folder,
                                              SegmentSourceOptions options);
  // The same over segments in memory, which must outlive the source.
  static Result<std::unique_ptr<Source>> over(
      const std::vector<std::span<const std::byte>>& segments, SegmentSourceOptions options);

  SourceStatus next(EventBatch& batch) noexcept override;
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return faults_; }
  std::span<const Instrument> instruments() const noexcept override { return instruments_; }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override {
    return by_type_;
  }
  double progress() const noexcept override;

 private:
  struct Segment {
    std::string name;
    std::uint64_t size_bytes = 0;
    std::span<const std::byte> memory;  // empty: read from the file `name`
  };

  SegmentSource(std::vector<Segment> segments, SegmentSourceOptions options);
  Status start();
  Status load(std::size_t segment_index);
  Status begin(std::size_t segment_index);
  Status check_order(const ReadHeader& read) const;
  struct TimeSpan {
    std::int64_t begin_ns = 0;  // the least exchange time
    std::int64_t end_ns = 0;    // the greatest
  };
  Result<std::size_t> segment_from(std::int64_t time_ns);
  Result<std::optional<TimeSpan>> times_of(std::size_t segment_index, std::size_t blocks_max);
  // The next block of events into content_; false: there is none anymore.
  Result<bool> next_block();
  Result<BlockHeader> read_block(std::span<const std::byte>& stored);
  Status take_end(BlockKind kind);
  void read_index();
  bool concerns_nobody(const BlockHeader& header) const;
  void take_account(const SourceAccount& account);
  void apply_changes(std::uint64_t record);
  bool take_batch(EventBatch& batch);
  Error fault(std::string_view what) const;

  std::vector<Segment> segments_;
  SegmentSourceOptions options_;
  BlockCodec codec_;
  std::size_t segment_ = 0;  // the one that is loaded
  std::vector<std::byte> loaded_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;              // in bytes_: the next block
  std::uint32_t block_ = 0;         // the number of the last block that was read
  bool ended_ = false;              // the loaded segment's end block has been read
  bool is_last_ = false;            // and it was the recording's
  std::string source_error_;        // what the recorded source ended with; empty: its end
  bool wants_books_ = false;        // of the loaded segment: the replay begins with it
  Digest last_hash_{};              // of the last block read, or of the header
  std::uint64_t bytes_before_ = 0;  // of the segments before
  std::uint64_t bytes_all_ = 0;
  std::vector<BlockPlace> index_;  // of the loaded segment; empty if all of it is wanted
  BlockContent content_;
  std::vector<std::byte> raw_;
  std::size_t event_ = 0;     // the next in content_
  std::size_t change_ = 0;    // the same
  bool holds_block_ = false;  // content_ is of a block whose account is not taken yet
  std::vector<Instrument> instruments_;
  std::vector<bool> wanted_;  // by instrument
  SourceCounters counters_;
  std::uint64_t events_yielded_ = 0;
  std::uint64_t records_filtered_ = 0;
  std::vector<InputFault> faults_;
  std::vector<std::pair<std::string, std::uint64_t>> by_type_;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
