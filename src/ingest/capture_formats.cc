// The packet protocols that captures are read with: what each is told by, and one maker a format.
#include "ingest/capture_formats.h"

#include <algorithm>
#include <array>

#include "ingest/capture_decoder.h"
#include "ingest/decoders.h"
#include "ingest/iex_protocol.h"
#include "ingest/moldudp64_protocol.h"
#include "ingest/pitch_protocol.h"

namespace tocsin {
namespace {

struct CaptureFormat {
  FeedFormat format;
  bool (*looks_like)(std::span<const std::byte> payload) noexcept;
};

// No payload fits two of them, so that the order does not matter.
constexpr std::array kCaptureFormats = {
    CaptureFormat{FeedFormat::kMoldUdp64, looks_like_moldudp64},
    CaptureFormat{FeedFormat::kIex, looks_like_iex},
    CaptureFormat{FeedFormat::kPitch, looks_like_pitch},
};

}  // namespace

bool is_capture_format(FeedFormat format) noexcept {
  return std::any_of(kCaptureFormats.begin(), kCaptureFormats.end(),
                     [format](const CaptureFormat& row) { return row.format == format; });
}

std::optional<FeedFormat> capture_format_of(std::span<const std::byte> head) noexcept {
  if (!looks_like_capture(head)) return std::nullopt;
  const std::unique_ptr<ByteStream> bytes = make_memory_stream("head", head);
  const auto packets = PacketStream::open(*bytes);
  if (!packets.ok()) return std::nullopt;
  std::array<std::size_t, kCaptureFormats.size()> counts{};
  Packet packet;
  // A head cut within a packet ends in an error; what came before is enough.
  while (packets.value()->next(packet) == PacketStatus::kPacket) {
    if (packet.kind != PacketKind::kUdp) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (kCaptureFormats[i].looks_like(packet.payload)) ++counts[i];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most == 0) return std::nullopt;
  return kCaptureFormats[static_cast<std::size_t>(most - counts.begin())].format;
}

Result<std::unique_ptr<Source>> make_moldudp64_decoder(std::unique_ptr<ByteStream> stream,
                                                       const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options.symbols, [](FeedLedger& ledger) {
    return std::make_unique<MoldUdp64Protocol>(ledger);
  });
}

Result<std::unique_ptr<Source>> make_iex_decoder(std::unique_ptr<ByteStream> stream,
                                                 const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options.symbols, [](FeedLedger& ledger) {
    return std::make_unique<IexProtocol>(ledger);
  });
}

Result<std::unique_ptr<Source>> make_pitch_decoder(std::unique_ptr<ByteStream> stream,
                                                   const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options.symbols, [](FeedLedger& ledger) {
    return std::make_unique<PitchProtocol>(ledger);
  });
}

}  // namespace tocsin
