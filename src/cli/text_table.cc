// Lays out tables and numbers for people.
#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/assert.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

bool starts_like_a_number(const std::string& cell) {
  return cell.empty() || cell == "-" || std::isdigit(static_cast<unsigned char>(cell[0])) != 0 ||
         (cell.size() > 1 && cell[0] == '-' &&
          std::isdigit(static_cast<unsigned char>(cell[1])) != 0);
}

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  TOCSIN_ASSERT(cells.size() == headings_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  const std::size_t columns = headings_.size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> numeric(columns, !rows_.empty());
  for (std::size_t c = 0; c < columns; ++c) {
    widths[c] = headings_[c].size();
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], row[c].size());
      numeric[c] = numeric[c] && starts_like_a_number(row[c]);
    }
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = " ";
    for (std::size_t c = 0; c < columns; ++c)
      line += numeric[c] ? fmt::format(" {:>{}} ", cells[c], widths[c])
                         : fmt::format(" {:<{}} ", cells[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  if (std::any_of(headings_.begin(), headings_.end(), [](const auto& h) { return !h.empty(); }))
    add_line(headings_);
  for (const auto& row : rows_) add_line(row);
  return text;
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits.insert(place, 1, ',');
  }
  return digits;
}

std::string equal_of_compared(std::uint64_t equal, std::uint64_t compared) {
  return fmt::format("{} of {} equal", with_thousands(equal), with_thousands(compared));
}

std::string readable_path(const std::string& path) {
  std::error_code failed;
  const std::string relative = std::filesystem::proximate(path, failed).string();
  return failed || relative.size() > path.size() ? path : relative;
}

std::string readable_duration(std::int64_t duration_ns) {
  const auto ns = static_cast<double>(duration_ns);
  if (duration_ns < 1'000) return fmt::format("{} ns", duration_ns);
  if (duration_ns < 1'000'000) return fmt::format("{:.2f} us", ns / 1e3);
  if (duration_ns < kNanosPerSecond) return fmt::format("{:.2f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

}  // namespace tocsin
