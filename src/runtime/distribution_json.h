// A latency distribution as the command reference prints it. Private to the module's .cc files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "telemetry/histogram.h"

namespace tocsin {

nlohmann::json distribution_json(const Distribution& distribution);

}  // namespace tocsin
