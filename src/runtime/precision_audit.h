// What each precision does to a model's decisions, not only to its scores: every window of a feed
// is scored in all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engines/engine.h"
#include "models/model_package.h"
#include "runtime/window_feed.h"
#include "telemetry/histogram.h"

namespace tocsin {

// A precision whose AUC falls by more, relative to FP32's, is refused.
inline constexpr double kAucFallMax = 0.005;

struct PrecisionAuditOptions {
  std::string config_path;   // every window of its feed, or
  std::string samples_path;  // of an .npz file, which has no outcomes and so no AUC
};

struct PrecisionAuditRow {
  Precision precision = Precision::kFloat32;
  std::string method;     // of INT8's scales: the package's own, or measured for the audit
  double mean_error = 0;  // absolute difference from FP32
  double worst_error = 0;
  std::uint64_t alert_flips = 0;    // scores on the other side of the alert threshold than FP32's
  std::uint64_t release_flips = 0;  // of the release threshold
  std::uint64_t missed = 0;        // of alert_flips, those that FP32 puts at the threshold or above
  std::uint64_t false_orders = 0;  // and those that it puts below
  std::optional<double> auc;       // of scores against outcomes; none without both kinds
  std::optional<double> auc_change;  // relative to FP32's
  float band_width = 0;
  std::uint64_t rescored = 0;         // windows within the band
  std::uint64_t flips_with_band = 0;  // of both thresholds, after these are scored in FP32
  Distribution latency_ns;            // of one score, worked ahead where the model allows it
  std::size_t weight_bytes = 0;

  std::uint64_t flips() const noexcept { return alert_flips + release_flips; }
  bool is_refused() const noexcept { return auc_change && *auc_change < -kAucFallMax; }
};

struct PrecisionAudit {
  std::string model;   // "btcusdt_burst_lstm/1"
  std::string origin;  // the file's name
  std::uint64_t windows = 0;
  std::uint64_t judged =
      0;  // windows behind the AUC: those that the model has not seen, if it says
  std::uint64_t bursts = 0;  // of them, those that a burst followed
  float alert_threshold = 0;
  float release_threshold = 0;
  std::vector<PrecisionAuditRow> rows;  // FP32 first

  bool ok() const noexcept;
};

// The area under the ROC curve: the share of pairs of a positive and a negative in which the
// positive scores higher, ties half (Mann-Whitney U). Nothing without both kinds.
std::optional<double> roc_auc(std::span<const float> scores, const std::vector<bool>& positive);

// Precisions without a calibration in the package are measured over windows of the same input, by
// entropy and per channel.
Result<PrecisionAudit> audit_precisions(const std::string& package_folder,
                                        const PrecisionAuditOptions& options, Clock& clock,
                                        const OnProgress& on_progress);

// {"model", "windows", ..., "precisions": [{"precision", "flips", "missed", "false_orders", "auc",
// "auc_change", "rescored_share", "flips_with_band", "latency_ns", "bytes", ...}]}
std::string precision_audit_json(const PrecisionAudit& audit);

}  // namespace tocsin
