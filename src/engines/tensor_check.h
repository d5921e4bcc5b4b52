// What engines ask of the tensors that they are run on, and the memory they bind in their place.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "engines/engine.h"

namespace tocsin {

// Why `views` are not tensors of `specs`, as kInvalidArgument with the tensor's name; nullopt if
// they are. `what` is "input" or "output".
std::optional<Error> misfit(std::span<const TensorView> views, std::span<const TensorSpec> specs,
                            const char* what);

// `specs` with a free first axis set to `batch`, and a free second axis of three to `steps` unless
// that is 0: the shapes that a window model will be run with.
std::vector<TensorSpec> window_specs(std::vector<TensorSpec> specs, std::int64_t batch,
                                     std::int64_t steps);
// Whether an axis is still free, or the tensor holds text.
bool is_open(const TensorSpec& spec);

// An error unless the counts of `options` make sense.
Status check_counts(const SessionOptions& options);

struct AlignedDelete {
  void operator()(std::byte* memory) const noexcept {
    ::operator delete(memory, std::align_val_t(kCacheLineBytes));
  }
};
using AlignedBuffer = std::unique_ptr<std::byte[], AlignedDelete>;
// Zeroed, on a cache line.
AlignedBuffer make_aligned_buffer(std::size_t size_bytes);

}  // namespace tocsin
