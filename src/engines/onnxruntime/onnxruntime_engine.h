// ONNX Runtime (CPU provider) behind the Engine seam, opened at run time.
// Its results may differ between machines and versions: determinism class "tolerance".
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/onnxruntime/onnxruntime_library.h"

namespace tocsin {

class OnnxRuntimeEngine final : public Engine {
 public:
  // Looks for the library at once; where there is none, info() says why and load() fails.
  explicit OnnxRuntimeEngine(
      const LibraryLocations& locations = OnnxRuntimeLibrary::vendor().locations());

  EngineInfo info() const override;
  // Sessions keep the library alive on their own and may outlive the engine.
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;

 private:
  Result<std::shared_ptr<const OnnxRuntimeLibrary>> library_;
};

}  // namespace tocsin
