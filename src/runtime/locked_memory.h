// Memory that the system may neither swap out nor leave to be found at first use.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tocsin {

// Locks all that this process has mapped and will map (mlockall(2)). kPermissionDenied with the
// limit that stands in the way and how to raise it.
Status lock_memory();

// "8192 KiB" or "no limit": RLIMIT_MEMLOCK of this process.
std::string locked_memory_limit();

// Whether that many bytes of new memory can be locked; they are unlocked and given back.
Status try_locking(std::size_t size_bytes);

}  // namespace tocsin
