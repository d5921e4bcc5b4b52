// Package checks first, then the same loading that a run does.
#include "runtime/model_report.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engines/engine.h"
#include "scoring/loaded_model.h"

namespace tocsin {
namespace {

using nlohmann::json;

// Loads the package for every window length; each load runs that length's samples.
Status run_samples(const ModelPackage& package, std::string_view engine_name, ModelReport& report) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(engine_name));
  for (const std::int64_t steps : package.steps_allowed) {
    TOCSIN_ASSIGN_OR_RETURN(const LoadedModel model,
                            load_model(package, *engine, {.steps = steps}));
    report.samples_run += model.sample_count;
    report.worst_sample_error = std::max(report.worst_sample_error, model.worst_sample_error);
  }
  report.engine = engine_name;
  return {};
}

Status check(const std::string& folder, std::string_view engine, ModelReport& report) {
  TOCSIN_ASSIGN_OR_RETURN(report.package, load_model_package(folder));
  TOCSIN_ASSIGN_OR_RETURN([[maybe_unused]] const FeatureSchema schema,
                          check_feature_schema(*report.package));
  if (!engine.empty()) TOCSIN_RETURN_IF_ERROR(run_samples(*report.package, engine, report));
  return {};
}

// As it was typed where that can be: "models" for "models/x/"; absolute for "." and "..".
std::string folder_above(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path folder = fs::path(path).lexically_normal();
  if (folder.filename() == "." || folder.filename() == "..")
    folder = fs::absolute(folder, ignored).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.has_parent_path() ? folder.parent_path().string() : ".";
}

json tensors_json(const std::vector<PackageTensor>& tensors) {
  json list = json::array();
  for (const PackageTensor& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}});
  return list;
}

// Null for a package in FP32.
json precision_json(const ModelPackage& package) {
  if (!package.precision) return {};
  const PackagePrecision& precision = *package.precision;
  const GuardBand& band = precision.band;
  return {{"name", precision.name},
          {"method", precision.method},
          {"scales", precision.activation_scales.size()},
          {"calibration_samples", precision.calibration_samples},
          {"band",
           {{"kind", band.kind},
            {"width", band.width},
            {"quantile", band.quantile},
            {"confidence", band.confidence},
            {"samples", band.sample_count},
            {"worst_error", band.worst_error}}}};
}

json package_json(const ModelPackage& package) {
  json seen = json::array();
  for (const SeenStretch& part : package.seen)
    seen.push_back({{"source", part.source},
                    {"part", part.part},
                    {"first_record", part.first_record},
                    {"last_record", part.last_record}});
  json evaluation = json::array();
  for (const EvaluationFigure& figure : package.evaluation)
    evaluation.push_back({{"name", figure.name}, {"data", figure.data}, {"value", figure.value}});
  return {{"name", package.name},
          {"version", package.version},
          {"description", package.description},
          {"licence", package.licence},
          {"sha256", to_hex(package.model_sha256)},
          {"inputs", tensors_json(package.inputs)},
          {"outputs", tensors_json(package.outputs)},
          {"feature_schema", to_hex(package.schema_hash)},
          {"features", package.features},
          {"steps", package.steps},
          {"steps_allowed", package.steps_allowed},
          {"target",
           {{"move_ticks", package.target.move_ticks},
            {"horizon_frames", package.target.horizon_frames}}},
          {"thresholds",
           {{"threshold", package.threshold},
            {"release_threshold", package.release_threshold},
            {"alert_rate", package.alert_rate}}},
          {"precision", precision_json(package)},
          {"seen", seen},
          {"evaluation", evaluation}};
}

}  // namespace

ModelReport report_model(const std::string& folder, std::string_view engine) {
  ModelReport report;
  report.folder = folder;
  const Status status = check(folder, engine, report);
  report.ok = status.ok();
  if (!report.ok) report.reason = status.error().message();
  return report;
}

Result<std::vector<std::string>> model_folders(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_version = fs::exists(fs::path(path) / "package.yaml", ignored) ||
                          fs::exists(fs::path(path) / "model.onnx", ignored);
  if (is_version) return std::vector<std::string>{path};
  TOCSIN_ASSIGN_OR_RETURN(std::vector<std::string> folders, find_model_packages(path));
  if (folders.empty()) {
    // Not a repository: <repository>/<name>, whose versions lie right below.
    TOCSIN_ASSIGN_OR_RETURN(folders, find_model_packages(folder_above(path)));
    std::erase_if(folders, [&](const std::string& folder) {
      return !fs::equivalent(fs::path(folder).parent_path(), path, ignored);
    });
  }
  if (folders.empty())
    return Error(ErrorCode::kNotFound,
                 path + ": no model packages here; expected <name>/<version>/package.yaml");
  return folders;
}

std::string model_reports_json(const std::vector<ModelReport>& reports) {
  json list = json::array();
  for (const ModelReport& report : reports) {
    json entry = report.package ? package_json(*report.package) : json::object();
    entry["folder"] = report.folder;
    entry["ok"] = report.ok;
    entry["reason"] = report.reason;
    if (!report.engine.empty()) {
      entry["engine"] = report.engine;
      entry["samples_run"] = report.samples_run;
      entry["worst_sample_error"] = report.worst_sample_error;
    }
    list.push_back(entry);
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
