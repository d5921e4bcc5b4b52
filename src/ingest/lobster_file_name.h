// What LOBSTER writes into its file names: "AAPL_2012-06-21_34200000_57600000_message_10.csv".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tocsin {

struct LobsterFileName {
  std::string symbol;  // what stands before the first '_'; the whole base name if there is none
  // Midnight in New York, in nanoseconds since 1970-01-01 UTC; absent if the name holds no date.
  std::optional<std::int64_t> midnight_time_ns;
};

LobsterFileName parse_lobster_file_name(std::string_view path);

// The book file that belongs to a message file: "message" in the file's own name (the last one, if
// there are several) replaced by "orderbook"; empty if the name does not hold it.
std::string lobster_orderbook_path(std::string_view message_path);

// Midnight in New York of a day, as above. Daylight saving time runs from the second Sunday of
// March to the first Sunday of November (Energy Policy Act of 2005, in force since 2007; LOBSTER
// begins in 2007). The offset is that of the day's trading hours, which matters on those two
// Sundays only.
std::optional<std::int64_t> new_york_midnight_ns(int year, unsigned month, unsigned day);

}  // namespace tocsin
