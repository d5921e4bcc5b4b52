// ONNX Runtime's CUDA provider, which is a part of its builds for GPUs alone: the library is looked
// for apart from the CPU's.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/vendor_library.h"
#include "engines/onnxruntime/cuda_memory.h"
#include "engines/onnxruntime/execution_provider.h"
#include "engines/onnxruntime/onnxruntime_library.h"

namespace tocsin {

class CudaProvider final : public ExecutionProvider {
 public:
  // What is looked for where.
  static const VendorLibrary& vendor();
  // Does not start CUDA. kUnavailable: no library, one without the provider, or no GPU.
  static Result<CudaProvider> open(const LibraryLocations& locations = vendor().locations());

  const std::shared_ptr<const OnnxRuntimeLibrary>& library() const noexcept { return library_; }

  // The same with CUDA started, for a session.
  Result<CudaProvider> started() const;
  // FP32 without TF32, on the stream of memory().
  Status append_to(OrtSessionOptions& settings, const Options& options) const override;
  std::shared_ptr<CudaMemory> memory() const override { return memory_; }

 private:
  CudaProvider() = default;

  std::shared_ptr<const OnnxRuntimeLibrary> library_;
  std::shared_ptr<CudaMemory> memory_;  // null until it is started
};

}  // namespace tocsin
