// {"count", "mean", "p50", "p90", "p99", "p999", "p9999", "max"}, integer nanoseconds.
#include "runtime/distribution_json.h"

#include <nlohmann/json.hpp>

namespace tocsin {

nlohmann::json distribution_json(const Distribution& distribution) {
  return {{"count", distribution.count}, {"mean", distribution.mean}, {"p50", distribution.p50},
          {"p90", distribution.p90},     {"p99", distribution.p99},   {"p999", distribution.p999},
          {"p9999", distribution.p9999}, {"max", distribution.max}};
}

}  // namespace tocsin
