// The size that keeps two threads' data apart.
#pragma once

#include <cstddef>

namespace tocsin {

inline constexpr std::size_t kCacheLineBytes = 64;

}  // namespace tocsin
