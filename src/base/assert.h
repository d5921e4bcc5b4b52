// Assertions that stop the program in every build: a broken invariant is never carried on.
#pragma once

namespace tocsin {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace tocsin

#define TOCSIN_ASSERT(expression)                                  \
  do {                                                             \
    if (!(expression)) [[unlikely]]                                \
      ::tocsin::assertion_failed(#expression, __FILE__, __LINE__); \
  } while (false)
