// A segment is held in memory while it is played; blocks are checked and unpacked one by one.
#include "ingest/segment_source.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/readable_time.h"
#include "ingest/decoders.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::string_view kExtension = ".tseg";
// Enough for any header.
constexpr std::size_t kHeadBytes = kRecordingTextBytesMax + 4096;

// The segments of a folder by name, that is by index.
std::vector<std::string> segment_paths(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kExtension) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status read_file(const std::string& path, std::uint64_t size_bytes_max,
                 std::vector<std::byte>& bytes) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (!file || error) return Error(ErrorCode::kUnavailable, path + ": cannot be read");
  bytes.resize(std::min(size, size_bytes_max));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size()))
    return Error(ErrorCode::kUnavailable, path + ": cannot be read to its end");
  return {};
}

}  // namespace

bool looks_like_recording(const std::string& path) { return !segment_paths(path).empty(); }

Result<RecordingHeader> read_recording_header(const std::string& path) {
  const std::vector<std::string> paths = segment_paths(path);
  if (paths.empty()) return Error(ErrorCode::kNotFound, path + ": holds no segment");
  std::vector<std::byte> bytes;
  TOCSIN_RETURN_IF_ERROR(read_file(paths.front(), kHeadBytes, bytes));
  const auto read = decode_recording_header(bytes);
  if (!read.ok()) return read.error().within(paths.front());
  return read->header;
}

std::string source_name_of(const std::string& path) {
  const auto recorded = read_recording_header(path);
  if (recorded.ok()) return recorded->source_name;
  return std::filesystem::path(path).filename().string();
}

Result<std::unique_ptr<Source>> open_recording(const FileSourceOptions& options) {
  return SegmentSource::open(options.path, {options.symbols, options.from_time_ns});
}

SegmentSource::SegmentSource(std::vector<Segment> segments, SegmentSourceOptions options)
    : segments_(std::move(segments)), options_(std::move(options)) {
  for (const Segment& segment : segments_) bytes_all_ += segment.size_bytes;
}

Result<std::unique_ptr<Source>> SegmentSource::open(const std::string& folder,
                                                    SegmentSourceOptions options) {
  std::vector<Segment> segments;
  for (std::string& path : segment_paths(folder)) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    segments.push_back({std::move(path), error ? 0 : size, {}});
  }
  if (segments.empty()) return Error(ErrorCode::kNotFound, folder + ": holds no segment");
  std::unique_ptr<SegmentSource> source(new SegmentSource(std::move(segments), std::move(options)));
  TOCSIN_RETURN_IF_ERROR(source->start());
  return std::unique_ptr<Source>(std::move(source));
}

Result<std::unique_ptr<Source>> SegmentSource::over(
    const std::vector<std::span<const std::byte>>& memory, SegmentSourceOptions options) {
  std::vector<Segment> segments;
  for (const auto bytes : memory) {
    const auto index = static_cast<std::uint32_t>(segments.size() + 1);
    segments.push_back({recording_file_name(index), bytes.size(), bytes});
  }
  TOCSIN_ASSERT(!segments.empty());
  std::unique_ptr<SegmentSource> source(new SegmentSource(std::move(segments), std::move(options)));
  TOCSIN_RETURN_IF_ERROR(source->start());
  return std::unique_ptr<Source>(std::move(source));
}

Status SegmentSource::start() {
  std::size_t first = 0;
  if (options_.from_time_ns.has_value()) {
    TOCSIN_ASSIGN_OR_RETURN(first, segment_from(*options_.from_time_ns));
  }
  // A replay that begins in the middle has no header before its first one to compare with.
  segment_ = first;
  for (std::size_t i = 0; i < first; ++i) bytes_before_ += segments_[i].size_bytes;
  wants_books_ = true;
  return begin(first);
}

// The last segment that begins at or before a time, which must lie within the recording.
Result<std::size_t> SegmentSource::segment_from(std::int64_t time_ns) {
  const auto refuse = [&](std::string_view where, std::int64_t event_time_ns) {
    return Error(ErrorCode::kInvalidArgument, segments_[segment_].name + ": to begin from " +
                                                  readable_time(time_ns) + ": that is " +
                                                  std::string(where) + " event of the recording, " +
                                                  readable_time(event_time_ns));
  };
  std::size_t found = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    TOCSIN_ASSIGN_OR_RETURN(const std::optional<TimeSpan> first, times_of(i, 1));
    if (i == 0 && first.has_value() && time_ns < first->begin_ns)
      return refuse("before the first", first->begin_ns);
    if (i > 0 && (!first.has_value() || time_ns < first->begin_ns)) return found;
    found = i;
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::optional<TimeSpan> last, times_of(found, SIZE_MAX));
  if (last.has_value() && time_ns > last->end_ns) return refuse("after the last", last->end_ns);
  return found;
}

// Of its first `blocks_max` blocks of events, up to a damaged one; nothing if there is none.
Result<std::optional<SegmentSource::TimeSpan>> SegmentSource::times_of(std::size_t segment_index,
                                                                       std::size_t blocks_max) {
  segment_ = segment_index;
  TOCSIN_RETURN_IF_ERROR(load(segment_index));
  std::optional<TimeSpan> span;
  for (std::size_t blocks = 0; blocks < blocks_max;) {
    std::span<const std::byte> stored;
    const Result<BlockHeader> header = read_block(stored);
    if (!header.ok() || header->kind >= BlockKind::kEnd) break;
    if (header->kind != BlockKind::kEvents) continue;
    ++blocks;
    if (!span.has_value()) span = {header->first_time_ns, header->last_time_ns};
    span->begin_ns = std::min(span->begin_ns, header->first_time_ns);
    span->end_ns = std::max(span->end_ns, header->last_time_ns);
  }
  return span;
}

Error SegmentSource::fault(std::string_view what) const {
  std::string message = segments_[segment_].name;
  message += ", block ";
  message += std::to_string(block_ + 1);
  message += " at byte ";
  message += std::to_string(at_);
  message += ": ";
  message += what;
  return Error(ErrorCode::kDataLoss, std::move(message));
}

Status SegmentSource::check_order(const ReadHeader& read) const {
  const std::uint64_t expected = segment_ + 1;
  if (read.header.index != expected) {
    return Error(ErrorCode::kDataLoss, segments_[segment_].name + ": is segment " +
                                           std::to_string(read.header.index) + " where segment " +
                                           std::to_string(expected) +
                                           " should follow: one is missing");
  }
  const bool follows = ended_;
  if (follows && read.header.hash_before != last_hash_) {
    return Error(ErrorCode::kDataLoss, segments_[segment_].name +
                                           ": belongs to another recording than the segment "
                                           "before it");
  }
  return {};
}

Status SegmentSource::load(std::size_t segment_index) {
  const Segment& segment = segments_[segment_index];
  bytes_ = segment.memory;
  if (bytes_.data() == nullptr) {
    TOCSIN_RETURN_IF_ERROR(read_file(segment.name, UINT64_MAX, loaded_));
    bytes_ = loaded_;
  }
  const auto read = decode_recording_header(bytes_);
  if (!read.ok()) return read.error().within(segment.name);
  TOCSIN_RETURN_IF_ERROR(check_order(*read));
  last_hash_ = read->hash;
  at_ = read->size_bytes;
  block_ = 0;
  ended_ = false;
  return {};
}

// Loads a segment that is to be played.
Status SegmentSource::begin(std::size_t segment_index) {
  TOCSIN_RETURN_IF_ERROR(load(segment_index));
  index_.clear();
  if (!options_.symbols.empty()) read_index();
  return {};
}

// From the loaded segment's end block, if that is whole by the hash that stands in front of it;
// the chain of hashes is checked as the blocks are reached.
void SegmentSource::read_index() {
  for (std::size_t at = at_; bytes_.size() - at >= BlockHeader::kBytes;) {
    const std::span<const std::byte> left = bytes_.subspan(at);
    const Result<BlockHeader> header = decode_block_header(left);
    if (!header.ok()) return;
    const std::size_t hashed_bytes = BlockHeader::kBytes + header->stored_bytes;
    if (left.size() < hashed_bytes + sizeof(Digest)) return;
    if (header->kind < BlockKind::kEnd) {
      at += hashed_bytes + sizeof(Digest);
      continue;
    }
    Digest before;
    std::memcpy(before.data(), bytes_.data() + at - before.size(), before.size());
    const Digest hash = block_hash(before, left.first(hashed_bytes));
    BlockContent unused;
    std::string source_error;
    if (std::memcmp(hash.data(), left.data() + hashed_bytes, hash.size()) != 0 ||
        !codec_.decompress(left.subspan(BlockHeader::kBytes, header->stored_bytes),
                           header->raw_bytes, raw_) ||
        !decode_block_end(raw_, header->kind, unused, index_, source_error))
      index_.clear();
    return;
  }
}

// True if a block of events has none of an instrument that is wanted, and changes none.
bool SegmentSource::concerns_nobody(const BlockHeader& header) const {
  if (header.number > index_.size() || header.record_count == 0 || header.change_count > 0)
    return false;
  const auto& ids = index_[header.number - 1].instruments;
  return std::all_of(ids.begin(), ids.end(),
                     [this](InstrumentId id) { return id < wanted_.size() && !wanted_[id]; });
}

// Checks the block at `at_` and steps behind it.
Result<BlockHeader> SegmentSource::read_block(std::span<const std::byte>& stored) {
  const std::span<const std::byte> left = bytes_.subspan(at_);
  if (left.empty())
    return fault("the segment ends without its end block: the recording was cut short");
  if (left.size() < BlockHeader::kBytes) return fault("the block is cut off");
  const Result<BlockHeader> header = decode_block_header(left);
  if (!header.ok()) return fault(header.error().message());
  const std::size_t hashed_bytes = BlockHeader::kBytes + header->stored_bytes;
  if (left.size() < hashed_bytes + sizeof(Digest)) return fault("the block is cut off");
  const Digest hash = block_hash(last_hash_, left.first(hashed_bytes));
  if (!std::equal(hash.begin(), hash.end(),
                  reinterpret_cast<const std::uint8_t*>(left.data() + hashed_bytes))) {
    return fault("the block was changed: its hash does not fit");
  }
  if (header->number != block_ + 1)
    return fault("is block " + std::to_string(header->number) + ": one is missing");
  stored = left.subspan(BlockHeader::kBytes, header->stored_bytes);
  last_hash_ = hash;
  block_ = header->number;
  at_ += hashed_bytes + sizeof(Digest);
  return *header;
}

Result<bool> SegmentSource::next_block() {
  for (;;) {
    if (ended_) {
      if (at_ != bytes_.size()) return fault("bytes stand behind the end block");
      if (segment_ + 1 == segments_.size()) {
        if (!is_last_) return fault("the recording goes on in a segment that is missing");
        if (!source_error_.empty()) {
          return Error(
              ErrorCode::kDataLoss,
              "the recording is whole, but its source ended with an error: " + source_error_);
        }
        return false;
      }
      if (is_last_) return fault("the recording ends here, yet another segment stands behind it");
      bytes_before_ += segments_[segment_].size_bytes;
      ++segment_;
      wants_books_ = false;
      TOCSIN_RETURN_IF_ERROR(begin(segment_));
    }
    std::span<const std::byte> stored;
    TOCSIN_ASSIGN_OR_RETURN(const BlockHeader header, read_block(stored));
    if (header.kind == BlockKind::kBooks && !wants_books_) continue;
    if (header.kind == BlockKind::kEvents && concerns_nobody(header)) {
      records_filtered_ += header.record_count;
      counters_.records = std::max(counters_.records, header.last_record);
      continue;
    }
    if (!codec_.decompress(stored, header.raw_bytes, raw_))
      return fault("the block before this place cannot be unpacked");
    if (header.kind >= BlockKind::kEnd) {
      is_last_ = header.kind != BlockKind::kEnd;
      TOCSIN_RETURN_IF_ERROR(take_end(header.kind));
      continue;
    }
    if (!decode_block_content(raw_, header.event_count, content_))
      return fault("the block before this place does not hold what its header says");
    event_ = 0;
    change_ = 0;
    holds_block_ = true;
    return true;
  }
}

Status SegmentSource::take_end(BlockKind kind) {
  ended_ = true;
  if (!decode_block_end(raw_, kind, content_, index_, source_error_))
    return fault("the end block before this place does not hold what it should");
  event_ = 0;
  change_ = 0;
  apply_changes(UINT64_MAX);
  take_account(content_.account);
  return {};
}

void SegmentSource::take_account(const SourceAccount& account) {
  counters_ = account.counters;
  counters_.events = events_yielded_;
  counters_.filtered += records_filtered_;
  by_type_ = account.by_type;
  faults_ = account.faults;
}

void SegmentSource::apply_changes(std::uint64_t record) {
  for (; change_ < content_.changes.size(); ++change_) {
    const InstrumentChange& change = content_.changes[change_];
    if (change.record > record) return;
    // Instruments come in the order of their numbers; one far ahead is no instrument.
    if (change.id > instruments_.size()) continue;
    if (change.id == instruments_.size()) {
      instruments_.emplace_back();
      wanted_.push_back(false);
    }
    instruments_[change.id] = change.instrument;
    const auto& symbols = options_.symbols;
    wanted_[change.id] = symbols.empty() || std::find(symbols.begin(), symbols.end(),
                                                      change.instrument.symbol) != symbols.end();
  }
}

// The events of the next record; false: they are all of instruments that were not asked for, or
// not of any.
bool SegmentSource::take_batch(EventBatch& batch) {
  const std::uint64_t record = content_.events[event_].record;
  apply_changes(record);
  for (; event_ < content_.events.size() && content_.events[event_].record == record; ++event_) {
    const MarketEvent& event = content_.events[event_];
    if (event.instrument < wanted_.size() && wanted_[event.instrument]) batch.push_back(event);
  }
  events_yielded_ += batch.size();
  counters_.events = events_yielded_;
  counters_.records = std::max(counters_.records, record);
  if (batch.empty()) ++records_filtered_;
  return !batch.empty();
}

SourceStatus SegmentSource::next(EventBatch& batch) noexcept {
  batch.clear();
  for (;;) {
    while (event_ < content_.events.size()) {
      if (take_batch(batch)) return SourceStatus::kEvents;
    }
    if (holds_block_) {
      holds_block_ = false;
      apply_changes(UINT64_MAX);
      take_account(content_.account);
    }
    const Result<bool> more = next_block();
    if (!more.ok()) {
      error_ = more.error();
      return SourceStatus::kError;
    }
    if (!*more) return SourceStatus::kEnd;
  }
}

double SegmentSource::progress() const noexcept {
  return bytes_all_ == 0
             ? 1.0
             : static_cast<double>(bytes_before_ + at_) / static_cast<double>(bytes_all_);
}

}  // namespace tocsin
