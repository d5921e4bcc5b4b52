// The CUDA plug-in and NVIDIA's management library, opened at run time: the program itself needs
// neither. Asking for devices leaves the CUDA driver alone, so that a process may fork afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/vendor_library.h"
#include "engines/cuda/cuda_plugin.h"

namespace tocsin {

struct GpuDevice {
  std::string name;
  std::string uuid;
  std::string pci_bus_id;  // "0000:0d:00.0"
  int capability_major = 0;
  int capability_minor = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_used_bytes = 0;
  bool mig_enabled = false;

  std::string capability() const;  // "9.0"
};

// What the driver says of its GPUs, in the order of their bus addresses.
struct GpuFacts {
  std::string driver_version;  // "580.159.03"
  int cuda_version = 0;        // that the driver runs: 13000 is 13.0
  std::vector<GpuDevice> devices;
};
// kUnavailable, with the reason in one line, where there is no driver or no GPU.
Result<GpuFacts> read_gpu_facts();

// "13.0" of 13000.
std::string cuda_version_text(int version);

class CudaLibrary {
 public:
  // The error says what was tried and what to do about it.
  static Result<std::shared_ptr<const CudaLibrary>> open(const LibraryLocations& locations);
  static const VendorLibrary& vendor();
  static LibraryLocations locations();

  const cuda::Plugin& plugin() const noexcept { return *plugin_; }
  const std::string& path() const noexcept { return path_; }

  static Status check(const cuda::Status& status);

 private:
  CudaLibrary(const cuda::Plugin* plugin, std::string path)
      : plugin_(plugin), path_(std::move(path)) {}

  const cuda::Plugin* plugin_;
  std::string path_;
};

}  // namespace tocsin
