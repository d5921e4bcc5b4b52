// Fields stand one after another, without offsets of their own: see read_fields().
// Source: Databento's public description of DBN (https://databento.com/docs, dbn repository).
#include "ingest/dbn_metadata.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "ingest/dbn_records.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::size_t kPreludeBytes = 8;  // "DBN", version, length of what follows
constexpr std::size_t kDatasetBytes = 16;
constexpr std::uint8_t kByInstrumentId = 0;  // a kind of symbol

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error broken(const ByteStream& stream, std::string_view what) {
  return Error(ErrorCode::kDataLoss, stream.path() + ": DBN header: " + std::string(what));
}

// Records without a header: the length of a record and its type stand first.
bool starts_like_record(std::span<const std::byte> head) noexcept {
  if (head.size() < dbn::kHeaderBytes) return false;
  const auto* type = dbn::record_type(std::to_integer<std::uint8_t>(head[dbn::kRecordType]));
  const std::size_t size_bytes =
      std::to_integer<std::size_t>(head[dbn::kLength]) * dbn::kLengthUnitBytes;
  return type != nullptr && std::find(type->sizes_bytes.begin(), type->sizes_bytes.end(),
                                      size_bytes) != type->sizes_bytes.end();
}

Error no_header(const ByteStream& stream, std::span<const std::byte> head) {
  const std::string& path = stream.path();
  if (path.ends_with(".dbz") || as_text(head).starts_with("DBZ")) {
    return Error(ErrorCode::kUnimplemented,
                 path +
                     ": a legacy DBZ file, the predecessor of DBN; convert it with Databento's "
                     "dbn tool (DBN versions 1 to 3 are read)");
  }
  if (starts_like_record(head)) {
    return Error(ErrorCode::kUnimplemented,
                 path +
                     ": DBN records without the header (a fragment): its version and the names "
                     "of its instruments are not known; read the file that it was cut from");
  }
  return Error(ErrorCode::kDataLoss,
               path + ": not DBN: it does not begin with 'DBN' and a version");
}

// Appends `size_bytes` of the stream to `out`; in steps, so that a false length in the file takes
// no more memory than the file has bytes.
bool take_bytes(ByteStream& stream, std::size_t size_bytes, std::vector<std::byte>& out) {
  constexpr std::size_t kStepBytes = std::size_t{1} << 20;
  while (out.size() < size_bytes) {
    const std::size_t wanted = std::min(kStepBytes, size_bytes - out.size());
    const std::span<const std::byte> ahead = stream.peek(wanted);
    if (ahead.size() < wanted) return false;
    out.insert(out.end(), ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(wanted));
    stream.consume(wanted);
  }
  return true;
}

std::optional<std::uint32_t> parse_id(std::string_view text) noexcept {
  std::uint32_t id = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

struct SymbolKinds {
  std::uint8_t in = 0;
  std::uint8_t out = 0;
  std::size_t size_bytes = dbn::mapping::kSymbolBytesVersion1;
};

// Symbols asked for, found in part and not found: lists that nothing here needs.
void skip_symbol_lists(WireReader& fields, const SymbolKinds& kinds) noexcept {
  constexpr int kListCount = 3;
  for (int i = 0; i < kListCount; ++i) {
    const std::size_t count = fields.little<std::uint32_t>();
    fields.skip(count * kinds.size_bytes);
  }
}

// False if a symbol is no text.
bool read_mappings(WireReader& fields, const SymbolKinds& kinds,
                   std::vector<DbnSymbolInterval>& intervals) {
  const auto mapping_count = fields.little<std::uint32_t>();
  for (std::uint32_t i = 0; i < mapping_count && fields.ok(); ++i) {
    const std::string_view from = without_padding(fields.text(kinds.size_bytes), '\0');
    const auto interval_count = fields.little<std::uint32_t>();
    for (std::uint32_t j = 0; j < interval_count && fields.ok(); ++j) {
      DbnSymbolInterval interval;
      interval.start_date = fields.little<std::uint32_t>();
      interval.end_date = fields.little<std::uint32_t>();
      const std::string_view to = without_padding(fields.text(kinds.size_bytes), '\0');
      const bool id_is_in = kinds.out != kByInstrumentId && kinds.in == kByInstrumentId;
      if (kinds.out != kByInstrumentId && !id_is_in) continue;
      const std::optional<std::uint32_t> id = parse_id(id_is_in ? from : to);
      const std::string_view symbol = id_is_in ? to : from;
      if (!is_dbn_text(symbol)) return false;
      if (!id.has_value() || symbol.empty()) continue;
      interval.id = *id;
      interval.symbol = symbol;
      intervals.push_back(std::move(interval));
    }
  }
  return true;
}

// What follows the prelude. Null if all is well; else a literal that says what is not.
const char* read_fields(WireReader& fields, DbnMetadata& metadata) {
  constexpr std::size_t kReservedBytesVersion1 = 47;
  constexpr std::size_t kReservedBytes = 53;
  constexpr std::size_t kStartEndLimitBytes = 24;
  constexpr std::size_t kRecordCountBytes = 8;
  const bool is_version1 = metadata.version == 1;
  fields.skip(kDatasetBytes);
  metadata.schema = fields.little<std::uint16_t>();
  fields.skip(kStartEndLimitBytes + (is_version1 ? kRecordCountBytes : 0));
  SymbolKinds kinds;
  kinds.in = fields.little<std::uint8_t>();
  kinds.out = fields.little<std::uint8_t>();
  fields.skip(1);  // whether records carry a sending time behind them: their length tells
  if (!is_version1) kinds.size_bytes = fields.little<std::uint16_t>();
  fields.skip(is_version1 ? kReservedBytesVersion1 : kReservedBytes);
  if (fields.little<std::uint32_t>() != 0) return "it defines a schema of its own";
  if (kinds.size_bytes == 0) return "symbols of no size";
  skip_symbol_lists(fields, kinds);
  if (!read_mappings(fields, kinds, metadata.intervals)) return "a symbol is no text";
  return fields.ok() ? nullptr : "it is shorter than what it announces";
}

}  // namespace

Result<DbnMetadata> read_dbn_metadata(ByteStream& stream) {
  const std::span<const std::byte> head = stream.peek(dbn::kHeaderBytes);
  if (!as_text(head).starts_with("DBN")) {
    if (!stream.status().ok()) return stream.status().error();
    return no_header(stream, head);
  }
  WireReader prelude(head);
  prelude.skip(3);
  DbnMetadata metadata;
  metadata.version = prelude.little<std::uint8_t>();
  const std::size_t size_bytes = prelude.little<std::uint32_t>();
  if (!prelude.ok()) return broken(stream, "the file ends inside it");
  if (metadata.version > kDbnVersionMax) {
    return Error(ErrorCode::kUnimplemented, stream.path() + ": DBN version " +
                                                std::to_string(metadata.version) +
                                                "; versions 1 to 3 are read");
  }
  if (metadata.version == 0) return broken(stream, "version 0");
  if (size_bytes > kDbnMetadataBytesMax) {
    return Error(ErrorCode::kDataLoss, stream.path() + ": DBN header of " +
                                           std::to_string(size_bytes) + " bytes; " +
                                           std::to_string(kDbnMetadataBytesMax) + " are read");
  }
  stream.consume(kPreludeBytes);
  std::vector<std::byte> bytes;
  if (!take_bytes(stream, size_bytes, bytes)) {
    if (!stream.status().ok()) return stream.status().error();
    return broken(stream, "the file ends inside it");
  }
  WireReader fields(bytes);
  if (const char* fault = read_fields(fields, metadata)) return broken(stream, fault);
  std::sort(metadata.intervals.begin(), metadata.intervals.end(),
            [](const DbnSymbolInterval& a, const DbnSymbolInterval& b) {
              return std::pair(a.id, a.start_date) < std::pair(b.id, b.start_date);
            });
  return metadata;
}

std::string_view DbnMetadata::symbol_of(std::uint32_t id, std::uint32_t date) const noexcept {
  auto found = std::lower_bound(
      intervals.begin(), intervals.end(), id,
      [](const DbnSymbolInterval& interval, std::uint32_t sought) { return interval.id < sought; });
  std::string_view symbol;
  for (; found != intervals.end() && found->id == id; ++found) {
    if (symbol.empty()) symbol = found->symbol;
    if (found->start_date <= date && date < found->end_date) return found->symbol;
  }
  return symbol;
}

bool looks_like_dbn(std::span<const std::byte> head) noexcept {
  return as_text(head).starts_with("DBN") || starts_like_record(head);
}

bool is_dbn_text(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7F'; });
}

std::uint32_t dbn_date_of(std::int64_t unix_time_ns) noexcept {
  using std::chrono::days;
  const std::chrono::sys_time<std::chrono::nanoseconds> time{
      std::chrono::nanoseconds(unix_time_ns)};
  const std::chrono::year_month_day date(std::chrono::floor<days>(time));
  return static_cast<std::uint32_t>(static_cast<int>(date.year())) * 10'000 +
         static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day());
}

}  // namespace tocsin
