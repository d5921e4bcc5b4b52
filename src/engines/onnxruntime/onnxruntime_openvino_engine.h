// ONNX Runtime with its OpenVINO provider behind the Engine seam. What the provider does not take
// of a model runs on ONNX Runtime's own CPU kernels. Determinism class "tolerance".
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/onnxruntime/openvino_provider.h"

namespace tocsin {

class OnnxRuntimeOpenVinoEngine final : public Engine {
 public:
  // Looks for both libraries at once; where one is missing, info() says why and load() fails.
  explicit OnnxRuntimeOpenVinoEngine(
      const LibraryLocations& runtime = OnnxRuntimeLibrary::vendor().locations(),
      const LibraryLocations& provider = OpenVinoProvider::vendor().locations());

  EngineInfo info() const override;
  // Sessions keep the libraries alive on their own and may outlive the engine.
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;

 private:
  Result<OpenVinoProvider> provider_;
};

}  // namespace tocsin
