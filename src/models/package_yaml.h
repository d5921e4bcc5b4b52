// package.yaml: its seal, and its keys read strictly (docs/model-packages.md).
// Nothing here looks at other files, so that any text can be tried.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"
#include "models/model_package.h"

namespace tocsin {

inline constexpr std::size_t kPackageYamlBytesMax = std::size_t{1} << 20;

// The last line's digest, if it is that of everything before it.
Result<Digest> check_seal(std::string_view text);

// All that package.yaml says, every rule checked that the file alone can break; `name` is the
// file's in messages. Paths, the seal and the samples' values are left empty.
Result<ModelPackage> parse_package_yaml(std::string_view text, const std::string& name);

}  // namespace tocsin
