// Offsets are those of IEX's specifications; integers are little-endian, prices have four decimals.
// A session that is sent anew (test feeds are, under one number) is no duplicate: see
// follow_session().
#include "ingest/iex_protocol.h"

#include <algorithm>

#include "base/decimal.h"

namespace tocsin {
namespace {

constexpr std::size_t kChannelsMax = 16;
constexpr std::size_t kSymbolBytes = 8;
constexpr std::int64_t kNanosPerPriceUnit = 100'000;  // prices have four decimals
constexpr char kStartOfMessages = 'O';
constexpr std::uint8_t kTransactionComplete = 1;

template <std::size_t kSizeBytes>
WireRecord<kSizeBytes> record_of(std::span<const std::byte> bytes) noexcept {
  TOCSIN_ASSERT(bytes.size() >= kSizeBytes);
  return WireRecord<kSizeBytes>(bytes.first<kSizeBytes>());
}

struct IexTpHeader {
  std::uint8_t version = 0;
  std::uint16_t protocol = 0;
  std::uint32_t channel = 0;
  std::uint32_t session = 0;
  std::uint16_t payload_bytes = 0;
  std::uint16_t message_count = 0;
  std::uint64_t first = 0;
  std::int64_t send_time_ns = 0;
};

std::optional<IexTpHeader> read_header(std::span<const std::byte> payload) noexcept {
  if (payload.size() < kIexTpHeaderBytes) return std::nullopt;
  const auto header = record_of<kIexTpHeaderBytes>(payload);
  return IexTpHeader{.version = header.little<std::uint8_t, 0>(),
                     .protocol = header.little<std::uint16_t, 2>(),
                     .channel = header.little<std::uint32_t, 4>(),
                     .session = header.little<std::uint32_t, 8>(),
                     .payload_bytes = header.little<std::uint16_t, 12>(),
                     .message_count = header.little<std::uint16_t, 14>(),
                     .first = header.little<std::uint64_t, 24>(),
                     .send_time_ns = header.little<std::int64_t, 32>()};
}

bool is_decoded(std::uint16_t protocol) noexcept {
  return protocol == kIexTops15 || protocol == kIexTops16 || protocol == kIexDeep10;
}

// False if the price is negative or past what nanos can hold.
bool to_nanos(std::int64_t price, std::int64_t& nanos) noexcept {
  return price >= 0 && !__builtin_mul_overflow(price, kNanosPerPriceUnit, &nanos);
}

std::int64_t quantity_nanos(std::uint32_t shares) noexcept {
  return static_cast<std::int64_t>(shares) * kNanosPerUnit;
}

}  // namespace

IexProtocol::IexProtocol(FeedLedger& ledger) : PacketProtocol(ledger) {
  channels_.reserve(kChannelsMax);
}

PacketProtocol::Content IexProtocol::open_payload() {
  const auto header = read_header(datagram_.payload);
  if (!header || header->version != 1 ||
      datagram_.payload.size() - kIexTpHeaderBytes < header->payload_bytes) {
    packet_fault_ = "no IEX-TP header, or a payload shorter than it says";
    return Content::kMalformed;
  }
  if (!is_decoded(header->protocol)) {
    packet_fault_ = header->protocol == kIexDeepPlus
                        ? "IEX-TP of protocol 0x8005 (DEEP+); DEEP 1.0, TOPS 1.5 and 1.6 are read"
                        : "IEX-TP of an unknown protocol; DEEP 1.0, TOPS 1.5 and 1.6 are read";
    return Content::kMalformed;
  }
  channel_ = find_channel(header->protocol, header->channel);
  if (channel_ == nullptr) {
    packet_fault_ = "a 17th channel; 16 are read";
    return Content::kMalformed;
  }
  if (!follow_session(header->session, header->first, header->send_time_ns)) {
    ++ledger_.counts().duplicates;
    return Content::kNone;
  }
  sequence_ = header->first;
  messages_ = WireReader(datagram_.payload.subspan(kIexTpHeaderBytes, header->payload_bytes));
  message_count_ = header->message_count;
  if (message_count_ > 0) return Content::kMessages;
  ++heartbeat_count_;
  count_finding(channel_->sequences.check_range(sequence_, 0));
  return Content::kNone;
}

// A new session numbers from one. So does a session sent anew under its old number: told by the
// first number in a packet sent after all that came before (the copy of an old one was not).
bool IexProtocol::follow_session(std::uint32_t session, std::uint64_t first,
                                 std::int64_t send_time_ns) {
  const bool is_new = session != channel_->session;
  const bool is_anew = !is_new && first == 1 && channel_->sequences.started() &&
                       channel_->sequences.expected() > 1 &&
                       send_time_ns > channel_->last_send_time_ns;
  if (is_new && send_time_ns < channel_->last_send_time_ns) return false;
  if (is_new || is_anew) {
    if (channel_->sequences.started()) {
      ++restart_count_;
      start_over();
    }
    channel_->session = session;
    channel_->sequences.restart();
  }
  channel_->last_send_time_ns = std::max(channel_->last_send_time_ns, send_time_ns);
  return true;
}

void IexProtocol::start_over() {
  channel_->from_start_of_messages = false;
  // Whatever rested is not known anymore, until a start of messages says that nothing rests.
  ++channel_->gap_count;
  for (Security& security : channel_->securities) {
    security.cleared = false;
    security.in_transition = false;
    security.last_event_time_ns = INT64_MIN;
  }
}

void IexProtocol::decode_next(EventBatch& batch) {
  const std::uint64_t sequence = sequence_ + message_index_ - 1;
  const std::span<const std::byte> bytes = messages_.take(messages_.little<std::uint16_t>());
  if (!messages_.ok() || bytes.empty()) {
    ledger_.count_malformed(bytes.empty() && messages_.ok() ? "a message of no bytes"
                                                            : "the packet ends inside the message");
    return drop_rest_of_packet();
  }
  const std::size_t index = kIexTypeByLetter[std::to_integer<std::size_t>(bytes[0])];
  const bool is_known = index < kIexMessageTypes.size();
  if (is_known && bytes.size() < kIexMessageTypes[index].size_bytes_min) {
    const IexMessageType& type = kIexMessageTypes[index];
    ledger_.count_malformed("a message '" + std::string(1, type.letter) + "' (" +
                            std::string(type.name) + ") of " + std::to_string(bytes.size()) +
                            " bytes; it has " + std::to_string(type.size_bytes_min));
    return drop_rest_of_packet();
  }
  const SequenceFinding finding = channel_->sequences.check(sequence);
  count_finding(finding);
  if (!finding.quality.has(Quality::kDuplicate)) {
    if (is_known) {
      ++counts_[index];
      decode_message(bytes, sequence, finding.quality.has(Quality::kOutOfOrder), batch);
    } else {
      ++unknown_count_;
      ++ledger_.counts().ignored;
    }
  }
  if (message_index_ == message_count_ && !messages_.left().empty()) {
    ledger_.count_malformed("bytes after the packet's last message");
  }
}

void IexProtocol::decode_message(std::span<const std::byte> bytes, std::uint64_t sequence,
                                 bool is_late, EventBatch& batch) {
  const char letter = static_cast<char>(bytes[0]);
  if (letter == 'S') {
    ++ledger_.counts().ignored;
    if (record_of<10>(bytes).letter<1>() != kStartOfMessages || is_late) return;
    start_over();
    channel_->from_start_of_messages = true;
    channel_->gap_count = 0;
    for (Security& security : channel_->securities) security.gap_count = 0;
    return;
  }
  Security* security = find_security(bytes.subspan(10, kSymbolBytes));
  if (security == nullptr) return ledger_.count_malformed("a symbol that is no text");
  if (!security->wanted) {
    ++ledger_.counts().filtered;
    return;
  }
  Decoding decoding{bytes, *security, {}, batch};
  MarketEvent& event = decoding.event;
  event.exchange_time_ns = record_of<18>(bytes).little<std::int64_t, 2>();
  event.receive_time_ns = datagram_.receive_time_ns;
  event.sequence = sequence;
  event.record = ledger_.counts().records;
  event.instrument = security->instrument;
  if (is_late) event.quality = Quality::kOutOfOrder;
  const bool tells_gap = !is_late && security->gap_count != channel_->gap_count;
  if (tells_gap) event.quality |= letter == 'Q' ? Quality::kTradeGap : Quality::kGap;

  const std::size_t size_before = batch.size();
  const Outcome outcome = decode_body(decoding);
  if (batch.size() > size_before) {
    security->has_event = true;
    if (tells_gap) security->gap_count = channel_->gap_count;
  }
  if (is_late) [[unlikely]] {
    // The book does not change, so no frame is due.
    for (MarketEvent& late : std::span(batch).subspan(size_before)) late.end_of_update = false;
  }
  if (outcome == Outcome::kDecoded) [[likely]]
    return;
  count(outcome, letter);
  // A lost update leaves the book wrong: the next event tells.
  if (outcome == Outcome::kBadQuantity && !is_late) security->gap_count = channel_->gap_count - 1;
}

IexProtocol::Outcome IexProtocol::decode_body(const Decoding& decoding) {
  switch (static_cast<char>(decoding.bytes[0])) {
    case '8':
    case '5':
      return decode_level(decoding);
    case 'Q':
      return decode_quote(decoding);
    case 'T':
      return decode_trade(decoding);
    case 'H':
      return decode_trading_status(decoding);
    case 'O':
      return decode_operational_halt(decoding);
    case 'D':
      return decode_directory(decoding);
    default:
      return Outcome::kIgnored;
  }
}

// Times are compared within a security: IEX merges what several engines stamped. Statuses are
// repeated with the times of long ago, so only what trades is compared.
QualityFlags IexProtocol::check_event_time(const Decoding& decoding) noexcept {
  if (decoding.event.quality.has(Quality::kOutOfOrder)) return {};
  std::int64_t& last_time_ns = decoding.security.last_event_time_ns;
  const bool is_backwards = decoding.event.exchange_time_ns < last_time_ns;
  last_time_ns = decoding.event.exchange_time_ns;
  if (!is_backwards) return {};
  ++ledger_.counts().time_backwards;
  return Quality::kTimeBackwards;
}

IexProtocol::Outcome IexProtocol::decode_level(const Decoding& decoding) {
  const auto message = record_of<30>(decoding.bytes);
  Security& security = decoding.security;
  const bool is_late = decoding.event.quality.has(Quality::kOutOfOrder);
  const bool is_complete = (message.little<std::uint8_t, 1>() & kTransactionComplete) != 0;
  if (!is_late) security.in_transition = !is_complete;
  std::int64_t price_nanos = 0;
  if (!to_nanos(message.little<std::int64_t, 22>(), price_nanos)) return Outcome::kBadQuantity;
  if (channel_->from_start_of_messages && !security.cleared && !is_late) {
    security.cleared = true;
    MarketEvent& clear = decoding.add(EventKind::kClear);
    clear.quality = Quality::kSnapshot;
  }
  MarketEvent& event = decoding.add(EventKind::kSetLevel);
  event.quality |= check_event_time(decoding);
  event.side = message.letter<0>() == '8' ? Side::kBid : Side::kAsk;
  event.quantity_nanos = quantity_nanos(message.little<std::uint32_t, 18>());
  event.price_nanos = price_nanos;
  event.end_of_update = is_complete;
  return Outcome::kDecoded;
}

// The whole of the book that TOPS shows.
IexProtocol::Outcome IexProtocol::decode_quote(const Decoding& decoding) {
  const auto message = record_of<42>(decoding.bytes);
  std::int64_t bid_nanos = 0;
  std::int64_t ask_nanos = 0;
  if (!to_nanos(message.little<std::int64_t, 22>(), bid_nanos) ||
      !to_nanos(message.little<std::int64_t, 30>(), ask_nanos)) {
    return Outcome::kBadQuantity;
  }
  const auto bid_shares = message.little<std::uint32_t, 18>();
  const auto ask_shares = message.little<std::uint32_t, 38>();
  MarketEvent& clear = decoding.add(EventKind::kClear);
  clear.quality |= check_event_time(decoding);
  const auto add_level = [&decoding](Side side, std::int64_t price_nanos, std::uint32_t shares) {
    if (shares == 0) return;
    MarketEvent& level = decoding.add(EventKind::kSetLevel);
    level.quality.remove(Quality::kTradeGap);  // told once, by the clear
    level.side = side;
    level.price_nanos = price_nanos;
    level.quantity_nanos = quantity_nanos(shares);
  };
  add_level(Side::kBid, bid_nanos, bid_shares);
  add_level(Side::kAsk, ask_nanos, ask_shares);
  decoding.batch.back().end_of_update = true;
  return Outcome::kDecoded;
}

IexProtocol::Outcome IexProtocol::decode_trade(const Decoding& decoding) {
  const auto message = record_of<38>(decoding.bytes);
  std::int64_t price_nanos = 0;
  const auto shares = message.little<std::uint32_t, 18>();
  if (shares == 0 || !to_nanos(message.little<std::int64_t, 22>(), price_nanos)) {
    return Outcome::kBadQuantity;
  }
  MarketEvent& event = decoding.add(EventKind::kTrade);
  event.quality |= check_event_time(decoding);
  event.order_id = message.little<std::uint64_t, 30>();
  event.quantity_nanos = quantity_nanos(shares);
  event.price_nanos = price_nanos;
  event.end_of_update = !decoding.security.in_transition;
  return Outcome::kDecoded;
}

IexProtocol::Outcome IexProtocol::decode_trading_status(const Decoding& decoding) {
  Security& security = decoding.security;
  switch (record_of<22>(decoding.bytes).letter<1>()) {
    case 'T':
      security.status = TradingStatus::kTrading;
      break;
    case 'H':
    case 'P':  // paused, and not trading on IEX
      security.status = TradingStatus::kHalted;
      break;
    case 'O':  // halted elsewhere, orders are accepted for the auction
      security.status = TradingStatus::kAuction;
      break;
    default:
      return Outcome::kMalformed;
  }
  decoding.add(EventKind::kStatus).status =
      security.operational_halt ? TradingStatus::kHalted : security.status;
  return Outcome::kDecoded;
}

// A halt of IEX's own, beside the one that 'H' tells.
IexProtocol::Outcome IexProtocol::decode_operational_halt(const Decoding& decoding) {
  Security& security = decoding.security;
  const char code = record_of<18>(decoding.bytes).letter<1>();
  if (code != 'O' && code != 'N') return Outcome::kMalformed;
  const bool was_halted = security.operational_halt;
  security.operational_halt = code == 'O';
  if (security.operational_halt == was_halted) return Outcome::kIgnored;
  decoding.add(EventKind::kStatus).status =
      security.operational_halt ? TradingStatus::kHalted : security.status;
  return Outcome::kDecoded;
}

// Regulation NMS: steps of a cent from one dollar on, of a hundredth of a cent below.
IexProtocol::Outcome IexProtocol::decode_directory(const Decoding& decoding) {
  constexpr std::int64_t kOneDollar = 10'000;
  const auto closing_price = record_of<31>(decoding.bytes).little<std::int64_t, 22>();
  if (!decoding.security.has_event && closing_price > 0) {
    ledger_.set_price_tick(decoding.security.instrument,
                           closing_price < kOneDollar ? 100'000 : 10'000'000);
  }
  return Outcome::kIgnored;
}

IexProtocol::Channel* IexProtocol::find_channel(std::uint16_t protocol, std::uint32_t id) {
  for (Channel& channel : channels_) {
    if (channel.protocol == protocol && channel.id == id) return &channel;
  }
  if (channels_.size() == kChannelsMax) return nullptr;
  Channel& channel = channels_.emplace_back();
  channel.protocol = protocol;
  channel.id = id;
  // DEEP and TOPS have the same symbols: their books must not mix.
  if (channels_.size() > 1) {
    channel.name_suffix =
        (protocol == kIexDeep10 ? "@DEEP." : "@TOPS.") + std::to_string(channel.id);
  }
  return &channel;
}

IexProtocol::Security* IexProtocol::find_security(std::span<const std::byte> symbol) {
  const auto key = load_little<std::uint64_t>(symbol.data());
  const auto found = channel_->security_by_symbol.find(key);
  if (found != channel_->security_by_symbol.end()) return &channel_->securities[found->second];
  const std::string_view text =
      without_padding({reinterpret_cast<const char*>(symbol.data()), symbol.size()}, ' ');
  const bool is_text = !text.empty() && std::all_of(text.begin(), text.end(),
                                                    [](char c) { return c > ' ' && c < '\x7F'; });
  if (!is_text) return nullptr;
  channel_->security_by_symbol.emplace(key,
                                       static_cast<std::uint32_t>(channel_->securities.size()));
  Security& security = channel_->securities.emplace_back();
  security.gap_count = channel_->from_start_of_messages ? 0 : channel_->gap_count;
  security.wanted = ledger_.wants(text);
  if (security.wanted) {
    security.instrument =
        ledger_.add_instrument({.symbol = std::string(text) + channel_->name_suffix});
  }
  return &security;
}

void IexProtocol::count(Outcome outcome, char letter) {
  switch (outcome) {
    case Outcome::kDecoded:
      return;
    case Outcome::kIgnored:
      ++ledger_.counts().ignored;
      return;
    case Outcome::kMalformed:
      ++channel_->gap_count;  // what it would have changed is not known
      return ledger_.count_malformed("a message '" + std::string(1, letter) +
                                     "' whose code is unknown");
    case Outcome::kBadQuantity:
      return ledger_.count_bad_quantity("a message '" + std::string(1, letter) +
                                        "' with a price or size that cannot be");
  }
}

void IexProtocol::count_finding(const SequenceFinding& finding) noexcept {
  if (ledger_.count_sequence(finding).has(Quality::kGap)) ++channel_->gap_count;
}

std::string IexProtocol::venue() const {
  std::string text;
  for (const Channel& channel : channels_) {
    const std::string_view feed = channel.protocol == kIexDeep10   ? "IEX DEEP 1.0"
                                  : channel.protocol == kIexTops16 ? "IEX TOPS 1.6"
                                                                   : "IEX TOPS 1.5";
    if (text.find(feed) != std::string::npos) continue;
    if (!text.empty()) text += ", ";
    text += feed;
  }
  return text.empty() ? "IEX" : text;
}

std::optional<PacketRange> IexProtocol::range_of(
    std::span<const std::byte> payload) const noexcept {
  const auto header = read_header(payload);
  if (!header || header->version != 1 || !is_decoded(header->protocol)) return std::nullopt;
  return PacketRange{.stream = std::uint64_t{header->protocol} << 48U |
                               (std::uint64_t{header->channel} & 0xFFFFU) << 32U | header->session,
                     .first = header->first,
                     .count = header->message_count};
}

std::vector<std::pair<std::string, std::uint64_t>> IexProtocol::counts_by_type() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const IexMessageType& type = kIexMessageTypes[i];
    counts.emplace_back(std::string(1, type.letter) + " " + std::string(type.name), counts_[i]);
  }
  if (unknown_count_ > 0) counts.emplace_back("message of an unknown type", unknown_count_);
  if (heartbeat_count_ > 0) counts.emplace_back("heartbeat", heartbeat_count_);
  if (restart_count_ > 0) counts.emplace_back("session started over", restart_count_);
  return counts;
}

bool looks_like_iex(std::span<const std::byte> payload) noexcept {
  const auto header = read_header(payload);
  return header && header->version == 1 &&
         (is_decoded(header->protocol) || header->protocol == kIexDeepPlus) &&
         header->payload_bytes == payload.size() - kIexTpHeaderBytes;
}

}  // namespace tocsin
