// Frames, headers and hashes of the ledger's chain.
#include "sinks/ledger_chain.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "sinks/byte_coding.h"

namespace tocsin {
namespace {

constexpr std::string_view kHeadTitle = "tocsin-ledger-head 1\nrecords ";
constexpr std::string_view kHeadHash = "\nhead ";

Digest digest_at(std::span<const std::byte> bytes, std::size_t offset) {
  Digest digest;
  std::memcpy(digest.data(), bytes.data() + offset, digest.size());
  return digest;
}

}  // namespace

const Digest& ledger_genesis() {
  static const Digest genesis = digest_of(DigestKind::kBlake2s256, "tocsin-ledger-1");
  return genesis;
}

void encode_segment_header(const SegmentHeader& header, std::vector<std::byte>& out) {
  ByteEncoder encoder(out);
  encoder.bytes(std::as_bytes(std::span(kSegmentMagic)));
  encoder.number(kLedgerFormatVersion);
  encoder.number(header.index);
  encoder.number(header.first_record);
  encoder.digest(header.previous);
}

std::optional<SegmentHeader> segment_header_of(std::span<const std::byte> segment) {
  if (segment.size() < kSegmentHeaderBytes) return std::nullopt;
  ByteDecoder decoder(segment.subspan(kSegmentVersionOffset + sizeof(std::uint32_t)));
  SegmentHeader header;
  header.index = decoder.number<std::uint32_t>();
  header.first_record = decoder.number<std::uint64_t>();
  header.previous = decoder.digest();
  return header;
}

std::optional<RecordFrame> record_frame_at(std::span<const std::byte> segment, std::size_t offset) {
  if (offset > segment.size() || segment.size() - offset < kRecordOverheadBytes)
    return std::nullopt;
  ByteDecoder decoder(segment.subspan(offset));
  RecordFrame frame;
  frame.offset = offset;
  frame.payload_bytes = decoder.number<std::uint32_t>();
  frame.kind = decoder.number<std::uint8_t>();
  const std::uint32_t padding =
      decoder.number<std::uint8_t>() | static_cast<std::uint32_t>(decoder.number<std::uint16_t>());
  frame.number = decoder.number<std::uint64_t>();
  frame.header_valid = padding == 0 &&
                       frame.kind >= static_cast<std::uint8_t>(LedgerRecordKind::kRunStart) &&
                       frame.kind <= static_cast<std::uint8_t>(LedgerRecordKind::kResume);
  if (frame.payload_bytes > kLedgerPayloadBytesMax ||
      frame.payload_bytes > segment.size() - offset - kRecordOverheadBytes)
    return std::nullopt;
  frame.content = segment.subspan(offset, kRecordHeaderBytes + frame.payload_bytes);
  frame.hash = digest_at(segment, offset + frame.content.size());
  return frame;
}

void encode_record_header(LedgerRecordKind kind, std::uint64_t number, std::size_t payload_bytes,
                          std::vector<std::byte>& out) {
  ByteEncoder encoder(out);
  encoder.number(static_cast<std::uint32_t>(payload_bytes));
  encoder.number(static_cast<std::uint8_t>(kind));
  encoder.number(std::uint8_t{0});
  encoder.number(std::uint16_t{0});
  encoder.number(number);
}

Digest ChainHasher::hash(const Digest& previous, std::span<const std::byte> content) noexcept {
  digest_.update(std::as_bytes(std::span(previous)));
  digest_.update(content);
  return digest_.finish();
}

bool ChainHasher::verifies(const RecordFrame& frame, const Digest& previous) noexcept {
  return frame.header_valid && hash(previous, frame.content) == frame.hash;
}

std::string encode_head(const LedgerHead& head) {
  std::string text(kHeadTitle);
  text += std::to_string(head.records);
  text += kHeadHash;
  text += to_hex(head.hash);
  text += '\n';
  const Digest check = digest_of(DigestKind::kBlake2s256, text);
  return text + "check " + to_hex(check) + '\n';
}

std::optional<LedgerHead> head_from_text(std::string_view text) {
  if (!text.starts_with(kHeadTitle)) return std::nullopt;
  LedgerHead head;
  const char* const begin = text.data() + kHeadTitle.size();
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(begin, end, head.records);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  constexpr std::size_t kHexDigits = 2 * sizeof(Digest);
  if (rest.size() < kHeadHash.size() + kHexDigits) return std::nullopt;
  const auto hash = digest_from_hex(rest.substr(kHeadHash.size(), kHexDigits));
  if (!hash.ok()) return std::nullopt;
  head.hash = *hash;
  // Strict by construction: whatever else the text says, it is not what was written.
  if (encode_head(head) != text) return std::nullopt;
  return head;
}

}  // namespace tocsin
