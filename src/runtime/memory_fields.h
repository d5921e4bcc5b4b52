// What books and features hold, as the reports name it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/frame_builder.h"

namespace tocsin {

// "instruments", "orders", "levels", "book_bytes", "feature_bytes".
std::map<std::string, std::uint64_t> memory_fields(const FrameMemory& memory);

}  // namespace tocsin
