// One pass over each row; nothing is copied.
#include "ingest/header_table.h"

#include <algorithm>
#include <string>

namespace tocsin {
namespace {

constexpr std::size_t kUnasked = SIZE_MAX;

std::string_view without_mark(std::string_view line) noexcept {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return line;
}

// Calls `take(place, field)` for each field of a row; returns their number.
template <typename Take>
std::size_t split(std::string_view row, Take&& take) noexcept {
  std::size_t place = 0;
  for (;;) {
    const std::size_t comma = row.find(',');
    take(place++, row.substr(0, comma));
    if (comma == std::string_view::npos) return place;
    row.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string_view first_line_of(std::span<const std::byte> head) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return without_mark(line);
}

Status HeaderTable::read_header(std::span<const std::string_view> columns) {
  if (!stream_->next_line(row_)) {
    if (!stream_->status().ok()) return stream_->status();
    return Error(ErrorCode::kDataLoss, stream_->path() + ": is empty: expected a header line");
  }
  place_of_column_.clear();
  fields_.assign(columns.size(), std::string_view());
  std::vector<bool> found(columns.size(), false);
  split(without_mark(row_), [&](std::size_t /*place*/, std::string_view name) {
    const auto* column = std::find(columns.data(), columns.data() + columns.size(), name);
    const auto index = static_cast<std::size_t>(column - columns.data());
    const bool asked = index < columns.size() && !found[index];
    if (asked) found[index] = true;
    place_of_column_.push_back(asked ? index : kUnasked);
  });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (found[i]) continue;
    return Error(ErrorCode::kDataLoss, stream_->path() + ": the header has no column \"" +
                                           std::string(columns[i]) + "\"");
  }
  return {};
}

HeaderTable::Row HeaderTable::next() noexcept {
  if (!stream_->next_line(row_)) return Row::kEnd;
  const std::size_t count = split(row_, [this](std::size_t place, std::string_view field) {
    if (place < place_of_column_.size() && place_of_column_[place] != kUnasked) {
      fields_[place_of_column_[place]] = field;
    }
  });
  return count == place_of_column_.size() ? Row::kRow : Row::kMalformed;
}

}  // namespace tocsin
