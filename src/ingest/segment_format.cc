// Headers and blocks to bytes and back. Events go in columns, numbers that rise as differences, so
// that zstd finds little left; differences wrap around, and are exact for any values.
#include "ingest/segment_format.h"

#include <zstd.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "base/assert.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr int kCompressionLevel = 3;
constexpr std::size_t kCountMax = std::size_t{1} << 24;  // of anything in a block

template <std::integral T>
void put(std::vector<std::byte>& out, T value) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_digest(std::vector<std::byte>& out, const Digest& digest) {
  const auto bytes = std::as_bytes(std::span(digest));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string take_text(WireReader& reader) {
  const auto size = reader.little<std::uint32_t>();
  return std::string(reader.text(size));
}

Digest take_digest(WireReader& reader) {
  Digest digest{};
  const auto bytes = reader.take(digest.size());
  if (bytes.size() == digest.size()) std::memcpy(digest.data(), bytes.data(), digest.size());
  return digest;
}

// The number of entries that follow; refused where so many cannot stand in the bytes left.
std::size_t take_count(WireReader& reader, std::size_t entry_bytes_min) {
  const auto count = reader.little<std::uint32_t>();
  if (count <= reader.left().size() / entry_bytes_min && count <= kCountMax) return count;
  reader.skip(SIZE_MAX);
  return 0;
}

// The counters in the order in which they are stored; a new one goes to the end.
template <typename Counters, typename Visit>
void visit_counters(Counters& c, Visit&& visit) {
  static_assert(sizeof(SourceCounters) == 12 * sizeof(std::uint64_t));
  for (auto* counter :
       {&c.records, &c.events, &c.bytes, &c.malformed, &c.filtered, &c.ignored, &c.gaps, &c.missing,
        &c.duplicates, &c.out_of_order, &c.time_backwards, &c.bad_quantity}) {
    visit(*counter);
  }
}

// One column: each value's difference to the one before, of eight bytes.
template <typename Value>
void put_differences(std::vector<std::byte>& out, std::span<const MarketEvent> events,
                     Value MarketEvent::*member) {
  std::uint64_t before = 0;
  for (const MarketEvent& event : events) {
    const auto value = static_cast<std::uint64_t>(event.*member);
    put(out, value - before);
    before = value;
  }
}

template <typename Value>
void take_differences(WireReader& reader, std::span<MarketEvent> events,
                      Value MarketEvent::*member) {
  std::uint64_t value = 0;
  for (MarketEvent& event : events) {
    value += reader.little<std::uint64_t>();
    event.*member = static_cast<Value>(value);
  }
}

template <std::integral Stored, typename Get>
void put_column(std::vector<std::byte>& out, std::span<const MarketEvent> events, Get&& get) {
  for (const MarketEvent& event : events) put(out, static_cast<Stored>(get(event)));
}

template <std::integral Stored, typename Set>
void take_column(WireReader& reader, std::span<MarketEvent> events, Set&& set) {
  for (MarketEvent& event : events) set(event, reader.little<Stored>());
}

void put_events(std::vector<std::byte>& out, std::span<const MarketEvent> events) {
  static_assert(sizeof(MarketEvent) == 72, "a new field needs a column and a version");
  put_differences(out, events, &MarketEvent::exchange_time_ns);
  // A difference to the exchange time is smaller than one to the event before.
  put_column<std::uint64_t>(out, events, [](const MarketEvent& e) {
    return static_cast<std::uint64_t>(e.receive_time_ns) -
           static_cast<std::uint64_t>(e.exchange_time_ns);
  });
  put_differences(out, events, &MarketEvent::sequence);
  put_differences(out, events, &MarketEvent::record);
  put_differences(out, events, &MarketEvent::order_id);
  put_differences(out, events, &MarketEvent::price_nanos);
  put_column<std::int64_t>(out, events, [](const MarketEvent& e) { return e.quantity_nanos; });
  put_column<std::uint32_t>(out, events, [](const MarketEvent& e) { return e.instrument; });
  put_column<std::uint16_t>(out, events, [](const MarketEvent& e) { return e.quality.bits(); });
  put_column<std::uint16_t>(out, events, [](const MarketEvent& e) { return e.level_index; });
  put_column<std::uint8_t>(out, events, [](const MarketEvent& e) { return e.kind; });
  put_column<std::uint8_t>(out, events, [](const MarketEvent& e) { return e.side; });
  put_column<std::uint8_t>(out, events, [](const MarketEvent& e) { return e.status; });
  put_column<std::uint8_t>(out, events, [](const MarketEvent& e) { return e.end_of_update; });
}

void take_events(WireReader& reader, std::span<MarketEvent> events) {
  take_differences(reader, events, &MarketEvent::exchange_time_ns);
  take_column<std::uint64_t>(reader, events, [](MarketEvent& e, std::uint64_t behind_ns) {
    e.receive_time_ns =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(e.exchange_time_ns) + behind_ns);
  });
  take_differences(reader, events, &MarketEvent::sequence);
  take_differences(reader, events, &MarketEvent::record);
  take_differences(reader, events, &MarketEvent::order_id);
  take_differences(reader, events, &MarketEvent::price_nanos);
  take_column<std::int64_t>(reader, events,
                            [](MarketEvent& e, std::int64_t value) { e.quantity_nanos = value; });
  take_column<std::uint32_t>(reader, events,
                             [](MarketEvent& e, std::uint32_t value) { e.instrument = value; });
  take_column<std::uint16_t>(reader, events, [](MarketEvent& e, std::uint16_t value) {
    e.quality = QualityFlags::from_bits(value);
  });
  take_column<std::uint16_t>(reader, events,
                             [](MarketEvent& e, std::uint16_t value) { e.level_index = value; });
  take_column<std::uint8_t>(reader, events, [](MarketEvent& e, std::uint8_t value) {
    e.kind = static_cast<EventKind>(value);
  });
  take_column<std::uint8_t>(reader, events, [](MarketEvent& e, std::uint8_t value) {
    e.side = static_cast<Side>(value);
  });
  take_column<std::uint8_t>(reader, events, [](MarketEvent& e, std::uint8_t value) {
    e.status = static_cast<TradingStatus>(value);
  });
  take_column<std::uint8_t>(
      reader, events, [](MarketEvent& e, std::uint8_t value) { e.end_of_update = value != 0; });
}

// Values of enumerators that there are.
bool is_possible(const MarketEvent& event) noexcept {
  return event.kind <= EventKind::kExpectSnapshot && event.side <= Side::kAsk &&
         event.status <= TradingStatus::kClosed;
}

// In its columns.
constexpr std::size_t kEventBytes = 7 * 8 + 4 + 2 * 2 + 4;

void put_block_index(std::vector<std::byte>& out, std::span<const BlockPlace> blocks) {
  put(out, static_cast<std::uint32_t>(blocks.size()));
  for (const BlockPlace& block : blocks) {
    put(out, block.offset_bytes);
    put(out, static_cast<std::uint32_t>(block.header.kind));
    put(out, block.header.number);
    put(out, block.header.event_count);
    put(out, block.header.first_record);
    put(out, block.header.last_record);
    put(out, block.header.first_time_ns);
    put(out, block.header.last_time_ns);
    put(out, static_cast<std::uint32_t>(block.instruments.size()));
    for (const InstrumentId id : block.instruments) put(out, id);
  }
}

bool take_block_index(WireReader& reader, std::vector<BlockPlace>& blocks) {
  blocks.clear();
  blocks.resize(take_count(reader, 56));
  for (BlockPlace& block : blocks) {
    block.offset_bytes = reader.little<std::uint64_t>();
    block.header.kind = static_cast<BlockKind>(reader.little<std::uint32_t>());
    block.header.number = reader.little<std::uint32_t>();
    block.header.event_count = reader.little<std::uint32_t>();
    block.header.first_record = reader.little<std::uint64_t>();
    block.header.last_record = reader.little<std::uint64_t>();
    block.header.first_time_ns = reader.little<std::int64_t>();
    block.header.last_time_ns = reader.little<std::int64_t>();
    block.instruments.resize(take_count(reader, sizeof(InstrumentId)));
    for (InstrumentId& id : block.instruments) id = reader.little<InstrumentId>();
  }
  return reader.ok();
}

}  // namespace

std::string recording_file_name(std::uint32_t index) {
  const std::string digits = std::to_string(index);
  constexpr std::size_t kDigits = 6;
  return std::string(digits.size() < kDigits ? kDigits - digits.size() : 0, '0') + digits + ".tseg";
}

std::vector<std::byte> encode_recording_header(const RecordingHeader& header) {
  std::vector<std::byte> out;
  const auto magic = std::as_bytes(std::span(kRecordingMagic.data(), kRecordingMagic.size()));
  out.insert(out.end(), magic.begin(), magic.end());
  put(out, kRecordingVersion);
  put(out, header.index);
  put(out, header.first_record);
  put_digest(out, header.hash_before);
  put_text(out, header.source_name);
  put_text(out, header.format);
  put_digest(out, digest_of(DigestKind::kBlake2s256, std::span<const std::byte>(out)));
  return out;
}

Result<ReadHeader> decode_recording_header(std::span<const std::byte> bytes) {
  const auto data_loss = [](std::string message) {
    return Error(ErrorCode::kDataLoss, std::move(message));
  };
  WireReader reader(bytes);
  if (reader.text(kRecordingMagic.size()) != kRecordingMagic)
    return data_loss("no segment: it does not begin with " + std::string(kRecordingMagic));
  const auto version = reader.little<std::uint32_t>();
  if (reader.ok() && version != kRecordingVersion) {
    return data_loss("a segment of version " + std::to_string(version) + "; this program reads " +
                     std::to_string(kRecordingVersion));
  }
  ReadHeader read;
  read.header.index = reader.little<std::uint32_t>();
  read.header.first_record = reader.little<std::uint64_t>();
  read.header.hash_before = take_digest(reader);
  read.header.source_name = take_text(reader);
  read.header.format = take_text(reader);
  const std::size_t hashed_bytes = bytes.size() - reader.left().size();
  read.hash = take_digest(reader);
  if (!reader.ok()) return data_loss("the segment's header is cut off");
  if (digest_of(DigestKind::kBlake2s256, bytes.first(hashed_bytes)) != read.hash)
    return data_loss("the segment's header was changed: its hash does not fit");
  read.size_bytes = hashed_bytes + read.hash.size();
  return read;
}

Digest encode_block(const BlockHeader& header, std::span<const std::byte> stored,
                    const Digest& hash_before, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  put(out, static_cast<std::uint32_t>(header.kind));
  put(out, header.number);
  put(out, header.stored_bytes);
  put(out, header.raw_bytes);
  put(out, header.event_count);
  put(out, header.record_count);
  put(out, header.first_record);
  put(out, header.last_record);
  put(out, header.first_time_ns);
  put(out, header.last_time_ns);
  put(out, header.change_count);
  TOCSIN_ASSERT(out.size() - begin == BlockHeader::kBytes);
  out.insert(out.end(), stored.begin(), stored.end());
  const Digest hash = block_hash(hash_before, std::span(out).subspan(begin));
  put_digest(out, hash);
  return hash;
}

Result<BlockHeader> decode_block_header(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  BlockHeader header;
  const auto kind = reader.little<std::uint32_t>();
  header.kind = static_cast<BlockKind>(kind);
  header.number = reader.little<std::uint32_t>();
  header.stored_bytes = reader.little<std::uint32_t>();
  header.raw_bytes = reader.little<std::uint32_t>();
  header.event_count = reader.little<std::uint32_t>();
  header.record_count = reader.little<std::uint32_t>();
  header.first_record = reader.little<std::uint64_t>();
  header.last_record = reader.little<std::uint64_t>();
  header.first_time_ns = reader.little<std::int64_t>();
  header.last_time_ns = reader.little<std::int64_t>();
  header.change_count = reader.little<std::uint64_t>();
  const bool possible = reader.ok() && kind >= 1 && kind <= 5 &&
                        header.stored_bytes <= kBlockRawBytesMax &&
                        header.raw_bytes <= kBlockRawBytesMax;
  if (!possible) return Error(ErrorCode::kDataLoss, "no block stands here");
  return header;
}

Digest block_hash(const Digest& hash_before, std::span<const std::byte> header_and_stored) {
  DigestBuilder builder(DigestKind::kBlake2s256);
  builder.update(std::as_bytes(std::span(hash_before)));
  builder.update(header_and_stored);
  return builder.finish();
}

void encode_block_content(const BlockContent& content, std::vector<std::byte>& out) {
  out.clear();
  put(out, static_cast<std::uint32_t>(content.changes.size()));
  for (const InstrumentChange& change : content.changes) {
    put(out, change.record);
    put(out, change.id);
    // Names every field: a new one has to be stored.
    const auto& [symbol, price_tick, quantity_step, price_decimals, quantity_decimals, priority] =
        change.instrument;
    put(out, price_tick);
    put(out, quantity_step);
    put(out, price_decimals);
    put(out, quantity_decimals);
    put(out, static_cast<std::uint8_t>(priority));
    put_text(out, symbol);
  }
  visit_counters(content.account.counters, [&out](std::uint64_t value) { put(out, value); });
  put(out, static_cast<std::uint32_t>(content.account.by_type.size()));
  for (const auto& [name, count] : content.account.by_type) {
    put(out, count);
    put_text(out, name);
  }
  put(out, static_cast<std::uint32_t>(content.account.faults.size()));
  for (const InputFault& fault : content.account.faults) {
    put(out, fault.record);
    put_text(out, fault.message);
  }
  put_events(out, content.events);
}

bool decode_block_content(std::span<const std::byte> bytes, std::size_t event_count,
                          BlockContent& content) {
  WireReader reader(bytes);
  content.changes.resize(take_count(reader, 35));
  for (InstrumentChange& change : content.changes) {
    change.record = reader.little<std::uint64_t>();
    change.id = reader.little<std::uint32_t>();
    change.instrument.price_tick_nanos = reader.little<std::int64_t>();
    change.instrument.quantity_step_nanos = reader.little<std::int64_t>();
    change.instrument.price_decimals = reader.little<std::int8_t>();
    change.instrument.quantity_decimals = reader.little<std::int8_t>();
    const auto priority = reader.little<std::uint8_t>();
    if (priority > static_cast<std::uint8_t>(ModifyPriority::kLostUnlessDecreased)) return false;
    change.instrument.modify_priority = static_cast<ModifyPriority>(priority);
    change.instrument.symbol = take_text(reader);
  }
  visit_counters(content.account.counters,
                 [&reader](std::uint64_t& value) { value = reader.little<std::uint64_t>(); });
  content.account.by_type.resize(take_count(reader, 12));
  for (auto& [name, count] : content.account.by_type) {
    count = reader.little<std::uint64_t>();
    name = take_text(reader);
  }
  content.account.faults.resize(take_count(reader, 12));
  for (InputFault& fault : content.account.faults) {
    fault.record = reader.little<std::uint64_t>();
    fault.message = take_text(reader);
  }
  if (!reader.ok() || reader.left().size() != event_count * kEventBytes) return false;
  content.events.resize(event_count);
  take_events(reader, content.events);
  return reader.ok() && std::all_of(content.events.begin(), content.events.end(), is_possible);
}

void encode_block_end(const BlockContent& content, std::span<const BlockPlace> blocks,
                      std::string_view source_error, std::vector<std::byte>& out) {
  std::vector<std::byte> part;
  out.clear();
  if (!source_error.empty()) put_text(out, source_error.substr(0, kRecordingTextBytesMax));
  encode_block_content(content, part);
  put(out, static_cast<std::uint32_t>(part.size()));
  out.insert(out.end(), part.begin(), part.end());
  put_block_index(out, blocks);
}

bool decode_block_end(std::span<const std::byte> bytes, BlockKind kind, BlockContent& content,
                      std::vector<BlockPlace>& blocks, std::string& source_error) {
  WireReader reader(bytes);
  source_error = kind == BlockKind::kFailed ? take_text(reader) : std::string();
  const auto part = reader.take(reader.little<std::uint32_t>());
  return reader.ok() && decode_block_content(part, 0, content) &&
         take_block_index(reader, blocks) && reader.left().empty();
}

struct BlockCodec::State {
  ZSTD_CCtx* compressor = ZSTD_createCCtx();
  ZSTD_DCtx* decompressor = ZSTD_createDCtx();
  ~State() {
    ZSTD_freeCCtx(compressor);
    ZSTD_freeDCtx(decompressor);
  }
};

BlockCodec::BlockCodec() : state_(std::make_unique<State>()) {}
BlockCodec::~BlockCodec() = default;
BlockCodec::BlockCodec(BlockCodec&&) noexcept = default;
BlockCodec& BlockCodec::operator=(BlockCodec&&) noexcept = default;

void BlockCodec::compress(std::span<const std::byte> raw, std::vector<std::byte>& stored) {
  stored.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compressCCtx(state_->compressor, stored.data(), stored.size(),
                                             raw.data(), raw.size(), kCompressionLevel);
  TOCSIN_ASSERT(ZSTD_isError(size) == 0);
  stored.resize(size);
}

bool BlockCodec::decompress(std::span<const std::byte> stored, std::size_t raw_bytes,
                            std::vector<std::byte>& raw) {
  raw.resize(raw_bytes);
  const std::size_t size = ZSTD_decompressDCtx(state_->decompressor, raw.data(), raw.size(),
                                               stored.data(), stored.size());
  return ZSTD_isError(size) == 0 && size == raw_bytes;
}

}  // namespace tocsin
