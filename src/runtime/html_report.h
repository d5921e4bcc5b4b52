// A run's summary as one HTML file that opens in a browser without a network.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tocsin {

// `summary_json` is what run_summary_json() wrote. The page shows mid price, score against its
// thresholds, alerts, the latency histogram and the stages' figures.
Result<std::string> html_report(std::string_view summary_json);

}  // namespace tocsin
