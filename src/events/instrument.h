// What is known of an instrument: its name and the grid its prices and quantities lie on.
#pragma once

#include <cstdint>
#include <string>

namespace tocsin {

struct Instrument {
  std::string symbol;
  std::int64_t price_tick_nanos = 10'000'000;        // smallest price step; 0.01 by default
  std::int64_t quantity_step_nanos = 1'000'000'000;  // smallest quantity step; 1 by default
  // Digits behind the point as the venue writes them, for a checksum over the text; -1: not known.
  std::int8_t price_decimals = -1;
  std::int8_t quantity_decimals = -1;
};

}  // namespace tocsin
