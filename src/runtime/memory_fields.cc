// Names of figures: stable keys.
#include "runtime/memory_fields.h"

namespace tocsin {

std::map<std::string, std::uint64_t> memory_fields(const FrameMemory& memory) {
  return {{"instruments", memory.instruments},
          {"orders", memory.orders},
          {"levels", memory.levels},
          {"book_bytes", memory.book_bytes},
          {"feature_bytes", memory.feature_bytes}};
}

}  // namespace tocsin
