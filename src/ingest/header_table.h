// Comma-separated rows under a header that names the columns: only the columns asked for are kept,
// wherever they stand. No quoting: the feeds that use it have none.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/byte_stream.h"

namespace tocsin {

// The first line of `head` without its end and without a byte-order mark.
std::string_view first_line_of(std::span<const std::byte> head) noexcept;

// What is wrong with a row; the texts live as long as the row.
struct RowFault {
  const char* what = nullptr;  // null: nothing; else what was expected
  std::string_view found;
  bool is_quantity = false;  // a price or a size that does not fit, not a row of another form
};

class HeaderTable {
 public:
  enum class Row : std::uint8_t {
    kRow,
    kMalformed,  // another number of columns than the header has
    kEnd,        // or a failure of the stream: its status() tells
  };

  // `stream` must outlive the table.
  explicit HeaderTable(ByteStream& stream) noexcept : stream_(&stream) {}

  // Reads the header; a column that it lacks is an error that names it.
  Status read_header(std::span<const std::string_view> columns);
  Row next() noexcept;
  // The last row's field of columns[index], valid until the next call of next().
  std::string_view field(std::size_t index) const noexcept { return fields_[index]; }
  // The last row as it stands in the file.
  std::string_view row() const noexcept { return row_; }

 private:
  ByteStream* stream_;
  std::string_view row_;
  std::vector<std::size_t> place_of_column_;  // by the file's column: index asked for, or kUnasked
  std::vector<std::string_view> fields_;
};

}  // namespace tocsin
