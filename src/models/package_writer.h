// Writes a new version of a model package that asks for a low precision; the graph and the samples
// stay as they are.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "models/model_package.h"

namespace tocsin {

// Where a package stands: <repository>/<name>/<version>.
struct PackagePlace {
  std::string folder;
  std::string name;
  std::string version;
};

// kInvalidArgument: `folder` does not end in a name and a version; kAlreadyExists: it is there.
Result<PackagePlace> free_package_place(const std::string& folder);

// The text of package.yaml with another name and version and a `precision` block, sealed anew. An
// error if the result does not read back as that; `text` has no such block.
Result<std::string> package_yaml_with_precision(std::string_view text, const PackagePlace& place,
                                                const PackagePrecision& precision);

// Writes the package `source`, with `precision`, to `place`: whole, or not at all.
Status write_package_version(const ModelPackage& source, const PackagePlace& place,
                             const PackagePrecision& precision);

}  // namespace tocsin
