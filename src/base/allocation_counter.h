// Counts the calling thread's heap allocations: the proof that a hot path makes none.
// Linking this file's object replaces the global operator new of the program.
#pragma once

#include <cstdint>

namespace tocsin {

// Calls of operator new by the calling thread since it started.
std::uint64_t allocation_count() noexcept;

}  // namespace tocsin
