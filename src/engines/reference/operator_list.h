// What the reference engine's table of operators holds, for those who list it.
#pragma once

#include <span>
#include <string_view>

#include "engines/reference/operator.h"

namespace tocsin {

// Sorted by name; empty for a domain other than ai.onnx ("") and ai.onnx.ml.
std::span<const OperatorEntry> operators_of(std::string_view domain) noexcept;

}  // namespace tocsin
