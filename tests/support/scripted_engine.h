// An engine whose sessions do what a test says: right, wrong, NaN or failing.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engines/engine.h"

namespace tocsin {

// Called with the input's values and the output's, both as rows; false makes the run fail.
using SessionScript = std::function<bool(std::span<const float> input, std::span<float> output)>;

class ScriptedSession final : public Session {
 public:
  ScriptedSession(ModelSignature signature, SessionScript script)
      : signature_(std::move(signature)), script_(std::move(script)) {}

  const ModelSignature& signature() const noexcept override { return signature_; }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override {
    const auto floats = [](const TensorView& view) {
      return std::span(static_cast<float*>(view.data), view.size_bytes / sizeof(float));
    };
    return script_(floats(inputs[0]), floats(outputs[0]));
  }
  const Error& error() const noexcept override { return error_; }

 private:
  ModelSignature signature_;
  SessionScript script_;
  Error error_{ErrorCode::kInternal, "the script says no"};
};

class ScriptedEngine final : public Engine {
 public:
  ScriptedEngine(ModelSignature signature, SessionScript script)
      : signature_(std::move(signature)), script_(std::move(script)) {}

  EngineInfo info() const override {
    EngineInfo info;
    info.name = "scripted";
    info.found = true;
    info.version = "1";
    return info;
  }
  Result<std::unique_ptr<Session>> load(const std::string& /*onnx_path*/,
                                        const SessionOptions& options) override {
    options_ = options;
    return std::unique_ptr<Session>(std::make_unique<ScriptedSession>(signature_, script_));
  }
  // Of the last load().
  const SessionOptions& options() const { return options_; }

 private:
  ModelSignature signature_;
  SessionScript script_;
  SessionOptions options_;
};

}  // namespace tocsin
