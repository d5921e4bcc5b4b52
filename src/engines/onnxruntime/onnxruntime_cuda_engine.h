// Engine "onnxruntime-cuda": ONNX Runtime with its CUDA provider, in FP32.
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/onnxruntime/cuda_provider.h"

namespace tocsin {

class OnnxRuntimeCudaEngine final : public Engine {
 public:
  explicit OnnxRuntimeCudaEngine(
      const LibraryLocations& locations = CudaProvider::vendor().locations());

  EngineInfo info() const override;
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;

 private:
  Result<CudaProvider> provider_;
};

}  // namespace tocsin
