// How the host and a resident kernel talk: 16-byte chunks in mapped host memory, each with the
// number of its message, so that what is polled is the content itself.
#pragma once

#include <cstdint>

namespace tocsin::cuda {

inline constexpr int kChunkFloats = 3;
inline constexpr std::uint32_t kStopNumber = 0xffffffffU;

struct alignas(16) Chunk {
  std::uint32_t words[3];
  std::uint32_t number;
};
// The first chunk of a request holds the key, how many steps its windows have taken, and the window
// that is due; the frame follows. An answer holds outputs alone.
constexpr int chunk_count(int floats) { return (floats + kChunkFloats - 1) / kChunkFloats; }
constexpr int request_chunks(int features) { return 1 + chunk_count(features); }

}  // namespace tocsin::cuda
