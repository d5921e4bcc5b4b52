// The loop records into memory it has touched before: page faults would be gaps of its own making.
#include "runtime/doctor/jitter_check.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "concurrency/cpu_affinity.h"

namespace tocsin {
namespace {

constexpr std::int64_t kWarmUpNs = 1'000'000;

void record(std::int64_t gap_ns, LatencyHistogram& gaps, JitterCheck& check) noexcept {
  gaps.record(gap_ns);
  JitterBand* band = check.bands.data();
  while (gap_ns >= band->upper_ns) ++band;
  ++band->count;
  band->total_ns += gap_ns;
}

void spin(std::int64_t duration_ns, const Clock& clock, LatencyHistogram& gaps,
          JitterCheck& check) noexcept {
  const std::int64_t start_ns = clock.monotonic_time_ns();
  std::int64_t last_ns = start_ns;
  while (last_ns - start_ns < duration_ns) {
    const std::int64_t now_ns = clock.monotonic_time_ns();
    record(std::max<std::int64_t>(now_ns - last_ns, 0), gaps, check);
    last_ns = now_ns;
  }
  check.elapsed_ns = last_ns - start_ns;
}

JitterCheck empty_check(int cpu) {
  JitterCheck check;
  check.cpu = cpu;
  std::int64_t lower_ns = 0;
  std::int64_t upper_ns = 100;
  for (JitterBand& band : check.bands) {
    band.lower_ns = lower_ns;
    band.upper_ns = upper_ns;
    lower_ns = upper_ns;
    upper_ns *= 10;
  }
  check.bands.back().upper_ns = std::numeric_limits<std::int64_t>::max();
  return check;
}

}  // namespace

Result<JitterCheck> check_jitter(const JitterCheckOptions& options, const Clock& clock) {
  JitterCheck check = empty_check(options.cpu);
  LatencyHistogram gaps;
  Status bound;
  std::thread([&] {
    bound = run_on_cpus({options.cpu});
    if (!bound.ok()) return;
    JitterCheck warm_up = check;
    LatencyHistogram ignored;
    spin(kWarmUpNs, clock, ignored, warm_up);
    spin(options.duration_ns, clock, gaps, check);
  }).join();
  TOCSIN_RETURN_IF_ERROR(bound);
  check.gap_ns = gaps.distribution();
  std::int64_t lost_ns = 0;
  for (const JitterBand& band : check.bands)
    if (band.lower_ns >= JitterCheck::kLostNs) lost_ns += band.total_ns;
  if (check.elapsed_ns > 0)
    check.lost_share = static_cast<double>(lost_ns) / static_cast<double>(check.elapsed_ns);
  return check;
}

}  // namespace tocsin
