// Cells are views of the line, but for those with quotes inside.
#include "ingest/csv_row.h"

#include <algorithm>

namespace tocsin {

bool CsvRow::split(std::string_view line, char delimiter) {
  cells_.clear();
  unquoted_.clear();
  if (unquoted_.capacity() < line.size()) unquoted_.reserve(2 * line.size());
  for (;;) {
    if (line.starts_with('"')) {
      if (!take_quoted(line)) return false;
      if (line.empty()) return true;
      if (line.front() != delimiter) {
        cells_.pop_back();
        return false;
      }
    } else {
      const std::size_t size = std::min(line.find(delimiter), line.size());
      cells_.push_back(line.substr(0, size));
      if (size == line.size()) return true;
      line.remove_prefix(size);
    }
    line.remove_prefix(1);
  }
}

bool CsvRow::take_quoted(std::string_view& rest) {
  const std::size_t start = unquoted_.size();
  rest.remove_prefix(1);
  for (;;) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return false;
    unquoted_ += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) break;
    unquoted_ += '"';
    rest.remove_prefix(1);
  }
  cells_.push_back(std::string_view(unquoted_).substr(start));
  return true;
}

}  // namespace tocsin
