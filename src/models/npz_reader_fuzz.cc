// Any bytes as an archive, and as a single array.
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/npz_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const tocsin::NpzLimits limits{.array_count_max = 8, .unpacked_bytes_max = 1 << 20};
  const auto arrays = tocsin::read_npz(bytes, limits);
  if (arrays.ok()) {
    std::size_t value_count = 0;
    for (const auto& named : *arrays) value_count += named.array.values.size();
    if (value_count * sizeof(float) > limits.unpacked_bytes_max) __builtin_trap();
  }
  const auto array = tocsin::read_npy(bytes);
  if (array.ok() && array->values.size() * sizeof(float) > size) __builtin_trap();
  return 0;
}
