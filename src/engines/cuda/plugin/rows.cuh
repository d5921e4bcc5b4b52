// Which rows a batched kernel works on: the windows of a batch, or the windows in flight of some
// keys, whose states lie in two planes that take turns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tocsin::cuda {

// Row r is window r % windows of key keys[r / windows]; without keys it is row r of a batch, whose
// states are read from plane 0 and written to plane 1.
struct RowMap {
  const std::uint32_t* keys = nullptr;
  const unsigned long long* advanced = nullptr;  // by key: steps taken so far
  int windows = 1;
  bool carried = false;
  bool is_due = false;    // the one window of each key that is due next; planes as after a step
  bool is_first = false;  // of a batch: the states are zero
};

struct Row {
  std::size_t state = 0;  // of the row's states, in rows
  std::size_t group = 0;  // the key, or the row of a batch
  int plane = 0;          // that is read
  bool is_new = false;    // its states are zero
};

#ifdef __CUDACC__

__device__ inline Row row_of(const RowMap& map, int r) {
  if (map.keys == nullptr) return {static_cast<std::size_t>(r), static_cast<std::size_t>(r), 0,
                                   map.is_first};
  Row row;
  const std::size_t key = map.keys[map.is_due ? r : r / map.windows];
  const unsigned long long advanced = map.advanced[key];
  const auto windows = static_cast<unsigned long long>(map.windows);
  const unsigned long long window =
      map.is_due ? (map.carried ? 0 : (advanced + 2) % windows) : r % map.windows;
  row.group = key;
  row.state = key * windows + window;
  row.plane = static_cast<int>((advanced + (map.is_due ? 1 : 0)) & 1);
  row.is_new = !map.is_due && (map.carried ? advanced == 0 : window == advanced % windows);
  return row;
}

#endif

}  // namespace tocsin::cuda
