// Any bytes as IEX-TP datagrams.
#include "ingest/iex_protocol.h"
#include "ingest/packet_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)tocsin::looks_like_iex(bytes);
  tocsin::feed_datagrams<tocsin::IexProtocol>(bytes);
  return 0;
}
