// The engine "native": our kernels, the same bits as "reference", and windows worked ahead.
#pragma once

#include "engines/engine.h"

namespace tocsin {

class NativeEngine final : public Engine {
 public:
  EngineInfo info() const override;
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;
  Result<std::unique_ptr<WindowStream>> load_stream(const std::string& onnx_path,
                                                    const SessionOptions& options) override;
};

}  // namespace tocsin
