// The header of a .npy file: a Python dictionary of three known keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

struct NpyHeader {
  std::string type;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 60), }", keys in any order, each
// exactly once, blanks and a final newline as NumPy pads it. At most 32 dimensions (NumPy's own
// limit).
Result<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace tocsin
