// Numbers of an alert as text: the same in every channel and in the ledger's explanations.
#pragma once

#include <cstdint>
#include <string>

namespace tocsin {

// "2025-01-31T12:00:00.123456789Z"; a time before 1970-01-02 comes from a feed without a date and
// is given as time of day only, "09:30:00.004241176". A negative one as its number, "-5 ns".
std::string format_time(std::int64_t time_ns);

// "61800.25" from best bid + best ask; "unknown" for 0. Half a nano is dropped.
std::string format_mid_price(std::int64_t mid_price_nanos_x2);

// The shortest text that reads back as the same float: "0.95".
std::string format_float(float value);
// The double nearest to that text: 0.95F becomes 0.95, not 0.949999988079071.
double shortest_double(float value);

// "1.234 ms", "87 ns": three digits or more, in the unit that fits.
std::string format_duration(std::int64_t duration_ns);

}  // namespace tocsin
