// Blocks are put together in memory and appended by one call; what a failed call left is cut off.
#include "runtime/segment_writer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ingest/segment_source.h"

namespace tocsin {
namespace {

bool same(const Instrument& a, const Instrument& b) noexcept {
  return a.symbol == b.symbol && a.price_tick_nanos == b.price_tick_nanos &&
         a.quantity_step_nanos == b.quantity_step_nanos && a.price_decimals == b.price_decimals &&
         a.quantity_decimals == b.quantity_decimals;
}

// Record and time spans of the events, for a block's header.
void describe(std::span<const MarketEvent> events, BlockHeader& header) {
  header.event_count = static_cast<std::uint32_t>(events.size());
  if (events.empty()) return;
  header.record_count = 1;
  for (std::size_t i = 1; i < events.size(); ++i)
    if (events[i].record != events[i - 1].record) ++header.record_count;
  header.first_record = events.front().record;
  header.last_record = events.back().record;
  const auto [least, greatest] = std::minmax_element(
      events.begin(), events.end(), [](const MarketEvent& a, const MarketEvent& b) {
        return a.exchange_time_ns < b.exchange_time_ns;
      });
  header.first_time_ns = least->exchange_time_ns;
  header.last_time_ns = greatest->exchange_time_ns;
}

std::vector<InstrumentId> instruments_of(std::span<const MarketEvent> events) {
  std::vector<InstrumentId> ids;
  ids.reserve(events.size());
  for (const MarketEvent& event : events) ids.push_back(event.instrument);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

Result<SegmentWriter> SegmentWriter::create(SegmentWriterOptions options) {
  if (looks_like_recording(options.folder)) {
    return Error(ErrorCode::kAlreadyExists,
                 options.folder + ": holds a recording already; name another folder");
  }
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(options.folder, ignored);
  TOCSIN_RETURN_IF_ERROR(create_folders(options.folder));
  SegmentWriter writer(std::move(options));
  writer.made_folder_ = !is_there;
  const Status opened = writer.open_segment();
  if (opened.ok()) return writer;
  writer.remove_if_empty();
  return opened.error();
}

void SegmentWriter::remove_if_empty() noexcept {
  if (counters_.blocks > 0) return;
  std::error_code ignored;
  std::filesystem::remove(options_.folder + "/" + recording_file_name(segment_), ignored);
  if (made_folder_) std::filesystem::remove(options_.folder, ignored);
}

Status SegmentWriter::append_bytes(std::span<const std::byte> bytes) {
  const std::uint64_t size_before = file_->size_bytes();
  std::size_t written = 0;
  const Status appended = file_->append(bytes, written);
  if (!appended.ok()) {
    // What could not be taken back is found by the reader as a block that is cut off.
    (void)file_->cut(size_before);
    return appended;
  }
  counters_.bytes += bytes.size();
  return {};
}

Status SegmentWriter::open_segment() {
  ++segment_;
  RecordingHeader header;
  header.index = segment_;
  header.first_record = last_record_ + 1;
  header.hash_before = last_hash_;
  header.source_name = options_.source_name;
  header.format = options_.format;
  const std::vector<std::byte> bytes = encode_recording_header(header);
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()) + bytes.size() - sizeof(Digest),
              sizeof(Digest), last_hash_.begin());
  TOCSIN_ASSIGN_OR_RETURN(OutputFile file,
                          OutputFile::open(options_.folder + "/" + recording_file_name(segment_)));
  file_ = std::make_unique<OutputFile>(std::move(file));
  places_.clear();
  written_instruments_.clear();
  ++counters_.segments;
  TOCSIN_RETURN_IF_ERROR(append_bytes(bytes));
  return sync_folder(options_.folder);
}

void SegmentWriter::note_instrument(InstrumentId id, const Instrument& instrument,
                                    std::uint64_t record) {
  if (id == written_instruments_.size()) {
    written_instruments_.push_back(instrument);
  } else if (same(written_instruments_[id], instrument)) {
    return;
  } else {
    written_instruments_[id] = instrument;
  }
  content_.changes.push_back({record, id, instrument});
}

void SegmentWriter::note_instruments(std::span<const Instrument> instruments,
                                     std::uint64_t record) {
  for (std::size_t i = 0; i < instruments.size(); ++i)
    note_instrument(static_cast<InstrumentId>(i), instruments[i], record);
}

void SegmentWriter::append(std::span<const MarketEvent> events,
                           std::span<const Instrument> instruments) {
  if (events.empty()) return;
  last_record_ = events.front().record;
  for (std::size_t i = written_instruments_.size(); i < instruments.size(); ++i)
    note_instrument(static_cast<InstrumentId>(i), instruments[i], last_record_);
  for (const MarketEvent& event : events)
    note_instrument(event.instrument, instruments[event.instrument], last_record_);
  content_.events.insert(content_.events.end(), events.begin(), events.end());
}

Status SegmentWriter::write_block(BlockKind kind, std::span<const std::byte> raw) {
  codec_.compress(raw, stored_);
  BlockPlace place;
  place.offset_bytes = file_->size_bytes();
  place.header.kind = kind;
  place.header.number = static_cast<std::uint32_t>(places_.size() + 1);
  place.header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  place.header.stored_bytes = static_cast<std::uint32_t>(stored_.size());
  if (kind == BlockKind::kBooks || kind == BlockKind::kEvents)
    describe(content_.events, place.header);
  place.header.change_count = content_.changes.size();
  place.instruments = instruments_of(content_.events);
  bytes_.clear();
  const Digest hash = encode_block(place.header, stored_, last_hash_, bytes_);
  TOCSIN_RETURN_IF_ERROR(append_bytes(bytes_));
  last_hash_ = hash;
  ++counters_.blocks;
  if (kind == BlockKind::kEvents) counters_.events += content_.events.size();
  places_.push_back(std::move(place));
  content_.events.clear();
  content_.changes.clear();
  return {};
}

Status SegmentWriter::close_block(const SourceAccount& account,
                                  std::span<const Instrument> instruments) {
  // An instrument may have got its name without an event of its own.
  note_instruments(instruments, last_record_);
  content_.account = account;
  encode_block_content(content_, raw_);
  return write_block(BlockKind::kEvents, raw_);
}

Status SegmentWriter::end_segment(BlockKind kind, const SourceAccount& account,
                                  std::span<const Instrument> instruments,
                                  std::string_view source_error) {
  TOCSIN_ASSERT(!has_open_block());
  note_instruments(instruments, last_record_);
  content_.account = account;
  encode_block_end(content_, places_, source_error, raw_);
  TOCSIN_RETURN_IF_ERROR(write_block(kind, raw_));
  return file_->sync();
}

Status SegmentWriter::begin_segment(const SourceAccount& account,
                                    std::span<const Instrument> instruments,
                                    std::vector<MarketEvent> books) {
  TOCSIN_RETURN_IF_ERROR(end_segment(BlockKind::kEnd, account, instruments, {}));
  TOCSIN_RETURN_IF_ERROR(open_segment());
  content_.events = std::move(books);
  note_instruments(instruments, 0);
  content_.account = account;
  encode_block_content(content_, raw_);
  return write_block(BlockKind::kBooks, raw_);
}

Status SegmentWriter::finish(const SourceAccount& account, std::span<const Instrument> instruments,
                             std::string_view source_error) {
  const BlockKind kind = source_error.empty() ? BlockKind::kLast : BlockKind::kFailed;
  TOCSIN_RETURN_IF_ERROR(end_segment(kind, account, instruments, source_error));
  return sync_folder(options_.folder);
}

}  // namespace tocsin
