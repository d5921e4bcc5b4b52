// What the system takes from a thread that wants nothing but its CPU: a loop reads the clock, and
// each gap between two readings is what an event would have waited.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "telemetry/histogram.h"

namespace tocsin {

struct JitterCheckOptions {
  int cpu = 0;  // that the loop is bound to
  std::int64_t duration_ns = 2'000'000'000;
};

struct JitterBand {
  std::int64_t lower_ns = 0;
  std::int64_t upper_ns = 0;  // exclusive; of the last band INT64_MAX
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
};

struct JitterCheck {
  // Gaps of one microsecond or more are not the loop's own.
  static constexpr std::int64_t kLostNs = 1'000;

  int cpu = 0;
  std::int64_t elapsed_ns = 0;
  Distribution gap_ns;
  std::array<JitterBand, 7> bands{};  // by powers of ten, from 0 and 100 ns on
  double lost_share = 0;              // of the time, in gaps of kLostNs or more
};

// The loop has a thread of its own. The error is that of binding it.
Result<JitterCheck> check_jitter(const JitterCheckOptions& options, const Clock& clock);

}  // namespace tocsin
