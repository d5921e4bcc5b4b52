// Makes of a package in full precision one that asks for a low precision with a guard band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engines/calibration.h"
#include "engines/engine.h"
#include "models/package_writer.h"
#include "runtime/window_feed.h"

namespace tocsin {

struct PrecisionChoice {
  Precision precision = Precision::kInt8;
  CalibrationMethod method = CalibrationMethod::kEntropy;  // of kInt8
  bool weight_scale_per_output = true;                     // of kInt8
};

// Scales and guard band of a precision, measured over sample windows on `engine`.
Result<PackagePrecision> measure_precision(const ModelPackage& package, Engine& engine,
                                           const SampleWindows& samples,
                                           const PrecisionChoice& choice,
                                           const OnProgress& on_progress);

struct QuantizeOptions {
  PrecisionChoice choice;
  std::size_t sample_count = kCalibrationSamplesDefault;
  std::string config_path;    // samples from its feed, or
  std::string samples_path;   // from an .npz file
  std::string output_folder;  // <repository>/<name>/<version>, not there yet
};

struct QuantizeReport {
  std::string source;  // "btcusdt_burst_lstm/1"
  std::string folder;  // written
  std::string samples_origin;
  PackagePrecision precision;
  std::size_t full_weight_bytes = 0;
  std::size_t weight_bytes = 0;
};

// kFailedPrecondition: fewer samples than kCalibrationSamplesMin, a package that has a precision.
// The package that was written has been loaded again.
Result<QuantizeReport> quantize(const std::string& package_folder, const QuantizeOptions& options,
                                Clock& clock, const OnProgress& on_progress);

// {"source", "folder", "precision", "method", "weights", "samples", "scales", "band": {...}, ...}
std::string quantize_report_json(const QuantizeReport& report);

}  // namespace tocsin
