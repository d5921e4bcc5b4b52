// The local time in front of a recorded line: "<nanoseconds> ", or "<seconds>[.<fraction>]: " as
// cryptofeed's recorder writes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tocsin {

// Takes the stamp off the front; empty, and nothing taken, if there is none.
std::string_view take_line_stamp(std::string_view& line) noexcept;
// The same as nanoseconds; false if there is none or it is out of range.
bool take_line_time_ns(std::string_view& line, std::int64_t& time_ns) noexcept;

}  // namespace tocsin
