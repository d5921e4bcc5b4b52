// Tocsin's own recordings: a folder of segments, each a header and blocks of events in columns,
// compressed and hashed one by one. Byte layout: docs/adr/segment-format.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "ingest/source.h"

namespace tocsin {

inline constexpr std::string_view kRecordingMagic = "TOCSINSG";
inline constexpr std::uint32_t kRecordingVersion = 1;
inline constexpr std::size_t kBlockRawBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kRecordingTextBytesMax = std::size_t{64} << 10;

// "000001.tseg"
std::string recording_file_name(std::uint32_t index);

struct RecordingHeader {
  std::uint32_t index = 1;
  std::uint64_t first_record = 1;  // of the source, or a later one; 1 + the last one before
  Digest hash_before{};            // of the last block before; zero in the first segment
  std::string source_name;         // the recorded file's name: alerts are numbered by it
  std::string format;              // what it was: "lobster"
};
// The header's bytes, its hash at their end.
std::vector<std::byte> encode_recording_header(const RecordingHeader& header);
struct ReadHeader {
  RecordingHeader header;
  Digest hash{};
  std::size_t size_bytes = 0;
};
// `bytes` may go on behind the header; the error says what is wrong, without the file's name.
Result<ReadHeader> decode_recording_header(std::span<const std::byte> bytes);

enum class BlockKind : std::uint8_t {
  kBooks = 1,   // the books as events, for a replay that begins with this segment
  kEvents = 2,  // what the source yielded
  kEnd = 3,     // the segment is complete: an index of its blocks; another segment follows
  kLast = 4,    // the same of the last segment: the recording is complete
  kFailed = 5   // the same, of a source that ended with an error: its text stands in front
};

// What stands in front of a block's bytes.
struct BlockHeader {
  static constexpr std::size_t kBytes = 64;

  BlockKind kind = BlockKind::kEvents;
  std::uint32_t number = 1;  // in its segment
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t event_count = 0;
  std::uint32_t record_count = 0;  // that have events in it; 0 in recordings of before this number
  std::uint64_t first_record = 0;
  std::uint64_t last_record = 0;
  std::int64_t first_time_ns = 0;  // the least exchange time
  std::int64_t last_time_ns = 0;   // the greatest
  std::uint64_t change_count = 0;  // instruments that are new or changed
};
// A block: header, `stored` (compressed), and a hash over both and the hash before: that of the
// block before, or of the segment's header. Returns the hash.
Digest encode_block(const BlockHeader& header, std::span<const std::byte> stored,
                    const Digest& hash_before, std::vector<std::byte>& out);
Result<BlockHeader> decode_block_header(std::span<const std::byte> bytes);
Digest block_hash(const Digest& hash_before, std::span<const std::byte> header_and_stored);

// An instrument as it is from a record on.
struct InstrumentChange {
  std::uint64_t record = 0;
  InstrumentId id = 0;
  Instrument instrument;
};

// What a source had to say besides events, when the block was closed.
struct SourceAccount {
  SourceCounters counters;
  std::vector<std::pair<std::string, std::uint64_t>> by_type;
  std::vector<InputFault> faults;
};

// A block's content before compression.
struct BlockContent {
  std::vector<InstrumentChange> changes;  // in the order of their records
  SourceAccount account;
  std::vector<MarketEvent> events;
};
void encode_block_content(const BlockContent& content, std::vector<std::byte>& out);
// Fills `content`, whose memory is used again. False: the bytes are not such a content.
bool decode_block_content(std::span<const std::byte> bytes, std::size_t event_count,
                          BlockContent& content);

// A block as the index of a segment names it.
struct BlockPlace {
  std::uint64_t offset_bytes = 0;
  BlockHeader header;
  std::vector<InstrumentId> instruments;  // that have an event in it, in rising order
};

// The content of an end block before compression: the source's error where it ended with one
// (kFailed), what else it had to say, and the index.
void encode_block_end(const BlockContent& content, std::span<const BlockPlace> blocks,
                      std::string_view source_error, std::vector<std::byte>& out);
// The same back. False: the bytes are not such a content.
bool decode_block_end(std::span<const std::byte> bytes, BlockKind kind, BlockContent& content,
                      std::vector<BlockPlace>& blocks, std::string& source_error);

// zstd, with a context that is used again.
class BlockCodec {
 public:
  BlockCodec();
  ~BlockCodec();
  BlockCodec(BlockCodec&&) noexcept;
  BlockCodec& operator=(BlockCodec&&) noexcept;

  void compress(std::span<const std::byte> raw, std::vector<std::byte>& stored);
  // False: not `raw_bytes` bytes come out.
  bool decompress(std::span<const std::byte> stored, std::size_t raw_bytes,
                  std::vector<std::byte>& raw);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
