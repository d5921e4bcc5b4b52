// Packets, streams, messages and groups of MDP 3.0; what they do to books is in mdp3_books.cc.
#include "ingest/mdp3_protocol.h"

#include <algorithm>

namespace tocsin {
namespace {

constexpr std::size_t kPacketHeaderBytes = 12;
constexpr std::size_t kMessageHeaderBytes = 10;  // its size, then SBE's header
constexpr std::size_t kStreamsMax = 64;
constexpr std::uint16_t kSchemaId = 1;

struct MessageCount {
  std::uint32_t count = 0;  // one whose size cannot be counts too, and is the last
  bool is_whole = true;     // all sizes fit the packet
};

// Messages of a packet are counted before they are decoded, since the header does not tell how many
// there are.
MessageCount count_messages(std::span<const std::byte> messages) noexcept {
  MessageCount counted;
  while (!messages.empty()) {
    ++counted.count;
    const std::size_t size =
        messages.size() < kMessageHeaderBytes ? 0 : load_little<std::uint16_t>(messages.data());
    counted.is_whole = size >= kMessageHeaderBytes && size <= messages.size();
    if (!counted.is_whole) break;
    messages = messages.subspan(size);
  }
  return counted;
}

}  // namespace

MdpProtocol::MdpProtocol(FeedLedger& ledger, const MdpOptions& options)
    : PacketProtocol(ledger),
      options_(options),
      layout_(options_.layout ? *options_.layout : MdpLayout::built_in()),
      counts_(layout_.templates().size()) {}

PacketProtocol::Content MdpProtocol::open_payload() {
  if (datagram_.payload.size() < kPacketHeaderBytes) {
    packet_fault_ = "no MDP 3.0 packet header";
    return Content::kMalformed;
  }
  const WireRecord<kPacketHeaderBytes> header(datagram_.payload.first<kPacketHeaderBytes>());
  const std::span<const std::byte> body = datagram_.payload.subspan(kPacketHeaderBytes);
  const MessageCount counted = count_messages(body);
  if (!counted.is_whole && !recognised()) {
    packet_fault_ = "MDP 3.0 messages whose sizes contradict the packet's";
    return Content::kMalformed;
  }
  sequence_ = header.little<std::uint32_t, 0>();
  stream_ = &stream_of(datagram_.destination, sequence_, header.little<std::uint64_t, 4>());
  follow_week(*stream_);
  const SequenceFinding finding = stream_->sequences.check(sequence_);
  if (ledger_.count_sequence(finding).has(Quality::kGap)) {
    ++stream_->gap_count;
    updated_.clear();  // the end of the event may be among what is missing
    for (Security& security : securities_) security.in_update = false;
  }
  // The second line's copy, or late: its changes lie before some that were made already.
  if (finding.quality.has(Quality::kDuplicate) || finding.quality.has(Quality::kOutOfOrder)) {
    duplicate_packet_count_ += finding.quality.has(Quality::kDuplicate) ? 1 : 0;
    return Content::kNone;
  }
  messages_ = WireReader(body);
  message_count_ = counted.count;
  return message_count_ > 0 ? Content::kMessages : Content::kNone;
}

// Channels number from one each week, and so do the reports of their securities. An hour without a
// packet and the number one are a new week: what rested is not known anymore.
void MdpProtocol::follow_week(Stream& stream) noexcept {
  constexpr std::int64_t kHourNs = 3'600 * std::int64_t{1'000'000'000};
  const bool is_new_week = sequence_ == 1 && stream.sequences.started() &&
                           stream.sequences.expected() > 2 &&
                           datagram_.receive_time_ns - stream.last_receive_time_ns > kHourNs;
  stream.last_receive_time_ns = datagram_.receive_time_ns;
  if (!is_new_week) return;
  stream.sequences.restart();
  for (Security& security : securities_) {
    if (&streams_[security.stream] != &stream) continue;
    lose_update(security);
    security.has_report = false;
    security.sequence = security.snapshot_sequence = 0;
  }
}

// The two lines of a channel carry the same numbers and times of sending. A destination is taken
// for the second line of a stream that has sent its first packet lately.
MdpProtocol::Stream& MdpProtocol::stream_of(std::uint64_t destination, std::uint32_t sequence,
                                            std::uint64_t sent) {
  const auto known = stream_by_destination_.find(destination);
  std::size_t index = 0;
  if (known != stream_by_destination_.end()) {
    index = known->second;
  } else {
    const auto same = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) {
      return stream.recent_times[sequence % stream.recent_times.size()] == sent;
    });
    index = static_cast<std::size_t>(same - streams_.begin());
    if (same == streams_.end()) {
      if (streams_.size() < kStreamsMax) streams_.emplace_back();
      index = streams_.size() - 1;
    }
    if (stream_by_destination_.size() < 2 * kStreamsMax) {
      stream_by_destination_.emplace(destination, index);
    }
  }
  Stream& stream = streams_[index];
  stream.recent_times[sequence % stream.recent_times.size()] = sent;
  return stream;
}

void MdpProtocol::decode_next(EventBatch& batch) {
  const auto size = messages_.little<std::uint16_t>();
  WireReader body(messages_.take(size < 2 ? SIZE_MAX : size - 2U));
  const auto block_bytes = body.little<std::uint16_t>();
  const auto template_id = body.little<std::uint16_t>();
  body.skip(4);  // schema and version: fields that a version appends lie behind the known ones
  const std::span<const std::byte> block = body.take(block_bytes);
  if (!messages_.ok() || !body.ok()) {
    ++stream_->gap_count;  // what was lost is not known
    ledger_.count_malformed("a message whose size contradicts the packet's or its block's");
    return drop_rest_of_packet();
  }
  const MdpTemplate* layout = layout_.find(template_id);
  if (layout == nullptr) {
    ++unknown_template_count_;
    ++ledger_.counts().ignored;
    return;
  }
  ++counts_[static_cast<std::size_t>(layout - layout_.templates().data())];
  Message message{.layout = *layout, .block = block, .groups = {}, .batch = batch};
  std::int64_t time_ns = 0;
  message.time_ns =
      layout->transact_time.read(block, time_ns) ? time_ns : datagram_.receive_time_ns;
  Outcome outcome = Outcome::kMalformed;
  if (read_groups(body, message)) outcome = decode_message(message);
  switch (outcome) {
    case Outcome::kDecoded:
      return;
    case Outcome::kIgnored:
      ++ledger_.counts().ignored;
      return;
    case Outcome::kFiltered:
      ++ledger_.counts().filtered;
      return;
    case Outcome::kMalformed:
      ++stream_->gap_count;
      return ledger_.count_malformed(layout->name + ": a group or code that cannot be");
    case Outcome::kBadQuantity:
      return ledger_.count_bad_quantity(layout->name + ": a price or quantity that cannot be");
  }
}

bool MdpProtocol::read_groups(WireReader& body, Message& message) const {
  const std::vector<SbeGroup>& groups = message.layout.groups;
  for (std::size_t i = 0; i < std::min(groups.size(), message.groups.size()); ++i) {
    const SbeGroup& group = groups[i];
    if (body.left().empty()) break;  // an older version's message, without the later groups
    const std::span<const std::byte> header = body.take(group.header_bytes);
    std::int64_t entry_bytes = 0;
    std::int64_t entry_count = 0;
    if (!body.ok() || !group.block_length.read(header, entry_bytes) ||
        !group.entry_count.read(header, entry_count) || entry_bytes < 0 || entry_count < 0 ||
        entry_bytes > UINT16_MAX || entry_count > UINT16_MAX) {
      return false;
    }
    const std::span<const std::byte> entries =
        body.take(static_cast<std::size_t>(entry_bytes * entry_count));
    if (!body.ok()) return false;
    message.groups[i] = {.first = entries.data(),
                         .entry_bytes = static_cast<std::size_t>(entry_bytes),
                         .entry_count = static_cast<std::size_t>(entry_count)};
  }
  return true;
}

MdpProtocol::Outcome MdpProtocol::decode_message(Message& message) {
  constexpr std::int64_t kEndOfEvent = 0x80;
  Outcome outcome = Outcome::kIgnored;
  switch (message.layout.kind) {
    case MdpKind::kBook:
      outcome = options_.by_order ? decode_orders_of(message) : decode_book(message);
      break;
    case MdpKind::kOrderBook:
      outcome = decode_order_book(message);
      break;
    case MdpKind::kTrades:
      outcome = decode_trades(message);
      break;
    case MdpKind::kStatistics:
      outcome = decode_statistics(message);
      break;
    case MdpKind::kSnapshot:
      return decode_snapshot(message);
    case MdpKind::kOrderSnapshot:
      return decode_order_snapshot(message);
    case MdpKind::kStatus:
      outcome = decode_status(message);
      break;
    case MdpKind::kDefinition:
      return decode_definition(message);
    case MdpKind::kReset:
      return decode_reset(message);
    case MdpKind::kHeartbeat:
    case MdpKind::kOther:
      return Outcome::kIgnored;
  }
  std::int64_t indicator = 0;
  if (message.layout.match_event.read(message.block, indicator) && (indicator & kEndOfEvent) != 0) {
    end_event(message);
  }
  return outcome;
}

void MdpProtocol::end_event(const Message& message) {
  for (const std::uint32_t index : updated_) {
    Security& security = securities_[index];
    security.in_update = false;
    const bool is_here = security.last_record == ledger_.counts().records;
    MarketEvent& last = is_here ? message.batch[security.last_index]
                                : add_event(message, security, EventKind::kEndOfUpdate);
    last.end_of_update = true;
  }
  updated_.clear();
}

MdpProtocol::Security* MdpProtocol::find_security(std::int64_t id) {
  const auto key = static_cast<std::int32_t>(id);
  const auto found = security_by_id_.find(key);
  if (found != security_by_id_.end()) return &securities_[found->second];
  security_by_id_.emplace(key, static_cast<std::uint32_t>(securities_.size()));
  Security& security = securities_.emplace_back();
  security.id = key;
  security.gap_count = stream_->gap_count;
  security.stream = static_cast<std::size_t>(stream_ - streams_.data());
  const std::string name = std::to_string(key);
  security.wanted = ledger_.wants(name);
  if (security.wanted) security.instrument = ledger_.add_instrument({.symbol = name});
  return &security;
}

std::string MdpProtocol::venue() const { return "CME Globex MDP 3.0"; }

// All packets of a line are of one stream: lines of several channels are several sources.
std::optional<PacketRange> MdpProtocol::range_of(
    std::span<const std::byte> payload) const noexcept {
  if (payload.size() < kPacketHeaderBytes) return std::nullopt;
  return PacketRange{.stream = 0, .first = load_little<std::uint32_t>(payload.data()), .count = 1};
}

std::vector<std::pair<std::string, std::uint64_t>> MdpProtocol::counts_by_type() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) counts.emplace_back(layout_.templates()[i].name, counts_[i]);
  }
  if (unknown_template_count_ > 0) {
    counts.emplace_back("message of an unknown template", unknown_template_count_);
  }
  if (duplicate_packet_count_ > 0)
    counts.emplace_back("packet seen before", duplicate_packet_count_);
  return counts;
}

bool looks_like_mdp3(std::span<const std::byte> payload) noexcept {
  if (payload.size() < kPacketHeaderBytes + kMessageHeaderBytes) return false;
  const std::span<const std::byte> body = payload.subspan(kPacketHeaderBytes);
  if (!count_messages(body).is_whole) return false;
  const WireRecord<kMessageHeaderBytes> header(body.first<kMessageHeaderBytes>());
  const MdpTemplate* layout = MdpLayout::built_in().find(header.little<std::uint16_t, 4>());
  return layout != nullptr && header.little<std::uint16_t, 6>() == kSchemaId &&
         header.little<std::uint16_t, 2>() + kMessageHeaderBytes <=
             header.little<std::uint16_t, 0>();
}

}  // namespace tocsin
