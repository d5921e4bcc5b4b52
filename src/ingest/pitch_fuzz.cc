// Any bytes as PITCH datagrams.
#include "ingest/packet_fuzz.h"
#include "ingest/pitch_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)tocsin::looks_like_pitch(bytes);
  tocsin::feed_datagrams<tocsin::PitchProtocol>(bytes);
  return 0;
}
