// Registration of the plug-in, and the options that it reads; those it does not know it ignores.
#include "engines/onnxruntime/openvino_provider.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <mutex>
#include <span>
#include <string_view>

namespace tocsin {
namespace {

constexpr const char* kProviderName = "OpenVINOExecutionProvider";
constexpr std::uint32_t kApiVersionMin = 22;  // the first with plug-in providers

// The provider's name also begins those of its automatic and heterogeneous devices.
Result<const OrtEpDevice*> find_device(const OnnxRuntimeLibrary& library) {
  const OrtApi& api = library.api();
  const OrtEpDevice* const* devices = nullptr;
  std::size_t count = 0;
  TOCSIN_RETURN_IF_ERROR(library.check(api.GetEpDevices(library.environment(), &devices, &count)));
  for (const OrtEpDevice* device : std::span(devices, count)) {
    if (std::string_view(api.EpDevice_EpName(device)) == kProviderName &&
        api.HardwareDevice_Type(api.EpDevice_Device(device)) == OrtHardwareDeviceType_CPU)
      return device;
  }
  return static_cast<const OrtEpDevice*>(nullptr);
}

}  // namespace

const VendorLibrary& OpenVinoProvider::vendor() {
  static const VendorLibrary kVendor{.variable = "TOCSIN_ONNXRUNTIME_OPENVINO",
                                     .folder = "openvino",
                                     .file = "libonnxruntime_providers_openvino_plugin.so"};
  return kVendor;
}

Result<OpenVinoProvider> OpenVinoProvider::open(std::shared_ptr<const OnnxRuntimeLibrary> library,
                                                const LibraryLocations& locations) {
  if (library->api_version() < kApiVersionMin)
    return Error(ErrorCode::kUnavailable, "ONNX Runtime " + library->version() +
                                              " is older than 1.22 and takes no plug-in providers");
  TOCSIN_ASSIGN_OR_RETURN(void* const handle, vendor().open(locations));
  const void* const factory = dlsym(handle, "CreateEpFactories");
  if (factory == nullptr)
    return Error(ErrorCode::kUnavailable,
                 "the library opened as ONNX Runtime's OpenVINO provider has no function "
                 "CreateEpFactories" +
                     vendor().what_to_do());
  OpenVinoProvider provider;
  provider.library_ = std::move(library);
  provider.path_ = mapped_path(factory);
  // All environments of a process are one, in which a name is registered once.
  static std::mutex registration;
  const std::lock_guard<std::mutex> lock(registration);
  const OnnxRuntimeLibrary& runtime = *provider.library_;
  TOCSIN_ASSIGN_OR_RETURN(provider.device_, find_device(runtime));
  if (provider.device_ == nullptr) {
    const Status registered = runtime.check(runtime.api().RegisterExecutionProviderLibrary(
        runtime.environment(), "tocsin_openvino", provider.path_.c_str()));
    if (!registered.ok())
      return Error(ErrorCode::kUnavailable,
                   provider.path_ + ": " + registered.error().message() + vendor().what_to_do());
    TOCSIN_ASSIGN_OR_RETURN(provider.device_, find_device(runtime));
  }
  if (provider.device_ == nullptr)
    return Error(ErrorCode::kUnavailable, provider.path_ + " finds no CPU that it can use");
  return provider;
}

Status OpenVinoProvider::append_to(OrtSessionOptions& settings, const Options& options) const {
  const std::string config = R"({"CPU":{"INFERENCE_NUM_THREADS":")" +
                             std::to_string(options.thread_count) +
                             R"(","INFERENCE_PRECISION_HINT":"f32"}})";
  const std::array keys = {"load_config"};
  const std::array values = {config.c_str()};
  return library_->check(library_->api().SessionOptionsAppendExecutionProvider_V2(
      &settings, library_->environment(), &device_, 1, keys.data(), values.data(), keys.size()));
}

}  // namespace tocsin
