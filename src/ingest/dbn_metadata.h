// The header of a Databento DBN file, versions 1 to 3: what follows it, and what instruments are
// called. The whole header is read before the first record, however long it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/byte_stream.h"

namespace tocsin {

inline constexpr std::uint16_t kDbnSchemaTbbo = 3;
inline constexpr std::uint8_t kDbnVersionMax = 3;
inline constexpr std::size_t kDbnMetadataBytesMax = std::size_t{512} << 20;

// `symbol` names instrument `id` from `start_date` to before `end_date` (UTC, as 20231231).
struct DbnSymbolInterval {
  std::uint32_t id = 0;
  std::uint32_t start_date = 0;
  std::uint32_t end_date = 0;
  std::string symbol;
};

struct DbnMetadata {
  std::uint8_t version = 0;
  std::uint16_t schema = 0;                  // 0xFFFF: records of several schemas
  std::vector<DbnSymbolInterval> intervals;  // by id, then by start date

  // The symbol of `id` on `date`; else any that it ever has; else empty.
  std::string_view symbol_of(std::uint32_t id, std::uint32_t date) const noexcept;
};

// Consumes the header. A version above 3, a legacy DBZ file and a fragment (records without a
// header) are UNIMPLEMENTED with the reason; anything else that is not DBN is DATA_LOSS.
Result<DbnMetadata> read_dbn_metadata(ByteStream& stream);

// True if `head` opens like a DBN file, or like its records without the header.
bool looks_like_dbn(std::span<const std::byte> head) noexcept;

// Printable ASCII, as symbols are.
bool is_dbn_text(std::string_view text) noexcept;

// The UTC date of a time, as 20231231.
std::uint32_t dbn_date_of(std::int64_t unix_time_ns) noexcept;

}  // namespace tocsin
