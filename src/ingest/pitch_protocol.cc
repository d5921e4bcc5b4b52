// The packets: units, their numbers and times. What the messages mean is in pitch_orders.cc.
#include "ingest/pitch_protocol.h"

#include <algorithm>

#include "base/decimal.h"
#include "ingest/feed_midnight.h"

namespace tocsin {
namespace {

constexpr std::int64_t kHourNs = 3'600 * std::int64_t{1'000'000'000};

struct UnitHeader {
  std::uint16_t length = 0;
  std::uint8_t count = 0;
  std::uint8_t unit = 0;
  std::uint32_t sequence = 0;
};

std::optional<UnitHeader> read_header(std::span<const std::byte> payload) noexcept {
  if (payload.size() < kPitchHeaderBytes) return std::nullopt;
  const WireRecord<kPitchHeaderBytes> record(payload.first<kPitchHeaderBytes>());
  const UnitHeader header{.length = record.little<std::uint16_t, 0>(),
                          .count = record.little<std::uint8_t, 2>(),
                          .unit = record.little<std::uint8_t, 3>(),
                          .sequence = record.little<std::uint32_t, 4>()};
  if (header.length < kPitchHeaderBytes || header.length > payload.size()) return std::nullopt;
  return header;
}

}  // namespace

PitchProtocol::PitchProtocol(FeedLedger& ledger) : PacketProtocol(ledger) {}

PacketProtocol::Content PitchProtocol::open_payload() {
  const auto header = read_header(datagram_.payload);
  if (!header) {
    packet_fault_ = "no sequenced unit header, or a payload shorter than it says";
    return Content::kMalformed;
  }
  unit_ = &unit_of(header->unit);
  sequence_ = header->sequence;
  messages_ =
      WireReader(datagram_.payload.subspan(kPitchHeaderBytes, header->length - kPitchHeaderBytes));
  message_count_ = header->count;
  if (sequence_ != 0) open_unit(sequence_);
  if (message_count_ > 0) return Content::kMessages;
  ++heartbeat_count_;
  if (sequence_ != 0) count_finding(unit_->sequences.check_range(sequence_, 0));
  return Content::kNone;
}

// Units number from one each day. An hour without a message and the number one are a new day.
void PitchProtocol::open_unit(std::uint32_t first) {
  GapDetector& sequences = unit_->sequences;
  const bool is_new_day = first == 1 && sequences.started() && sequences.expected() > 1 &&
                          datagram_.receive_time_ns - unit_->last_receive_time_ns > kHourNs;
  if (is_new_day) {
    sequences.restart();
    unit_->orders.clear();
    unit_->has_second = false;
    unit_->last_time_ns = INT64_MIN;
    for (Symbol& symbol : unit_->symbols) symbol.cleared = false;
  }
  if (!sequences.started()) unit_->from_start = first == 1;
  if (message_count_ > 0) unit_->last_receive_time_ns = datagram_.receive_time_ns;
}

PitchProtocol::Unit& PitchProtocol::unit_of(std::uint8_t number) {
  if (unit_index_[number] == 0) {
    units_.emplace_back().number = number;
    unit_index_[number] = static_cast<std::uint16_t>(units_.size());
  }
  return units_[unit_index_[number] - 1U];
}

void PitchProtocol::decode_next(EventBatch& batch) {
  const std::uint64_t sequence = sequence_ == 0 ? 0 : std::uint64_t{sequence_} + message_index_ - 1;
  const std::span<const std::byte> left = messages_.left();
  const std::size_t size = left.empty() ? 0 : std::to_integer<std::size_t>(left[0]);
  if (size < 2 || size > left.size()) {
    ledger_.count_malformed(size > left.size() || left.empty()
                                ? "the packet ends inside the message"
                                : "a message shorter than its length and type");
    return drop_rest_of_packet();
  }
  const std::span<const std::byte> bytes = messages_.take(size);
  const std::size_t index = kPitchTypeByByte[std::to_integer<std::size_t>(bytes[1])];
  const bool is_known = index < kPitchMessageTypes.size();
  if (is_known && size < kPitchMessageTypes[index].size_bytes_min) {
    ledger_.count_malformed("a message \"" + std::string(kPitchMessageTypes[index].name) +
                            "\" of " + std::to_string(size) + " bytes; it has " +
                            std::to_string(kPitchMessageTypes[index].size_bytes_min));
    return drop_rest_of_packet();
  }
  SequenceFinding finding;
  if (sequence != 0) finding = unit_->sequences.check(sequence);
  count_finding(finding);
  if (!finding.quality.has(Quality::kDuplicate)) {
    if (is_known) {
      ++counts_[index];
      decode_message({.type = kPitchMessageTypes[index].type,
                      .bytes = bytes,
                      .sequence = sequence,
                      .is_late = finding.quality.has(Quality::kOutOfOrder),
                      .batch = batch});
    } else {
      ++unknown_type_count_;
      ++ledger_.counts().ignored;
    }
  }
  if (message_index_ == message_count_ && !messages_.left().empty()) {
    ledger_.count_malformed("bytes after the packet's last message");
  }
}

// Before the first second was told, the receiver's clock tells it, if right to half a second.
std::int64_t PitchProtocol::time_of(const Message& message) noexcept {
  const auto offset_ns = std::int64_t{load_little<std::uint32_t>(message.bytes.data() + 2)};
  if (unit_->has_second) return unit_->second_time_ns + offset_ns;
  const std::int64_t since_ns = std::max<std::int64_t>(datagram_.receive_time_ns - offset_ns, 0);
  return (since_ns / kNanosPerUnit + (since_ns % kNanosPerUnit >= kNanosPerUnit / 2 ? 1 : 0)) *
             kNanosPerUnit +
         offset_ns;
}

PitchProtocol::Outcome PitchProtocol::decode_time(const Message& message) {
  const std::int64_t seconds = load_little<std::uint32_t>(message.bytes.data() + 2);
  constexpr std::size_t kSizeWithEpoch = 10;
  unit_->has_second = true;
  if (message.bytes.size() >= kSizeWithEpoch) {
    const std::int64_t epoch = load_little<std::uint32_t>(message.bytes.data() + 6);
    unit_->second_time_ns = epoch * kNanosPerUnit;
    return Outcome::kIgnored;
  }
  unit_->second_time_ns = nearest_midnight_ns(datagram_.receive_time_ns, seconds * kNanosPerUnit) +
                          seconds * kNanosPerUnit;
  return Outcome::kIgnored;
}

void PitchProtocol::count_finding(const SequenceFinding& finding) noexcept {
  if (!ledger_.count_sequence(finding).has(Quality::kGap)) return;
  ++unit_->gap_count;
  // The end of the transaction may be among what is missing.
  unit_->in_transaction = false;
}

std::optional<PacketRange> PitchProtocol::range_of(
    std::span<const std::byte> payload) const noexcept {
  const auto header = read_header(payload);
  if (!header || header->sequence == 0) return std::nullopt;
  return PacketRange{.stream = header->unit, .first = header->sequence, .count = header->count};
}

std::vector<std::pair<std::string, std::uint64_t>> PitchProtocol::counts_by_type() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) counts.emplace_back(std::string(kPitchMessageTypes[i].name), counts_[i]);
  }
  const auto add = [&counts](const char* name, std::uint64_t count) {
    if (count > 0) counts.emplace_back(name, count);
  };
  add("message of an unknown type", unknown_type_count_);
  add("message of an order not seen before", unknown_order_count_);
  add("heartbeat", heartbeat_count_);
  return counts;
}

bool looks_like_pitch(std::span<const std::byte> payload) noexcept {
  const auto header = read_header(payload);
  if (!header || header->length != payload.size()) return false;
  std::span<const std::byte> left = payload.subspan(kPitchHeaderBytes);
  for (unsigned i = 0; i < header->count; ++i) {
    if (left.size() < 2) return false;
    const auto size = std::to_integer<std::size_t>(left[0]);
    const std::size_t index = kPitchTypeByByte[std::to_integer<std::size_t>(left[1])];
    if (index == kPitchMessageTypes.size() || size > left.size() ||
        size < kPitchMessageTypes[index].size_bytes_min) {
      return false;
    }
    left = left.subspan(size);
  }
  return left.empty();
}

}  // namespace tocsin
