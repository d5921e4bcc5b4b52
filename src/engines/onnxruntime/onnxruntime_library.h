// ONNX Runtime's shared library: found, opened and asked for its table of functions, at run time.
// Once opened it stays mapped for the life of the program: its threads and destructors outlive a
// close.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/vendor_library.h"

// The runtime's own types, opaque here.
struct OrtApi;
struct OrtEnv;
struct OrtStatus;

namespace tocsin {

class OnnxRuntimeLibrary {
 public:
  // The error says what was tried, why it did not do, and what to do about it.
  static Result<std::shared_ptr<const OnnxRuntimeLibrary>> open(
      const LibraryLocations& locations = vendor().locations()) {
    return open(vendor(), locations);
  }
  // Another build of it, beside the first.
  static Result<std::shared_ptr<const OnnxRuntimeLibrary>> open(const VendorLibrary& build,
                                                                const LibraryLocations& locations);
  // What is looked for where.
  static const VendorLibrary& vendor();
  ~OnnxRuntimeLibrary();
  OnnxRuntimeLibrary(const OnnxRuntimeLibrary&) = delete;
  OnnxRuntimeLibrary& operator=(const OnnxRuntimeLibrary&) = delete;

  const OrtApi& api() const noexcept { return *api_; }
  std::uint32_t api_version() const noexcept { return api_version_; }
  OrtEnv* environment() const noexcept { return environment_; }
  const std::string& version() const noexcept { return version_; }  // "1.32.0"
  const std::string& path() const noexcept { return path_; }        // of the file that was mapped

  // Turns a status into an Error and releases it; null is success.
  Status check(OrtStatus* status) const;

 private:
  OnnxRuntimeLibrary() = default;

  const OrtApi* api_ = nullptr;
  std::uint32_t api_version_ = 0;
  OrtEnv* environment_ = nullptr;
  std::string version_;
  std::string path_;
};

}  // namespace tocsin
