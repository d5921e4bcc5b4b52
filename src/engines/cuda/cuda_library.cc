// dlopen() of both libraries. The management library's functions are declared here: it has no
// header in a package that the build needs otherwise.
#include "engines/cuda/cuda_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace tocsin {
namespace {

using NvmlDevice = struct NvmlDeviceHandle*;
constexpr int kNvmlSuccess = 0;

struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

// The slice of NVML (nvml.h, CUDA 13.0) that is used.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_at)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*capability)(NvmlDevice, int*, int*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*pci)(NvmlDevice, NvmlPciInfo*) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
};

Result<Nvml> open_nvml() {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Error(ErrorCode::kUnavailable,
                 "no NVIDIA driver is installed (libnvidia-ml.so.1 is not "
                 "to be found)");
  Nvml nvml;
  const bool all = resolve(handle, "nvmlInit_v2", nvml.init) &&
                   resolve(handle, "nvmlShutdown", nvml.shutdown) &&
                   resolve(handle, "nvmlErrorString", nvml.error_string) &&
                   resolve(handle, "nvmlSystemGetDriverVersion", nvml.driver_version) &&
                   resolve(handle, "nvmlSystemGetCudaDriverVersion", nvml.cuda_version) &&
                   resolve(handle, "nvmlDeviceGetCount_v2", nvml.device_count) &&
                   resolve(handle, "nvmlDeviceGetHandleByIndex_v2", nvml.device_at) &&
                   resolve(handle, "nvmlDeviceGetName", nvml.name) &&
                   resolve(handle, "nvmlDeviceGetUUID", nvml.uuid) &&
                   resolve(handle, "nvmlDeviceGetCudaComputeCapability", nvml.capability) &&
                   resolve(handle, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
                   resolve(handle, "nvmlDeviceGetPciInfo_v3", nvml.pci) &&
                   resolve(handle, "nvmlDeviceGetMigMode", nvml.mig_mode);
  if (!all)
    return Error(ErrorCode::kUnavailable, "the NVIDIA driver's libnvidia-ml.so.1 is too old");
  return nvml;
}

GpuDevice read_device(const Nvml& nvml, NvmlDevice handle) {
  GpuDevice device;
  std::array<char, 96> text{};
  if (nvml.name(handle, text.data(), text.size()) == kNvmlSuccess) device.name = text.data();
  if (nvml.uuid(handle, text.data(), text.size()) == kNvmlSuccess) device.uuid = text.data();
  nvml.capability(handle, &device.capability_major, &device.capability_minor);
  NvmlMemory memory{};
  if (nvml.memory(handle, &memory) == kNvmlSuccess) {
    device.memory_bytes = memory.total;
    device.memory_used_bytes = memory.used;
  }
  NvmlPciInfo pci{};
  // In the form of /sys/bus/pci: four digits of domain, lower case.
  if (nvml.pci(handle, &pci) == kNvmlSuccess)
    device.pci_bus_id = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
  unsigned current = 0;
  unsigned pending = 0;
  device.mig_enabled = nvml.mig_mode(handle, &current, &pending) == kNvmlSuccess && current == 1;
  return device;
}

ErrorCode error_code_of(cuda::StatusCode code) {
  switch (code) {
    case cuda::StatusCode::kOk:
      return ErrorCode::kOk;
    case cuda::StatusCode::kNoDevice:
      return ErrorCode::kUnavailable;
    case cuda::StatusCode::kUnsupported:
      return ErrorCode::kUnimplemented;
    case cuda::StatusCode::kOutOfMemory:
      return ErrorCode::kResourceExhausted;
    case cuda::StatusCode::kDead:
      break;
  }
  return ErrorCode::kInternal;
}

}  // namespace

std::string GpuDevice::capability() const {
  return fmt::format("{}.{}", capability_major, capability_minor);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<GpuFacts> read_gpu_facts() {
  TOCSIN_ASSIGN_OR_RETURN(const Nvml nvml, open_nvml());
  if (const int error = nvml.init(); error != kNvmlSuccess)
    return Error(ErrorCode::kUnavailable,
                 fmt::format("the NVIDIA driver does not answer: {}", nvml.error_string(error)));
  GpuFacts facts;
  std::array<char, 96> text{};
  if (nvml.driver_version(text.data(), text.size()) == kNvmlSuccess)
    facts.driver_version = text.data();
  nvml.cuda_version(&facts.cuda_version);
  unsigned count = 0;
  nvml.device_count(&count);
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice handle = nullptr;
    if (nvml.device_at(i, &handle) == kNvmlSuccess)
      facts.devices.push_back(read_device(nvml, handle));
  }
  nvml.shutdown();
  if (facts.devices.empty())
    return Error(ErrorCode::kUnavailable,
                 "the NVIDIA driver " + facts.driver_version + " finds no GPU");
  return facts;
}

const VendorLibrary& CudaLibrary::vendor() {
  static const VendorLibrary kVendor{
      .variable = "TOCSIN_CUDA", .folder = "cuda-plugin", .file = "libtocsin_cuda.so"};
  return kVendor;
}

LibraryLocations CudaLibrary::locations() { return vendor().plugin_locations(); }

Result<std::shared_ptr<const CudaLibrary>> CudaLibrary::open(const LibraryLocations& locations) {
  const Result<void*> opened = vendor().open(locations);
  if (!opened.ok() && locations.configured_path.empty())
    return Error(ErrorCode::kUnavailable,
                 "libtocsin_cuda.so is not beside the program: it is built where scripts/setup has "
                 "brought nvcc; or set TOCSIN_CUDA to its path");
  if (!opened.ok()) return opened.error();
  TOCSIN_ASSIGN_OR_RETURN(
      const cuda::Plugin* const plugin,
      plugin_table<cuda::Plugin>(*opened, "CUDA", cuda::kPluginSymbol, cuda::kPluginVersion));
  return std::shared_ptr<const CudaLibrary>(new CudaLibrary(plugin, mapped_path(plugin)));
}

Status CudaLibrary::check(const cuda::Status& status) {
  if (status.ok()) return {};
  std::string message = status.message;
  if (status.code == cuda::StatusCode::kDead)
    message += "; the GPU's engine is dead until the program starts again";
  return Error(error_code_of(status.code), message);
}

}  // namespace tocsin
