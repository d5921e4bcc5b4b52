// Names and sizes of the types of the engine seam.
#include "engines/engine.h"

#include <algorithm>
#include <array>

namespace tocsin {

std::string_view data_type_name(DataType type) noexcept {
  static constexpr std::array<std::string_view, 12> kNames = {
      "float32", "int64", "int32", "bool",   "float64", "string",
      "int8",    "uint8", "int16", "uint16", "uint32",  "uint64"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t data_type_size_bytes(DataType type) noexcept {
  // A string has no fixed size: 0.
  static constexpr std::array<std::size_t, 12> kSizes = {4, 8, 4, 1, 8, 0, 1, 1, 2, 2, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

namespace {
constexpr std::array<std::string_view, 4> kPrecisionNames = {"float32", "bfloat16", "float16",
                                                             "int8"};
}  // namespace

std::string_view precision_name(Precision precision) noexcept {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

std::optional<Precision> precision_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(kPrecisionNames, name);
  if (found == kPrecisionNames.end()) return {};
  return static_cast<Precision>(found - kPrecisionNames.begin());
}

Status check_precision(const EngineInfo& info, const SessionOptions& options) {
  if (std::ranges::find(info.precisions, options.precision) == info.precisions.end()) {
    std::string names;
    for (const Precision precision : info.precisions) {
      if (!names.empty()) names += ", ";
      names += precision_name(precision);
    }
    return Error(ErrorCode::kUnimplemented, "engine '" + info.name + "' has no precision " +
                                                std::string(precision_name(options.precision)) +
                                                "; it has " + names);
  }
  if (options.precision == Precision::kInt8 && options.activation_scales == nullptr) {
    return Error(ErrorCode::kFailedPrecondition,
                 "int8 needs a calibration, and the package has none; `tocsin quantize` makes one");
  }
  return {};
}

Result<std::unique_ptr<WindowStream>> Engine::load_stream(const std::string& /*onnx_path*/,
                                                          const SessionOptions& /*options*/) {
  return Error(ErrorCode::kUnimplemented,
               "engine '" + info().name + "' computes nothing ahead: it runs whole windows only");
}

}  // namespace tocsin
