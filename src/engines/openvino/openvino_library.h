// OpenVINO's shared library: found, opened and asked for its functions, at run time. Once opened it
// stays mapped for the life of the program: its threads and destructors outlive a close.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/vendor_library.h"
#include "engines/engine.h"
#include "engines/openvino/openvino_api.h"

namespace tocsin {

class OpenVinoLibrary {
 public:
  // The error says what was tried, why it did not do, and what to do about it.
  static Result<std::shared_ptr<const OpenVinoLibrary>> open(
      const LibraryLocations& locations = vendor().locations());
  // What is looked for where.
  static const VendorLibrary& vendor();
  ~OpenVinoLibrary();
  OpenVinoLibrary(const OpenVinoLibrary&) = delete;
  OpenVinoLibrary& operator=(const OpenVinoLibrary&) = delete;

  const OpenVinoApi& api() const noexcept { return api_; }
  const ov_core* core() const noexcept { return core_; }
  const std::string& version() const noexcept { return version_; }  // "2026.4.1"
  const std::string& path() const noexcept { return path_; }        // of the file that was mapped
  // Float32, and what else this machine's instructions make worth asking for.
  const std::vector<Precision>& precisions() const noexcept { return precisions_; }

  // Turns a status into an Error with the library's last message.
  Status check(OvStatus status) const;

 private:
  OpenVinoLibrary() = default;
  Status resolve(void* handle);
  Status start();

  OpenVinoApi api_;
  ov_core* core_ = nullptr;
  std::string version_;
  std::string path_;
  std::vector<Precision> precisions_;
};

}  // namespace tocsin
