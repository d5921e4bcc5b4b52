// The header, the sessions and their numbers; the messages are ItchFeedDecoder's.
#include "ingest/moldudp64_protocol.h"

#include <algorithm>

#include "ingest/feed_midnight.h"

namespace tocsin {
namespace {

constexpr std::uint16_t kEndOfSession = 0xFFFF;
constexpr std::size_t kSessionsMax = 16;

bool is_text(std::string_view id) noexcept {
  return std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c < 127; });
}

}  // namespace

MoldUdp64Protocol::MoldUdp64Protocol(FeedLedger& ledger) : PacketProtocol(ledger), itch_(ledger) {
  sessions_.reserve(kSessionsMax);
}

PacketProtocol::Content MoldUdp64Protocol::open_payload() {
  messages_ = WireReader(datagram_.payload);
  const std::string_view id = messages_.text(kMoldSessionBytes);
  sequence_ = messages_.big<std::uint64_t>();
  const auto count = messages_.big<std::uint16_t>();
  if (!messages_.ok() || !is_text(id)) {
    packet_fault_ = "no MoldUDP64 header (session, sequence number, message count)";
    return Content::kMalformed;
  }
  session_ = find_session(id);
  if (session_ == nullptr) {
    packet_fault_ = "a 17th session in one capture; 16 are read";
    return Content::kMalformed;
  }
  if (count != 0 && count != kEndOfSession) {
    message_count_ = count;
    return Content::kMessages;
  }
  ++(count == 0 ? heartbeat_count_ : end_of_session_count_);
  count_finding(session_->sequences.check_range(sequence_, 0));
  return Content::kNone;
}

std::optional<PacketRange> MoldUdp64Protocol::range_of(
    std::span<const std::byte> payload) const noexcept {
  WireReader header(payload);
  const std::string_view id = header.text(kMoldSessionBytes);
  const auto first = header.big<std::uint64_t>();
  const auto count = header.big<std::uint16_t>();
  if (!header.ok() || !is_text(id)) return std::nullopt;
  return PacketRange{.stream = std::hash<std::string_view>{}(id),
                     .first = first,
                     .count = count == kEndOfSession ? std::uint64_t{0} : count};
}

void MoldUdp64Protocol::decode_next(EventBatch& batch) {
  const std::uint64_t sequence = sequence_ + message_index_ - 1;
  const std::span<const std::byte> bytes = messages_.take(messages_.big<std::uint16_t>());
  // What is dropped here is found missing by the next packet of the session.
  if (!messages_.ok()) {
    ledger_.count_malformed("the packet ends inside the message");
    return drop_rest_of_packet();
  }
  if (!itch_.check_message(bytes)) return drop_rest_of_packet();
  const SequenceFinding finding = session_->sequences.check(sequence);
  count_finding(finding);
  if (!finding.quality.has(Quality::kDuplicate)) {
    const bool is_late = finding.quality.has(Quality::kOutOfOrder);
    if (!session_->has_midnight) {
      const std::uint64_t time_ns = WireRecord<11>(bytes.first<11>()).big48<5>();
      session_->messages.midnight_time_ns =
          nearest_midnight_ns(datagram_.receive_time_ns, static_cast<std::int64_t>(time_ns));
      session_->has_midnight = true;
    }
    itch_.decode_message(session_->messages,
                         {.bytes = bytes,
                          .sequence = sequence,
                          .receive_time_ns = datagram_.receive_time_ns,
                          .is_late = is_late},
                         batch);
  }
  if (message_index_ == message_count_ && !messages_.left().empty()) {
    ledger_.count_malformed("bytes after the packet's last message");
  }
}

MoldUdp64Protocol::Session* MoldUdp64Protocol::find_session(std::string_view id) {
  if (session_ != nullptr && session_->name() == id) return session_;
  for (Session& session : sessions_) {
    if (session.name() == id) return &session;
  }
  if (sessions_.size() == kSessionsMax) return nullptr;
  Session& session = sessions_.emplace_back();
  std::copy(id.begin(), id.end(), session.id.begin());
  session.messages.has_receive_time = true;
  // Sessions may be of different venues with the same symbols: their books must not mix.
  if (sessions_.size() > 1) {
    session.messages.name_suffix = "@" + std::string(without_padding(id, ' '));
  }
  return &session;
}

void MoldUdp64Protocol::count_finding(const SequenceFinding& finding) noexcept {
  if (ledger_.count_sequence(finding).has(Quality::kGap)) ++session_->messages.gap_count;
}

std::vector<std::pair<std::string, std::uint64_t>> MoldUdp64Protocol::counts_by_type() const {
  auto counts = itch_.counts_by_type();
  if (heartbeat_count_ > 0) counts.emplace_back("heartbeat", heartbeat_count_);
  if (end_of_session_count_ > 0) counts.emplace_back("end of session", end_of_session_count_);
  return counts;
}

bool looks_like_moldudp64(std::span<const std::byte> payload) noexcept {
  WireReader packet(payload);
  const std::string_view id = packet.text(kMoldSessionBytes);
  packet.skip(8);
  const auto count = packet.big<std::uint16_t>();
  if (!packet.ok() || !is_text(id)) return false;
  if (count == 0 || count == kEndOfSession) return packet.left().empty();
  const auto size = packet.big<std::uint16_t>();
  const std::span<const std::byte> message = packet.take(size);
  if (message.empty()) return false;
  const ItchMessageType* type = itch_message_type(message[0]);
  return type != nullptr && type->size_bytes == size;
}

}  // namespace tocsin
