// A table of text for people: columns as wide as they need, numbers to the right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tocsin {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  // As many cells as there are headings.
  void add_row(std::vector<std::string> cells);
  // Each line indented by two spaces. Columns whose cells all start like numbers are right-aligned.
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

// 1234567 -> "1,234,567".
std::string with_thousands(std::uint64_t value);
// "998 of 998 equal".
std::string equal_of_compared(std::uint64_t equal, std::uint64_t compared);
// Relative to the working folder, as one would type it.
std::string readable_path(const std::string& path);
// Nanoseconds in the unit that reads best: "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string readable_duration(std::int64_t duration_ns);

}  // namespace tocsin
