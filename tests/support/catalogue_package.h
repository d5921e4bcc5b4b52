// Packages whose features are this program's own, for the tests of this module.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "features/feature_engine.h"
#include "models/model_package.h"
#include "support/test_package.h"

namespace tocsin {

// `parts` with the first features of the catalogue in place of the names it holds.
inline TestPackageParts with_catalogue_features(TestPackageParts parts) {
  for (std::size_t i = 0; i < parts.features.size(); ++i) {
    parts.features[i] = feature_catalogue()[i].name;
    parts.feature_versions[i] = feature_catalogue()[i].version;
  }
  const Result<FeatureSchema> schema = FeatureSchema::from_names(parts.features);
  if (!schema.ok()) throw std::runtime_error(schema.error().message());
  parts.schema_hash = to_hex(schema->hash());
  return parts;
}

inline ModelPackage load_test_package(const TestPackage& files) {
  Result<ModelPackage> package = load_model_package(files.folder().string());
  if (!package.ok()) throw std::runtime_error(package.error().message());
  return std::move(*package);
}

}  // namespace tocsin
