// Names and the calendar; no time zone data base is needed for one rule.
#include "ingest/lobster_file_name.h"

#include <charconv>
#include <chrono>

namespace tocsin {
namespace {

std::string_view base_name(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Digits only, all of them.
std::optional<unsigned> parse_digits(std::string_view text) noexcept {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "2012-06-21"
std::optional<std::int64_t> midnight_of(std::string_view date) {
  if (date.size() != 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto year = parse_digits(date.substr(0, 4));
  const auto month = parse_digits(date.substr(5, 2));
  const auto day = parse_digits(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  return new_york_midnight_ns(static_cast<int>(*year), *month, *day);
}

}  // namespace

LobsterFileName parse_lobster_file_name(std::string_view path) {
  const std::string_view name = base_name(path);
  LobsterFileName parsed;
  const std::size_t first = name.find('_');
  if (first == std::string_view::npos || first == 0) {
    parsed.symbol = name.substr(0, name.find('.'));
    return parsed;
  }
  parsed.symbol = name.substr(0, first);
  const std::string_view rest = name.substr(first + 1);
  parsed.midnight_time_ns = midnight_of(rest.substr(0, rest.find('_')));
  return parsed;
}

std::string lobster_orderbook_path(std::string_view message_path) {
  constexpr std::string_view kMessage = "message";
  const std::size_t name_begin = message_path.size() - base_name(message_path).size();
  const std::size_t place = message_path.rfind(kMessage);
  if (place == std::string_view::npos || place < name_begin) return {};
  std::string path(message_path);
  path.replace(place, kMessage.size(), "orderbook");
  return path;
}

std::optional<std::int64_t> new_york_midnight_ns(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  // Nanoseconds since 1970 reach from 1678 to 2262.
  if (!date.ok() || year < 1900 || year > 2200) return std::nullopt;
  const sys_days today = date;
  const sys_days starts = date.year() / March / Sunday[2];
  const sys_days ends = date.year() / November / Sunday[1];
  const hours behind_utc = today >= starts && today < ends ? hours(4) : hours(5);
  return duration_cast<nanoseconds>(today.time_since_epoch() + behind_utc).count();
}

}  // namespace tocsin
