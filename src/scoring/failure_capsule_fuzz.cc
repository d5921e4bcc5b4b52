// Any bytes as a capsule; what is read must come back from its own text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scoring/failure_capsule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto capsule = tocsin::parse_failure_capsule(text);
  if (!capsule.ok()) return 0;
  const auto again = tocsin::parse_failure_capsule(tocsin::format_failure_capsule(*capsule));
  if (!again.ok() || again->raw_window.size() != capsule->raw_window.size()) __builtin_trap();
  return 0;
}
