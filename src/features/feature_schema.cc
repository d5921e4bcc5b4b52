// Schemas: names to places in the catalogue, and the hash that tells two of them apart.
#include <algorithm>
#include <limits>
#include <string>

#include "features/feature_engine.h"
#include "features/feature_values.h"

namespace tocsin {
namespace {

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string_view nearest_name(std::string_view name) {
  std::string_view nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const FeatureDescription& feature : feature_catalogue()) {
    const std::size_t distance = edit_distance(name, feature.name);
    if (distance >= least) continue;
    least = distance;
    nearest = feature.name;
  }
  return nearest;
}

Digest hash_of(std::span<const std::uint16_t> indices) {
  DigestBuilder builder(DigestKind::kBlake2s256);
  builder.update("tocsin-features\n");
  for (const std::uint16_t index : indices) {
    const FeatureDescription& feature = feature_catalogue()[index];
    builder.update(feature.name);
    builder.update(" ");
    builder.update(std::to_string(feature.version));
    builder.update("\n");
  }
  return builder.finish();
}

}  // namespace

Result<FeatureSchema> FeatureSchema::from_names(std::span<const std::string> names) {
  if (names.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a feature schema needs at least one feature");
  }
  FeatureSchema schema;
  for (const std::string& name : names) {
    const auto catalogue = feature_catalogue();
    const auto found =
        std::find_if(catalogue.begin(), catalogue.end(),
                     [&](const FeatureDescription& feature) { return feature.name == name; });
    if (found == catalogue.end()) {
      return Error(ErrorCode::kInvalidArgument, "no feature '" + name +
                                                    "' in the catalogue; did you mean '" +
                                                    std::string(nearest_name(name)) + "'?");
    }
    const auto index = static_cast<std::uint16_t>(found - catalogue.begin());
    if (std::find(schema.indices_.begin(), schema.indices_.end(), index) != schema.indices_.end()) {
      return Error(ErrorCode::kInvalidArgument, "feature '" + name + "' is named twice");
    }
    schema.indices_.push_back(index);
  }
  schema.hash_ = hash_of(schema.indices_);
  return schema;
}

FeatureSchema FeatureSchema::whole_catalogue() {
  FeatureSchema schema;
  for (std::uint16_t i = 0; i < feature_catalogue().size(); ++i) schema.indices_.push_back(i);
  schema.hash_ = hash_of(schema.indices_);
  return schema;
}

FeatureSchema FeatureSchema::standard() {
  FeatureSchema schema;
  for (std::uint16_t i = 0; i < kStandardFeatureCount; ++i) schema.indices_.push_back(i);
  schema.hash_ = hash_of(schema.indices_);
  return schema;
}

std::string_view FeatureSchema::name(std::size_t index) const noexcept {
  return feature_catalogue()[indices_[index]].name;
}

}  // namespace tocsin
