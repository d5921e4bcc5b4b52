// Any bytes as package.yaml. The parser is tried whether or not the seal fits: no mutation would
// pass it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "events/feature_frame.h"
#include "models/package_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto seal = tocsin::check_seal(text);
  if (!seal.ok() && seal.error().message().empty()) __builtin_trap();
  const auto package = tocsin::parse_package_yaml(text, "package.yaml");
  if (!package.ok()) {
    if (package.error().message().empty()) __builtin_trap();
    return 0;
  }
  // What the rest of the program relies on.
  const std::size_t count = package->features.size();
  const bool holds =
      count >= 1 && count <= tocsin::kMaxFrameFeatures &&
      package->normalisation_mean.size() == count && package->normalisation_scale.size() == count &&
      package->inputs.size() == 1 && package->outputs.size() == 1 &&
      package->inputs[0].shape.size() == 3 && package->outputs[0].shape.size() == 2 &&
      static_cast<std::int64_t>(package->output_index) < package->outputs[0].shape[1] &&
      package->release_threshold <= package->threshold && !package->steps_allowed.empty();
  if (!holds) __builtin_trap();
  return 0;
}
