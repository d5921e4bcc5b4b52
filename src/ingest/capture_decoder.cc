// The container's packets, one after another, into the protocol.
#include "ingest/capture_decoder.h"

namespace tocsin {
namespace {

constexpr std::uint32_t kForeignPacketsMax = 100;  // so many and no good one: another protocol

}  // namespace

Result<std::unique_ptr<Source>> CaptureDecoder::open(std::unique_ptr<ByteStream> stream,
                                                     const FileSourceOptions& options,
                                                     ProtocolMaker make_protocol) {
  std::unique_ptr<CaptureDecoder> decoder(new CaptureDecoder(std::move(stream), options.symbols));
  FeedLedger& ledger = *decoder;
  TOCSIN_ASSIGN_OR_RETURN(decoder->protocol_, make_protocol(options, ledger));
  TOCSIN_ASSIGN_OR_RETURN(decoder->packets_, PacketStream::open(*decoder->stream_));
  return std::unique_ptr<Source>(std::move(decoder));
}

SourceStatus CaptureDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  if (protocol_->has_message()) {
    protocol_->next_message(batch);
    return yield(batch);
  }
  switch (packets_->next(packet_)) {
    case PacketStatus::kPacket:
      break;
    case PacketStatus::kEnd:
      return !protocol_->recognised() && counters_.malformed > 0 ? fail_foreign() : end_of_stream();
    case PacketStatus::kError:
      return fail_packets();
  }
  return next_packet(batch);
}

SourceStatus CaptureDecoder::next_packet(EventBatch& batch) {
  ++packet_counts_[static_cast<std::size_t>(packet_.kind)];
  switch (packet_.kind) {
    case PacketKind::kUdp:
      protocol_->take({.payload = packet_.payload,
                       .receive_time_ns = packet_.capture_time_ns,
                       .number = packet_.number,
                       .destination = packet_.destination},
                      batch);
      break;
    case PacketKind::kFragment:
    case PacketKind::kTcp:
    case PacketKind::kOtherProtocol:
      ++counters_.records;
      ++counters_.ignored;
      break;
    case PacketKind::kMalformed:
      protocol_->refuse(packet_.number, packet_.fault);
      break;
    case PacketKind::kCut:
      protocol_->refuse(packet_.number, "the capture kept only a part of the packet");
      break;
  }
  if (!protocol_->recognised() && counters_.malformed >= kForeignPacketsMax) return fail_foreign();
  return yield(batch);
}

SourceStatus CaptureDecoder::fail_packets() {
  if (!stream_->status().ok()) return end_of_stream();
  return fail(packets_->error().code(), packets_->error().message());
}

SourceStatus CaptureDecoder::fail_foreign() {
  std::string text = "no packet of the capture is ";
  text += protocol_->name();
  text += "; first fault: ";
  if (!faults().empty()) text += faults().front().message;
  return fail(ErrorCode::kDataLoss, text);
}

std::vector<std::pair<std::string, std::uint64_t>> CaptureDecoder::counts_by_type() const {
  auto counts = protocol_->counts_by_type();
  for (std::size_t i = 0; i < packet_counts_.size(); ++i) {
    if (packet_counts_[i] == 0) continue;
    counts.emplace_back(packet_kind_name(static_cast<PacketKind>(i)), packet_counts_[i]);
  }
  return counts;
}

}  // namespace tocsin
