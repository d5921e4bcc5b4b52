// A latency distribution as the command reference names its parts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "telemetry/histogram.h"

namespace tocsin {

// "count", "mean", "p50", "p90", "p99", "p999", "p9999", "max"; integer nanoseconds but for the
// count.
std::map<std::string, std::int64_t> distribution_fields(const Distribution& distribution);

}  // namespace tocsin
