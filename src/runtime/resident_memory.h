// The resident set of this process, as the kernel counts it.
#pragma once

#include <cstdint>

namespace tocsin {

// 0 where /proc cannot be read.
std::int64_t resident_bytes();

}  // namespace tocsin
