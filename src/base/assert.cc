// Prints the broken invariant and stops.
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace tocsin {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "tocsin: broken invariant: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace tocsin
