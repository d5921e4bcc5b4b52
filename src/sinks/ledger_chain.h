// How a ledger's bytes hang together: segment headers, record frames, the hash chain and the HEAD.
// Each record's hash covers the one before it, across segments: nothing can be changed in between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "sinks/ledger_format.h"

namespace tocsin {

// The hash before the first record of all.
const Digest& ledger_genesis();

// Opens a segment file: magic "TOCSINLG", u32 format version, u32 index, u64 number of the first
// record, the hash before it. The hash stands last, so that what precedes any record is always the
// hash that its own is chained to.
struct SegmentHeader {
  std::uint32_t index = 0;  // from 1
  std::uint64_t first_record = 0;
  Digest previous{};
};
inline constexpr std::array<char, 8> kSegmentMagic = {'T', 'O', 'C', 'S', 'I', 'N', 'L', 'G'};
inline constexpr std::size_t kSegmentHeaderBytes = 56;
inline constexpr std::size_t kSegmentVersionOffset = 8;

void encode_segment_header(const SegmentHeader& header, std::vector<std::byte>& out);
// The fields as they stand; magic and version are the caller's to judge. Empty if cut short.
std::optional<SegmentHeader> segment_header_of(std::span<const std::byte> segment);

// A record: u32 payload bytes, u8 kind, three zero bytes, u64 number, payload, hash.
inline constexpr std::size_t kRecordHeaderBytes = 16;
inline constexpr std::size_t kRecordOverheadBytes = kRecordHeaderBytes + sizeof(Digest);

// A record as its own length delimits it; nothing is verified.
struct RecordFrame {
  std::size_t offset = 0;
  std::uint32_t payload_bytes = 0;
  std::uint8_t kind = 0;
  std::uint64_t number = 0;
  bool header_valid = false;           // known kind, zero bytes zero
  std::span<const std::byte> content;  // header and payload: what the hash covers
  Digest hash{};

  std::size_t end() const noexcept { return offset + content.size() + sizeof(Digest); }
  std::span<const std::byte> payload() const noexcept {
    return content.subspan(kRecordHeaderBytes);
  }
};

// Empty if the record does not fit into the segment, or is larger than a record may be.
std::optional<RecordFrame> record_frame_at(std::span<const std::byte> segment, std::size_t offset);

// Appends the record's header; the payload and the hash are to follow.
void encode_record_header(LedgerRecordKind kind, std::uint64_t number, std::size_t payload_bytes,
                          std::vector<std::byte>& out);

// The hash of a record: BLAKE2s-256 over the hash before it, its header and its payload.
class ChainHasher {
 public:
  Digest hash(const Digest& previous, std::span<const std::byte> content) noexcept;
  bool verifies(const RecordFrame& frame, const Digest& previous) noexcept;

 private:
  DigestBuilder digest_{DigestKind::kBlake2s256};
};

// Where the next record of a ledger belongs.
struct ChainPosition {
  std::uint64_t next_record = 1;
  Digest head = ledger_genesis();  // hash of the record before
};

// What was durable at the last flush; its own small file beside the segments.
struct LedgerHead {
  std::uint64_t records = 0;
  Digest hash = ledger_genesis();  // of record number `records`
};
// Four lines of text: format, records, head, and a hash of the lines before.
std::string encode_head(const LedgerHead& head);
// Empty if the text isn't exactly what encode_head() gives.
std::optional<LedgerHead> head_from_text(std::string_view text);

}  // namespace tocsin
