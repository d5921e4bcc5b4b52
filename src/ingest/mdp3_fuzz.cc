// Any bytes as MDP 3.0 datagrams, for books of price levels and of orders: the first byte tells.
#include "ingest/mdp3_protocol.h"
#include "ingest/packet_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)tocsin::looks_like_mdp3(bytes);
  if (bytes.empty()) return 0;
  const bool by_order = (data[0] & 1U) != 0;
  tocsin::feed_datagrams<tocsin::MdpProtocol>(bytes.subspan(1),
                                              tocsin::MdpOptions{.by_order = by_order});
  return 0;
}
