// The fields of China's A-share tables: prices that went through a float on their way into text,
// times of a day in Shanghai, days in the names of files and folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tocsin {

// digits[.digits], rounded to 1e-9, half up: "1801.00999999999999" is 1,801.01. False if it is no
// such number or does not fit; `nanos` is then not written.
bool parse_rounded_nanos(std::string_view text, std::int64_t& nanos) noexcept;
// A whole number of digits alone.
bool parse_count(std::string_view text, std::uint64_t& count) noexcept;
// "09:15:00.020" or "09:15:00", since midnight.
bool parse_day_time_ns(std::string_view text, std::int64_t& time_ns) noexcept;

// Midnight in Shanghai (UTC+8, no daylight saving since 1991), since 1970-01-01 UTC. Nothing if
// there is no such day, or it lies outside 1992 to 2200.
std::optional<std::int64_t> shanghai_midnight_ns(int year, unsigned month, unsigned day);
// The same of "20230201", "2023-02-01" or "2023.02.01".
std::optional<std::int64_t> shanghai_midnight_of(std::string_view date);
// The same of the last eight digits in a row in a path that are a day: "…/20230201.zip".
std::optional<std::int64_t> shanghai_midnight_in_path(std::string_view path);

}  // namespace tocsin
