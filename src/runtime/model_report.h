// What a model package is and whether it can be trusted: for `tocsin models`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "models/model_package.h"

namespace tocsin {

struct ModelReport {
  std::string folder;
  bool ok = false;
  std::string reason;                   // why not ok
  std::optional<ModelPackage> package;  // absent if it could not even be read
  std::string engine;                   // that ran the samples; empty: they were not run
  std::size_t samples_run = 0;          // over all window lengths
  float worst_sample_error = 0;
};

// Reads the package and checks it against this program's feature catalogue. With an engine's name
// the samples of every allowed window length are run through that engine too.
ModelReport report_model(const std::string& folder, std::string_view engine);

// Every package of a repository, or the one that `path` is.
Result<std::vector<std::string>> model_folders(const std::string& path);

// The command reference's keys: name, version, ok, reason, sha256, inputs, outputs, ...
std::string model_reports_json(const std::vector<ModelReport>& reports);

}  // namespace tocsin
