// OpenVINO (CPU device) behind the Engine seam, opened at run time.
// Its results may differ between machines and versions: determinism class "tolerance".
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/openvino/openvino_library.h"

namespace tocsin {

class OpenVinoEngine final : public Engine {
 public:
  // Looks for the library at once; where there is none, info() says why and load() fails.
  explicit OpenVinoEngine(
      const LibraryLocations& locations = OpenVinoLibrary::vendor().locations());

  EngineInfo info() const override;
  // Sessions keep the library alive on their own and may outlive the engine.
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;

 private:
  Result<std::shared_ptr<const OpenVinoLibrary>> library_;
};

}  // namespace tocsin
