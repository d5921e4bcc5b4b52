// A point in time as people read it.
#pragma once

#include <cstdint>
#include <string>

namespace tocsin {

// "2024-08-08 23:54:16.299" in UTC; times below one day are since midnight: "09:30:00.004".
std::string readable_time(std::int64_t time_ns);

}  // namespace tocsin
