// ONNX Runtime's OpenVINO provider: a plug-in that ONNX Runtime loads on request. It uses the
// OpenVINO libraries beside it, so that one copy serves the engine "openvino" too.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/vendor_library.h"
#include "engines/onnxruntime/execution_provider.h"
#include "engines/onnxruntime/onnxruntime_library.h"

struct OrtEpDevice;

namespace tocsin {

class OpenVinoProvider final : public ExecutionProvider {
 public:
  // What is looked for where.
  static const VendorLibrary& vendor();
  // Registers the plug-in with ONNX Runtime, once in the life of its environment.
  // kUnavailable: no plug-in, one that does not load, or an ONNX Runtime older than 1.22.
  static Result<OpenVinoProvider> open(std::shared_ptr<const OnnxRuntimeLibrary> library,
                                       const LibraryLocations& locations = vendor().locations());

  const std::shared_ptr<const OnnxRuntimeLibrary>& library() const noexcept { return library_; }
  const std::string& path() const noexcept { return path_; }  // of the plug-in

  // Makes a session run on OpenVINO's CPU device, in FP32, with this many threads of its own: the
  // thread count of ONNX Runtime does not bind it.
  Status append_to(OrtSessionOptions& settings, const Options& options) const override;

 private:
  OpenVinoProvider() = default;

  std::shared_ptr<const OnnxRuntimeLibrary> library_;  // keeps the environment and the device
  const OrtEpDevice* device_ = nullptr;
  std::string path_;
};

}  // namespace tocsin
