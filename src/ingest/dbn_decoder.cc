// Sequence numbers are those of the venue's packets: they repeat and skip, so that only their order
// is checked, and only together with the time.
#include "ingest/dbn_decoder.h"

#include "ingest/decoders.h"

namespace tocsin {
namespace {

QualityFlags quality_of(unsigned flags) noexcept {
  QualityFlags quality;
  if ((flags & dbn::flag::kSnapshot) != 0) quality |= Quality::kSnapshot;
  if ((flags & dbn::flag::kBadReceiveTime) != 0) quality |= Quality::kBadTimestamp;
  if ((flags & dbn::flag::kMaybeBadBook) != 0) quality |= Quality::kVenueSuspect;
  return quality;
}

// Publisher and instrument in one number.
std::uint64_t key_of(std::span<const std::byte> bytes) noexcept {
  const WireRecord<dbn::kHeaderBytes> header(bytes.first<dbn::kHeaderBytes>());
  return std::uint64_t{header.little<std::uint16_t, dbn::kPublisherId>()} << 32 |
         header.little<std::uint32_t, dbn::kInstrumentId>();
}

}  // namespace

DbnDecoder::DbnDecoder(std::unique_ptr<ByteStream> stream, const FileSourceOptions& options,
                       DbnMetadata metadata)
    : FileDecoder(std::move(stream), options.symbols),
      metadata_(std::move(metadata)),
      default_price_tick_nanos_(options.price_tick_nanos) {}

SourceStatus DbnDecoder::next(EventBatch& batch) noexcept {
  batch.clear();
  const std::span<const std::byte> ahead = stream_->peek(dbn::kRecordBytesMax);
  if (ahead.empty()) return end_of_stream();
  const std::size_t size_bytes =
      std::to_integer<std::size_t>(ahead[dbn::kLength]) * dbn::kLengthUnitBytes;
  if (size_bytes < dbn::kHeaderBytes) {
    return fail(ErrorCode::kDataLoss,
                "a record of " + std::to_string(size_bytes) +
                    " bytes, where its header alone has 16: nothing after it can be read");
  }
  if (ahead.size() < size_bytes) {
    if (!stream_->status().ok()) return end_of_stream();
    return fail(ErrorCode::kDataLoss,
                "the file ends inside a record: " + std::to_string(ahead.size()) + " of " +
                    std::to_string(size_bytes) + " bytes are there");
  }
  ++counters_.records;
  const std::uint64_t malformed_before = counters_.malformed;
  decode_record(ahead.first(size_bytes), batch);
  stream_->consume(size_bytes);
  if (counters_.malformed == malformed_before) [[likely]] {
    malformed_run_ = 0;
  } else if (++malformed_run_ >= kMalformedRunMax) {
    return fail(ErrorCode::kDataLoss,
                std::to_string(kMalformedRunMax) + " malformed records in a row: this is no DBN");
  }
  return yield(batch);
}

void DbnDecoder::decode_record(std::span<const std::byte> bytes, EventBatch& batch) {
  constexpr std::size_t kLevelsOfMbp10 = 10;
  const auto record_type = std::to_integer<std::uint8_t>(bytes[dbn::kRecordType]);
  ++counts_by_record_type_[record_type];
  switch (record_type) {
    case dbn::kMbo:
      return decode_mbo(bytes, batch);
    case dbn::kTrades:
      return decode_levels(bytes, 0, batch);
    case dbn::kMbp1:
      return decode_levels(bytes, 1, batch);
    case dbn::kMbp10:
      return decode_levels(bytes, kLevelsOfMbp10, batch);
    case dbn::kDefinition:
      read_definition(bytes);
      break;
    case dbn::kSymbolMapping:
      read_symbol_mapping(bytes);
      break;
    default:
      break;
  }
  ++counters_.ignored;
}

bool DbnDecoder::open_record(std::span<const std::byte> bytes, const Common& common,
                             Opened& opened) {
  std::uint64_t event_time = load_little<std::uint64_t>(bytes.data() + dbn::kEventTime);
  std::uint64_t receive_time = common.receive_time;
  if (event_time == dbn::kNoTime) event_time = receive_time;
  if (receive_time == dbn::kNoTime) receive_time = event_time;
  constexpr auto kTimeMax = static_cast<std::uint64_t>(INT64_MAX);
  MarketEvent& event = opened.event;
  if (event_time > kTimeMax || receive_time > kTimeMax) {
    count_malformed("a record without a time");
    return false;
  }
  event.exchange_time_ns = static_cast<std::int64_t>(event_time);
  event.receive_time_ns = static_cast<std::int64_t>(receive_time);
  Listing& listing = find_listing(bytes, event.receive_time_ns);
  if (!listing.wanted) {
    ++counters_.filtered;
    return false;
  }
  opened.listing = &listing;
  event.sequence = common.sequence;
  event.record = counters_.records;
  event.instrument = listing.instrument;
  event.quality = quality_of(common.flags);
  // Orders of a snapshot come by price, with the numbers and times of long ago.
  if (!event.quality.has(Quality::kSnapshot)) check_order(opened);
  return true;
}

// A number below the last one at a later time is a new count (each week or day), not a late record.
void DbnDecoder::check_order(Opened& opened) {
  Listing& listing = *opened.listing;
  MarketEvent& event = opened.event;
  if (event.exchange_time_ns < listing.last_time_ns) [[unlikely]] {
    if (event.sequence < listing.last_sequence) {
      ++counters_.out_of_order;
      event.quality |= Quality::kOutOfOrder;
      opened.is_late = true;
      return;
    }
    ++counters_.time_backwards;
    event.quality |= Quality::kTimeBackwards;
  }
  listing.last_time_ns = event.exchange_time_ns;
  listing.last_sequence = event.sequence;
}

DbnDecoder::Listing& DbnDecoder::find_listing(std::span<const std::byte> bytes,
                                              std::int64_t time_ns) {
  const std::uint64_t key = key_of(bytes);
  if (key == last_key_) [[likely]]
    return *last_listing_;
  const auto [place, is_new] = listings_.try_emplace(key);
  if (is_new) name_listing(place->second, key, time_ns);
  last_key_ = key;
  last_listing_ = &place->second;
  return place->second;
}

void DbnDecoder::name_listing(Listing& listing, std::uint64_t key, std::int64_t time_ns) {
  const auto id = static_cast<std::uint32_t>(key);
  const auto publisher_id = static_cast<std::uint16_t>(key >> 32);
  const auto mapped = mapped_symbols_.find(id);
  std::string symbol(mapped != mapped_symbols_.end()
                         ? std::string_view(mapped->second)
                         : metadata_.symbol_of(id, dbn_date_of(time_ns)));
  if (symbol.empty()) symbol = std::to_string(id);
  listing.wanted = wants(symbol);
  if (!listing.wanted) return;
  // Publishers of one dataset may have the same symbols: their books must not mix.
  if (!first_publisher_id_.has_value()) first_publisher_id_ = publisher_id;
  if (publisher_id != *first_publisher_id_) symbol += "@" + std::to_string(publisher_id);
  const auto [place, is_new] = instrument_by_symbol_.try_emplace(symbol, InstrumentId{0});
  if (is_new) {
    const auto tick = price_ticks_.find(key);
    Instrument instrument{.symbol = std::move(symbol)};
    if (tick != price_ticks_.end()) {
      instrument.price_tick_nanos = tick->second;
    } else if (default_price_tick_nanos_ > 0) {
      instrument.price_tick_nanos = default_price_tick_nanos_;
    }
    place->second = add_instrument(std::move(instrument));
  } else {
    listing.tell_gap = true;  // another id took the symbol over: what rests is not known
  }
  listing.instrument = place->second;
}

void DbnDecoder::read_definition(std::span<const std::byte> bytes) {
  if (bytes.size() < dbn::definition::kSizeBytesMin) return;
  const auto tick = load_little<std::int64_t>(bytes.data() + dbn::definition::kPriceIncrement);
  if (tick > 0 && tick != dbn::kNoPrice) price_ticks_[key_of(bytes)] = tick;
}

void DbnDecoder::read_symbol_mapping(std::span<const std::byte> bytes) {
  const std::size_t symbol_bytes =
      metadata_.version == 1 ? dbn::mapping::kSymbolBytesVersion1 : dbn::mapping::kSymbolBytes;
  WireReader fields(bytes.subspan(dbn::kHeaderBytes));
  fields.skip(metadata_.version == 1 ? 0 : 1);  // the kind of the symbol that was asked for
  fields.skip(symbol_bytes);
  fields.skip(metadata_.version == 1 ? 0 : 1);
  const std::string_view symbol = without_padding(fields.text(symbol_bytes), '\0');
  if (symbol.empty() || !is_dbn_text(symbol)) return;
  mapped_symbols_[static_cast<std::uint32_t>(key_of(bytes))] = symbol;
}

void DbnDecoder::count_malformed(std::string_view what) {
  ++counters_.malformed;
  if (keeps_faults()) add_fault(std::string(what));
}

void DbnDecoder::count_malformed(const Opened& opened, std::string_view what) {
  opened.listing->tell_gap = true;
  count_malformed(what);
}

void DbnDecoder::count_bad_quantity(const Opened& opened) {
  opened.listing->tell_gap = true;
  ++counters_.bad_quantity;
  if (keeps_faults()) add_fault("an order or trade without a price or a size");
}

void DbnDecoder::count_short(std::span<const std::byte> bytes, std::size_t size_min) {
  const auto* type = dbn::record_type(std::to_integer<std::uint8_t>(bytes[dbn::kRecordType]));
  count_malformed("a record " + std::string(type->name) + " of " + std::to_string(bytes.size()) +
                  " bytes; it has " + std::to_string(size_min));
}

std::vector<std::pair<std::string, std::uint64_t>> DbnDecoder::counts_by_type() const {
  static constexpr std::array<std::pair<char, std::string_view>, 7> kActions = {
      {{'A', "mbo add"},
       {'M', "mbo modify"},
       {'C', "mbo cancel"},
       {'R', "mbo clear"},
       {'T', "mbo trade"},
       {'F', "mbo fill"},
       {'N', "mbo none"}}};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  std::uint64_t other_mbo_count = counts_by_record_type_[dbn::kMbo];
  for (const auto& [letter, name] : kActions) {
    const std::uint64_t count = counts_by_action_[static_cast<unsigned char>(letter)];
    if (count > 0) counts.emplace_back(name, count);
    other_mbo_count -= count;
  }
  if (other_mbo_count > 0) counts.emplace_back("mbo unreadable", other_mbo_count);
  for (std::size_t i = 0; i < counts_by_record_type_.size(); ++i) {
    if (i == dbn::kMbo || counts_by_record_type_[i] == 0) continue;
    const dbn::RecordType* type = dbn::record_type(static_cast<std::uint8_t>(i));
    counts.emplace_back(type != nullptr ? type->name : "unknown type " + std::to_string(i),
                        counts_by_record_type_[i]);
  }
  return counts;
}

Result<std::unique_ptr<Source>> make_dbn_decoder(std::unique_ptr<ByteStream> stream,
                                                 const FileSourceOptions& options) {
  if (options.price_tick_nanos < 0) {
    return Error(ErrorCode::kInvalidArgument, "a price step below zero was asked for");
  }
  TOCSIN_ASSIGN_OR_RETURN(DbnMetadata metadata, read_dbn_metadata(*stream));
  return std::unique_ptr<Source>(
      std::make_unique<DbnDecoder>(std::move(stream), options, std::move(metadata)));
}

}  // namespace tocsin
