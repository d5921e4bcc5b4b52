// Names of a distribution's parts: stable keys.
#include "runtime/distribution_fields.h"

namespace tocsin {

std::map<std::string, std::int64_t> distribution_fields(const Distribution& distribution) {
  return {{"count", static_cast<std::int64_t>(distribution.count)},
          {"mean", distribution.mean},
          {"p50", distribution.p50},
          {"p90", distribution.p90},
          {"p99", distribution.p99},
          {"p999", distribution.p999},
          {"p9999", distribution.p9999},
          {"max", distribution.max}};
}

}  // namespace tocsin
