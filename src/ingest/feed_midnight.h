// The midnight that a feed's times count from, for feeds that name no date.
#pragma once

#include <cstdint>

namespace tocsin {

// Venues count from midnight where they are, a whole number of hours from UTC: the whole hour of
// UTC nearest to (receive time - message time). Right while the receiver's clock is right to half
// an hour. 0 where the receive times are none.
inline std::int64_t nearest_midnight_ns(std::int64_t receive_time_ns,
                                        std::int64_t message_time_ns) noexcept {
  constexpr std::int64_t kHourNs = 3'600 * std::int64_t{1'000'000'000};
  if (receive_time_ns < message_time_ns) return 0;
  return (receive_time_ns - message_time_ns + kHourNs / 2) / kHourNs * kHourNs;
}

}  // namespace tocsin
