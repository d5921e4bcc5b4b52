// An audit of precisions as JSON; keys may be added, never renamed.
#include <nlohmann/json.hpp>

#include "runtime/distribution_fields.h"
#include "runtime/precision_audit.h"

namespace tocsin {
namespace {

using nlohmann::json;

json optional_json(const std::optional<double>& value) { return value ? json(*value) : json(); }

json row_json(const PrecisionAuditRow& row, std::uint64_t windows) {
  const double share =
      windows == 0 ? 0.0 : static_cast<double>(row.rescored) / static_cast<double>(windows);
  return {{"precision", precision_name(row.precision)},
          {"method", row.method},
          {"mean_error", row.mean_error},
          {"worst_error", row.worst_error},
          {"flips", row.flips()},
          {"alert_flips", row.alert_flips},
          {"release_flips", row.release_flips},
          {"missed", row.missed},
          {"false_orders", row.false_orders},
          {"auc", optional_json(row.auc)},
          {"auc_change", optional_json(row.auc_change)},
          {"band_width", row.band_width},
          {"rescored_share", share},
          {"flips_with_band", row.flips_with_band},
          {"latency_ns", distribution_fields(row.latency_ns)},
          {"bytes", row.weight_bytes},
          {"ok", !row.is_refused()}};
}

}  // namespace

std::string precision_audit_json(const PrecisionAudit& audit) {
  json rows = json::array();
  for (const PrecisionAuditRow& row : audit.rows) rows.push_back(row_json(row, audit.windows));
  const json root = {{"model", audit.model},
                     {"origin", audit.origin},
                     {"windows", audit.windows},
                     {"judged", audit.judged},
                     {"bursts", audit.bursts},
                     {"threshold", audit.alert_threshold},
                     {"release_threshold", audit.release_threshold},
                     {"ok", audit.ok()},
                     {"precisions", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
