// What ONNX Runtime runs a session's nodes on before its own CPU kernels.
#pragma once

#include <memory>

#include "base/result.h"

struct OrtSessionOptions;

namespace tocsin {

class CudaMemory;

class ExecutionProvider {
 public:
  virtual ~ExecutionProvider() = default;

  // A session's use of it.
  struct Options {
    int thread_count = 1;
    bool captures_graph = false;  // of a GPU's work; only where can_capture_graph()
  };
  virtual Status append_to(OrtSessionOptions& settings, const Options& options) const = 0;
  // The device's memory, to which inputs and outputs are bound. Null: they are bound to the host's,
  // which ONNX Runtime copies when it is bound.
  virtual std::shared_ptr<CudaMemory> memory() const { return nullptr; }
};

}  // namespace tocsin
