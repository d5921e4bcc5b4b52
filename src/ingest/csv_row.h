// One line of a CSV file as cells (RFC 4180, but a cell holds no line feed). Buffers are reused.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tocsin {

class CsvRow {
 public:
  // False if a quoted cell has no end or something stands behind it; then the fault is in the cell
  // numbered cells().size() + 1. `line` must outlive the use of the cells.
  bool split(std::string_view line, char delimiter);
  std::span<const std::string_view> cells() const noexcept { return cells_; }

 private:
  bool take_quoted(std::string_view& rest);

  std::vector<std::string_view> cells_;
  std::string unquoted_;  // cells with doubled quotes; never grows while a line is split
};

}  // namespace tocsin
