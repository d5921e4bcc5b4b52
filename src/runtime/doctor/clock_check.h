// The time stamp counter and the program's clock against CLOCK_MONOTONIC: how fast the counter
// counts, how evenly, and how far the clock that was calibrated on it drifts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace tocsin {

struct ClockCheckOptions {
  std::int64_t span_ns = 100'000'000;  // of one repetition; 1 or more
  int repetition_count = 5;            // 1 or more
};

struct ClockCheck {
  bool invariant = false;            // the clock runs on a counter that counts evenly
  std::vector<double> frequency_hz;  // of the counter, one a repetition; empty without one
  double spread_ppm = 0;             // largest to smallest of them, in parts in a million
  double drift_ppm = 0;              // of the clock over all repetitions; ahead if positive

  double median_frequency_hz() const;  // 0: there is no counter
};

// Sleeps in between, so that it takes no CPU time. Without an invariant counter there is nothing to
// check.
ClockCheck check_clock(SystemClock& clock, const ClockCheckOptions& options);

}  // namespace tocsin
