// What is known of an instrument: its name and the grid its prices and quantities lie on.
#pragma once

#include <cstdint>
#include <string>

namespace tocsin {

// What an order that is modified keeps of its place in the queue. (A replacement that names a new
// order, as Nasdaq's, is a deletion and an addition, and so goes to the back.)
enum class ModifyPriority : std::uint8_t {
  kLostByPriceOrIncrease,  // kept where the price stays and the quantity does not grow: CME
  kLostUnlessDecreased,    // lost also by a modification that changes nothing: Cboe (rule 5.32(e))
};

struct Instrument {
  std::string symbol;
  std::int64_t price_tick_nanos = 10'000'000;        // smallest price step; 0.01 by default
  std::int64_t quantity_step_nanos = 1'000'000'000;  // smallest quantity step; 1 by default
  // Digits behind the point as the venue writes them, for a checksum over the text; -1: not known.
  std::int8_t price_decimals = -1;
  std::int8_t quantity_decimals = -1;
  ModifyPriority modify_priority = ModifyPriority::kLostByPriceOrIncrease;
};

}  // namespace tocsin
