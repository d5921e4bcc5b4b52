// A capture file (pcap, pcapng) of one packet protocol: drives a PacketProtocol by the datagrams of
// a PacketStream. A message is a record; so is a packet without one.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingest/file_decoder.h"
#include "ingest/packet_protocol.h"
#include "ingest/packet_stream.h"

namespace tocsin {

class CaptureDecoder final : public FileDecoder {
 public:
  using ProtocolMaker = Result<std::unique_ptr<PacketProtocol>> (*)(
      const FileSourceOptions& options, FeedLedger& ledger);

  // Reads the capture's header. The error is its, or the protocol's.
  static Result<std::unique_ptr<Source>> open(std::unique_ptr<ByteStream> stream,
                                              const FileSourceOptions& options,
                                              ProtocolMaker make_protocol);

  // A capture of which no packet is the protocol's (100 packets, or all of a shorter one) is an
  // error.
  SourceStatus next(EventBatch& batch) noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;
  std::string venue() const override { return protocol_->venue(); }

 private:
  using FileDecoder::FileDecoder;

  SourceStatus next_packet(EventBatch& batch);
  SourceStatus fail_packets();
  SourceStatus fail_foreign();

  std::unique_ptr<PacketStream> packets_;
  std::unique_ptr<PacketProtocol> protocol_;
  Packet packet_;
  std::array<std::uint64_t, kPacketKindCount> packet_counts_{};
};

}  // namespace tocsin
