// The packet protocols that captures are read with: one maker a format.
#include "ingest/capture_decoder.h"
#include "ingest/decoders.h"
#include "ingest/moldudp64_protocol.h"

namespace tocsin {

Result<std::unique_ptr<Source>> make_moldudp64_decoder(std::unique_ptr<ByteStream> stream,
                                                       const FileSourceOptions& options) {
  return CaptureDecoder::open(std::move(stream), options.symbols, [](FeedLedger& ledger) {
    return std::make_unique<MoldUdp64Protocol>(ledger);
  });
}

}  // namespace tocsin
