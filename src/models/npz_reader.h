// NumPy's .npz archives (zip) of .npy arrays, as far as samples need them: little-endian float32 in
// C order. Sizes are bounded before memory is taken, so that hostile archives are harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tocsin {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major
};

struct NamedNpyArray {
  std::string name;  // of the archive's member, without ".npy"
  NpyArray array;
};

struct NpzLimits {
  std::size_t array_count_max = 64;
  std::size_t unpacked_bytes_max = std::size_t{256} << 20;  // of all members together
};

// One .npy file, version 1 or 2 (format: numpy.lib.format, "Format Version 1.0" and "2.0"). The
// data must be exactly as long as the shape says.
Result<NpyArray> read_npy(std::span<const std::byte> bytes);

// All members in the archive's order; two of one name are refused.
Result<std::vector<NamedNpyArray>> read_npz(std::span<const std::byte> bytes,
                                            const NpzLimits& limits = {});

}  // namespace tocsin
