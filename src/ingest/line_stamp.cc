// A colon behind the number tells seconds from nanoseconds.
#include "ingest/line_stamp.h"

#include <algorithm>

#include "ingest/written_number.h"

namespace tocsin {
namespace {

std::size_t count_digits(std::string_view text) noexcept {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

}  // namespace

std::string_view take_line_stamp(std::string_view& line) noexcept {
  std::size_t size = count_digits(line);
  if (size == 0) return {};
  if (line.substr(size).starts_with('.')) size += 1 + count_digits(line.substr(size + 1));
  if (line.substr(size).starts_with(':')) ++size;
  if (!line.substr(size).starts_with(' ')) return {};
  const std::string_view stamp = line.substr(0, size);
  line.remove_prefix(size + 1);
  return stamp;
}

bool take_line_time_ns(std::string_view& line, std::int64_t& time_ns) noexcept {
  std::string_view stamp = take_line_stamp(line);
  if (stamp.empty()) return false;
  const bool in_seconds = stamp.ends_with(':');
  if (in_seconds) stamp.remove_suffix(1);
  return parse_time_ns(stamp, in_seconds ? kNanosPerUnit : 1, time_ns);
}

}  // namespace tocsin
