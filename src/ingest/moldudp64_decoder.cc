// ITCH 5.0 in MoldUDP64 packets of a capture. A message is a record; so is a packet without one.
// Both lines of a feed may be in the capture: what comes again is a duplicate, not an error.
// Source: "MoldUDP64 Protocol Specification" V 1.00.
#include <algorithm>
#include <array>
#include <string>

#include "ingest/decoders.h"
#include "ingest/gap_detector.h"
#include "ingest/itch_feed_decoder.h"
#include "ingest/packet_stream.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::size_t kSessionBytes = 10;
constexpr std::uint16_t kEndOfSession = 0xFFFF;
constexpr std::size_t kSessionsMax = 16;
constexpr std::uint32_t kForeignPacketsMax = 100;  // so many and no good one: another protocol

// Sequence numbers count within a session; stock locates hold within it.
struct Session {
  std::string_view name() const noexcept { return {id.data(), id.size()}; }

  std::array<char, kSessionBytes> id{};
  ItchStream messages;
  GapDetector sequences;
  bool has_midnight = false;
};

// ITCH counts from midnight in New York and names no date. The capture's own clock tells which
// midnight: the whole hour of UTC nearest to (capture time - message time).
std::int64_t nearest_midnight_ns(std::int64_t capture_time_ns, std::int64_t message_time_ns) {
  constexpr std::int64_t kHourNs = 3'600 * std::int64_t{1'000'000'000};
  if (capture_time_ns < message_time_ns) return 0;  // a capture without true times
  return (capture_time_ns - message_time_ns + kHourNs / 2) / kHourNs * kHourNs;
}

class MoldUdp64Decoder final : public ItchFeedDecoder {
 public:
  MoldUdp64Decoder(std::unique_ptr<ByteStream> stream, const FileSourceOptions& options)
      : ItchFeedDecoder(std::move(stream), options.symbols) {
    sessions_.reserve(kSessionsMax);
  }

  Status open() {
    TOCSIN_ASSIGN_OR_RETURN(packets_, PacketStream::open(*stream_));
    return {};
  }

  SourceStatus next(EventBatch& batch) noexcept override {
    batch.clear();
    if (message_index_ < message_count_) return next_message(batch);
    switch (packets_->next(packet_)) {
      case PacketStatus::kPacket:
        break;
      case PacketStatus::kEnd:
        return sessions_.empty() && counters_.malformed > 0 ? fail_foreign() : end_of_stream();
      case PacketStatus::kError:
        return fail_packets();
    }
    return next_packet(batch);
  }

  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 protected:
  std::string place() const override;

 private:
  enum class Content : std::uint8_t { kMessages, kNone, kMalformed };

  SourceStatus next_packet(EventBatch& batch);
  SourceStatus next_message(EventBatch& batch);
  Content open_packet();
  Content open_payload();
  // Null if the capture holds more sessions than kSessionsMax.
  Session* find_session(std::string_view id);
  void count_finding(const SequenceFinding& finding) noexcept;
  void drop_rest_of_packet() noexcept { message_index_ = message_count_ = 0; }
  SourceStatus fail_packets();
  SourceStatus fail_foreign();

  std::unique_ptr<PacketStream> packets_;
  std::array<std::uint64_t, kPacketKindCount> packet_counts_{};
  std::uint64_t heartbeat_count_ = 0;
  std::uint64_t end_of_session_count_ = 0;
  std::vector<Session> sessions_;  // never more than reserved, so that pointers hold

  // The packet at hand.
  Packet packet_;
  Session* session_ = nullptr;
  WireReader messages_{{}};
  std::uint64_t sequence_ = 0;  // of its first message
  std::uint32_t message_index_ = 0;
  std::uint32_t message_count_ = 0;
  const char* packet_fault_ = "";  // a literal
};

SourceStatus MoldUdp64Decoder::next_packet(EventBatch& batch) {
  drop_rest_of_packet();
  const Content content = open_packet();
  if (content == Content::kMessages) [[likely]]
    return next_message(batch);
  ++counters_.records;
  if (content == Content::kNone) {
    ++counters_.ignored;
  } else {
    count_malformed(packet_fault_);
    if (sessions_.empty() && counters_.malformed >= kForeignPacketsMax) return fail_foreign();
  }
  return yield(batch);
}

MoldUdp64Decoder::Content MoldUdp64Decoder::open_packet() {
  ++packet_counts_[static_cast<std::size_t>(packet_.kind)];
  switch (packet_.kind) {
    case PacketKind::kUdp:
      return open_payload();
    case PacketKind::kFragment:
    case PacketKind::kTcp:
    case PacketKind::kOtherProtocol:
      return Content::kNone;
    case PacketKind::kMalformed:
      packet_fault_ = packet_.fault;
      return Content::kMalformed;
    case PacketKind::kCut:
      packet_fault_ = "the capture kept only a part of the packet";
      return Content::kMalformed;
  }
  return Content::kNone;
}

MoldUdp64Decoder::Content MoldUdp64Decoder::open_payload() {
  messages_ = WireReader(packet_.payload);
  const std::string_view id = messages_.text(kSessionBytes);
  sequence_ = messages_.big<std::uint64_t>();
  const auto count = messages_.big<std::uint16_t>();
  const bool is_text =
      std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c < 127; });
  if (!messages_.ok() || !is_text) {
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

SourceStatus MoldUdp64Decoder::next_message(EventBatch& batch) {
  ++counters_.records;
  const std::uint64_t sequence = sequence_ + message_index_;
  ++message_index_;
  const std::span<const std::byte> bytes = messages_.take(messages_.big<std::uint16_t>());
  // What is dropped here is found missing by the next packet of the session.
  if (!messages_.ok()) {
    count_malformed("the packet ends inside the message");
    drop_rest_of_packet();
    return yield(batch);
  }
  if (!check_message(bytes)) {
    drop_rest_of_packet();
    return yield(batch);
  }
  const SequenceFinding finding = session_->sequences.check(sequence);
  count_finding(finding);
  if (!finding.quality.has(Quality::kDuplicate)) {
    const bool is_late = finding.quality.has(Quality::kOutOfOrder);
    if (!session_->has_midnight) {
      const std::uint64_t time_ns = WireRecord<11>(bytes.first<11>()).big48<5>();
      session_->messages.midnight_time_ns =
          nearest_midnight_ns(packet_.capture_time_ns, static_cast<std::int64_t>(time_ns));
      session_->has_midnight = true;
    }
    decode_message(session_->messages,
                   {.bytes = bytes,
                    .sequence = sequence,
                    .receive_time_ns = packet_.capture_time_ns,
                    .is_late = is_late},
                   batch);
  }
  if (message_index_ == message_count_ && !messages_.left().empty()) {
    count_malformed("bytes after the packet's last message");
  }
  return yield(batch);
}

Session* MoldUdp64Decoder::find_session(std::string_view id) {
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

void MoldUdp64Decoder::count_finding(const SequenceFinding& finding) noexcept {
  if (count_sequence(finding).has(Quality::kGap)) ++session_->messages.gap_count;
}

SourceStatus MoldUdp64Decoder::fail_packets() {
  if (!stream_->status().ok()) return end_of_stream();
  return fail(packets_->error().code(), packets_->error().message());
}

SourceStatus MoldUdp64Decoder::fail_foreign() {
  const std::string first = faults().empty() ? "" : faults().front().message;
  return fail(ErrorCode::kDataLoss, "no packet of the capture is MoldUDP64; first fault: " + first);
}

std::string MoldUdp64Decoder::place() const {
  std::string text = "packet " + std::to_string(packet_.number);
  if (message_count_ > 0) {
    text += ", message " + std::to_string(message_index_) + " of " + std::to_string(message_count_);
  }
  return text + ": ";
}

std::vector<std::pair<std::string, std::uint64_t>> MoldUdp64Decoder::counts_by_type() const {
  auto counts = ItchFeedDecoder::counts_by_type();
  for (std::size_t i = 0; i < packet_counts_.size(); ++i) {
    if (packet_counts_[i] == 0) continue;
    counts.emplace_back(packet_kind_name(static_cast<PacketKind>(i)), packet_counts_[i]);
  }
  if (heartbeat_count_ > 0) counts.emplace_back("heartbeat", heartbeat_count_);
  if (end_of_session_count_ > 0) counts.emplace_back("end of session", end_of_session_count_);
  return counts;
}

}  // namespace

Result<std::unique_ptr<Source>> make_moldudp64_decoder(std::unique_ptr<ByteStream> stream,
                                                       const FileSourceOptions& options) {
  auto decoder = std::make_unique<MoldUdp64Decoder>(std::move(stream), options);
  TOCSIN_RETURN_IF_ERROR(decoder->open());
  return std::unique_ptr<Source>(std::move(decoder));
}

}  // namespace tocsin
