// The engine "cuda": our own kernels on an NVIDIA GPU, with the bits of "reference" in every
// precision, and windows worked ahead by a kernel that stays on the GPU.
#pragma once

#include <memory>
#include <string>

#include "engines/cuda/cuda_library.h"
#include "engines/engine.h"

namespace tocsin {

class CudaEngine final : public Engine {
 public:
  // Looks for the plug-in and a GPU at once; where there is none, info() says why in one line.
  explicit CudaEngine(const LibraryLocations& locations = CudaLibrary::locations());

  EngineInfo info() const override;
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;
  Result<std::unique_ptr<WindowStream>> load_stream(const std::string& onnx_path,
                                                    const SessionOptions& options) override;

 private:
  Status usable() const;

  Result<std::shared_ptr<const CudaLibrary>> library_;
  Result<GpuFacts> gpu_;
};

}  // namespace tocsin
