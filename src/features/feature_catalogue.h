// The catalogue as documentation: docs/features.md is this text, and a test compares the two.
#pragma once

#include <string>

namespace tocsin {

std::string feature_catalogue_markdown();

}  // namespace tocsin
