// The engine "reference": our own interpreter of ONNX graphs in FP32 and in the canonical order,
// always there and the same on every machine.
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"

namespace tocsin {

class ReferenceEngine : public Engine {
 public:
  EngineInfo info() const override;
  Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                        const SessionOptions& options) override;
};

}  // namespace tocsin
