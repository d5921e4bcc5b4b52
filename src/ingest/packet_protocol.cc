// The frame around every packet protocol: what is a record, and where in the packet it stands.
#include "ingest/packet_protocol.h"

#include "base/assert.h"

namespace tocsin {

void PacketProtocol::take(const Datagram& datagram, EventBatch& batch) {
  drop_rest_of_packet();
  datagram_ = datagram;
  switch (open_payload()) {
    case Content::kMessages:
      recognised_ = true;
      return next_message(batch);
    case Content::kNone:
      recognised_ = true;
      ++ledger_.counts().records;
      ++ledger_.counts().ignored;
      return;
    case Content::kMalformed:
      ++ledger_.counts().records;
      return ledger_.count_malformed(packet_fault_);
  }
}

void PacketProtocol::refuse(std::uint64_t number, std::string_view fault) {
  drop_rest_of_packet();
  datagram_ = {.payload = {}, .receive_time_ns = 0, .number = number, .destination = 0};
  ++ledger_.counts().records;
  ledger_.count_malformed(fault);
}

void PacketProtocol::next_message(EventBatch& batch) {
  TOCSIN_ASSERT(has_message());
  ++message_index_;
  ++ledger_.counts().records;
  decode_next(batch);
}

std::string PacketProtocol::place() const {
  std::string text = "packet " + std::to_string(datagram_.number);
  if (message_count_ > 0) {
    text += ", message " + std::to_string(message_index_) + " of " + std::to_string(message_count_);
  }
  return text + ": ";
}

}  // namespace tocsin
