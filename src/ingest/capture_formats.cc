// The packet protocols that captures are read with: what each is told by, and one maker a format.
#include "ingest/capture_formats.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "ingest/capture_decoder.h"
#include "ingest/decoders.h"
#include "ingest/iex_protocol.h"
#include "ingest/mdp3_protocol.h"
#include "ingest/moldudp64_protocol.h"
#include "ingest/pitch_protocol.h"

namespace tocsin {
namespace {

using ProtocolResult = Result<std::unique_ptr<PacketProtocol>>;

struct CaptureFormat {
  FeedFormat format;
  bool (*looks_like)(std::span<const std::byte> payload) noexcept;
  ProtocolResult (*make)(const FileSourceOptions& options, FeedLedger& ledger);
};

template <typename Protocol>
ProtocolResult make_protocol(const FileSourceOptions& /*options*/, FeedLedger& ledger) {
  return std::unique_ptr<PacketProtocol>(std::make_unique<Protocol>(ledger));
}

ProtocolResult make_mdp3_protocol(const FileSourceOptions& options, FeedLedger& ledger) {
  MdpOptions mdp{.by_order = options.by_order};
  if (!options.schema_path.empty()) {
    TOCSIN_ASSIGN_OR_RETURN(const SbeSchema schema, SbeSchema::read_file(options.schema_path));
    TOCSIN_ASSIGN_OR_RETURN(MdpLayout layout, MdpLayout::from_schema(schema));
    mdp.layout = std::make_shared<const MdpLayout>(std::move(layout));
  }
  return std::unique_ptr<PacketProtocol>(std::make_unique<MdpProtocol>(ledger, mdp));
}

// No payload fits two of them, so that the order does not matter.
constexpr std::array kCaptureFormats = {
    CaptureFormat{FeedFormat::kMoldUdp64, looks_like_moldudp64, make_protocol<MoldUdp64Protocol>},
    CaptureFormat{FeedFormat::kIex, looks_like_iex, make_protocol<IexProtocol>},
    CaptureFormat{FeedFormat::kPitch, looks_like_pitch, make_protocol<PitchProtocol>},
    CaptureFormat{FeedFormat::kMdp3, looks_like_mdp3, make_mdp3_protocol},
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

Result<std::unique_ptr<PacketProtocol>> make_packet_protocol(const FileSourceOptions& options,
                                                             FeedLedger& ledger) {
  const auto* row =
      std::find_if(kCaptureFormats.begin(), kCaptureFormats.end(),
                   [&](const CaptureFormat& f) { return f.format == options.format; });
  TOCSIN_ASSERT(row != kCaptureFormats.end());
  return row->make(options, ledger);
}

Result<std::unique_ptr<Source>> make_moldudp64_decoder(std::unique_ptr<ByteStream> stream,
                                                       const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options, make_protocol<MoldUdp64Protocol>);
}

Result<std::unique_ptr<Source>> make_iex_decoder(std::unique_ptr<ByteStream> stream,
                                                 const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options, make_protocol<IexProtocol>);
}

Result<std::unique_ptr<Source>> make_pitch_decoder(std::unique_ptr<ByteStream> stream,
                                                   const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options, make_protocol<PitchProtocol>);
}

Result<std::unique_ptr<Source>> make_mdp3_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options, make_mdp3_protocol);
}

}  // namespace tocsin
