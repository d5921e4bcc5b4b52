// What `tocsin bench engines` measured, as JSON and as a page.
#pragma once

#include <string>

#include "runtime/engine_bench.h"

namespace tocsin {

// The command reference's keys: machine, rows, jitter_ns.
std::string engine_bench_json(const EngineBenchReport& report);

// One HTML file without a network: a bar a row with its quantiles, and over time for a held load.
std::string engine_bench_html(const EngineBenchReport& report);

}  // namespace tocsin
