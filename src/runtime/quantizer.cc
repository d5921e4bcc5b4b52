// Samples, scales, band, package; then the new package is loaded as a run would.
#include "runtime/quantizer.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "scoring/guard_calibration.h"
#include "scoring/loaded_model.h"
#include "scoring/window_batch.h"

namespace tocsin {
namespace {

constexpr std::string_view kEngine = "native";

// The part of a progress from `first` to `last`.
std::function<void(double)> part_of(const OnProgress& on_progress, double first, double last) {
  return [&on_progress, first, last](double share) {
    if (on_progress) on_progress({.share = first + (last - first) * share});
  };
}

Status check_sample_count(const SampleWindows& samples) {
  if (samples.count >= kCalibrationSamplesMin) return {};
  return Error(ErrorCode::kFailedPrecondition,
               samples.origin + ": at least " + std::to_string(kCalibrationSamplesMin) +
                   " sample windows are needed, found " + std::to_string(samples.count));
}

Result<SampleWindows> take_samples(const QuantizeOptions& options, const ModelPackage& package,
                                   Clock& clock, const OnProgress& on_progress) {
  if (options.config_path.empty())
    return read_sample_windows(options.samples_path, package, options.sample_count);
  TOCSIN_ASSIGN_OR_RETURN(const RunConfig config, read_run_config(options.config_path));
  return sample_windows(
      config.source, package, options.sample_count, clock,
      [&on_progress](const Progress& progress) { part_of(on_progress, 0, 0.3)(progress.share); });
}

}  // namespace

Result<PackagePrecision> measure_precision(const ModelPackage& package, Engine& engine,
                                           const SampleWindows& samples,
                                           const PrecisionChoice& choice,
                                           const OnProgress& on_progress) {
  TOCSIN_RETURN_IF_ERROR(check_sample_count(samples));
  PackagePrecision precision;
  precision.name = precision_name(choice.precision);
  precision.method = "none";
  precision.calibration_samples = static_cast<std::int64_t>(samples.count);
  if (choice.precision == Precision::kInt8) {
    precision.method = calibration_method_name(choice.method);
    precision.weight_scale_per_output = choice.weight_scale_per_output;
    TOCSIN_ASSIGN_OR_RETURN(
        precision.activation_scales,
        calibrate(package.onnx_path, samples.values,
                  {.method = choice.method,
                   .steps = package.steps,
                   .feature_count = static_cast<std::int64_t>(package.features.size()),
                   .on_progress = part_of(on_progress, 0, 0.5)}));
  }
  TOCSIN_ASSIGN_OR_RETURN(
      precision.band,
      measure_guard_band(package, precision, engine, samples.values, part_of(on_progress, 0.5, 1)));
  return precision;
}

Result<QuantizeReport> quantize(const std::string& package_folder, const QuantizeOptions& options,
                                Clock& clock, const OnProgress& on_progress) {
  TOCSIN_ASSIGN_OR_RETURN(const ModelPackage package, load_model_package(package_folder));
  if (package.precision)
    return Error(ErrorCode::kFailedPrecondition,
                 package.folder + ": asks for " + package.precision->name +
                     " already; give the version in full precision");
  if (package.carried)
    return Error(ErrorCode::kFailedPrecondition,
                 package.folder +
                     ": carries its states (window.carried), for which no guard band is known; "
                     "one step in float32 is all that it computes for a frame");
  TOCSIN_ASSIGN_OR_RETURN(const PackagePlace place, free_package_place(options.output_folder));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(kEngine));
  TOCSIN_ASSIGN_OR_RETURN(const SampleWindows samples,
                          take_samples(options, package, clock, on_progress));
  QuantizeReport report;
  TOCSIN_ASSIGN_OR_RETURN(
      report.precision,
      measure_precision(package, *engine, samples, options.choice, [&](const Progress& progress) {
        part_of(on_progress, 0.3, 1)(progress.share);
      }));
  TOCSIN_RETURN_IF_ERROR(write_package_version(package, place, report.precision));
  TOCSIN_ASSIGN_OR_RETURN(ModelPackage written, load_model_package(place.folder));
  TOCSIN_ASSIGN_OR_RETURN(const LoadedModel model, load_model(std::move(written), *engine, {}));
  report.source = package.name + "/" + package.version;
  report.folder = options.output_folder;
  report.samples_origin = samples.origin;
  report.weight_bytes = model.session->weight_bytes();
  if (model.full_session) report.full_weight_bytes = model.full_session->weight_bytes();
  return report;
}

std::string quantize_report_json(const QuantizeReport& report) {
  const PackagePrecision& precision = report.precision;
  const nlohmann::json root = {
      {"source", report.source},
      {"folder", report.folder},
      {"precision", precision.name},
      {"method", precision.method},
      {"weights", precision.weight_scale_per_output ? "per-channel" : "per-tensor"},
      {"samples", precision.calibration_samples},
      {"samples_origin", report.samples_origin},
      {"scales", precision.activation_scales.size()},
      {"band",
       {{"kind", precision.band.kind},
        {"width", precision.band.width},
        {"worst_error", precision.band.worst_error},
        {"quantile", precision.band.quantile},
        {"confidence", precision.band.confidence},
        {"samples", precision.band.sample_count}}},
      {"bytes", report.weight_bytes},
      {"bytes_float32", report.full_weight_bytes}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
