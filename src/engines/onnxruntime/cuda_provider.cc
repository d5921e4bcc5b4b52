// The provider's options go as text, but for the stream.
#include "engines/onnxruntime/cuda_provider.h"

#include <onnxruntime_c_api.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "engines/cuda/cuda_library.h"

namespace tocsin {
namespace {

constexpr std::string_view kProviderName = "CUDAExecutionProvider";

Result<bool> has_provider(const OnnxRuntimeLibrary& library) {
  const OrtApi& api = library.api();
  char** names = nullptr;
  int count = 0;
  TOCSIN_RETURN_IF_ERROR(library.check(api.GetAvailableProviders(&names, &count)));
  const bool found = std::ranges::any_of(std::span(names, static_cast<std::size_t>(count)),
                                         [](const char* name) { return name == kProviderName; });
  TOCSIN_RETURN_IF_ERROR(library.check(api.ReleaseAvailableProviders(names, count)));
  return found;
}

}  // namespace

const VendorLibrary& CudaProvider::vendor() {
  static const VendorLibrary kVendor{.variable = "TOCSIN_ONNXRUNTIME_CUDA",
                                     .folder = "onnxruntime-cuda",
                                     .file = "libonnxruntime.so.1.31.1",
                                     .comes_with_setup = false};
  return kVendor;
}

Result<CudaProvider> CudaProvider::open(const LibraryLocations& locations) {
  CudaProvider provider;
  TOCSIN_ASSIGN_OR_RETURN(provider.library_, OnnxRuntimeLibrary::open(vendor(), locations));
  TOCSIN_ASSIGN_OR_RETURN(const bool found, has_provider(*provider.library_));
  if (!found)
    return Error(
        ErrorCode::kUnavailable,
        provider.library_->path() + " was built without the CUDA provider" + vendor().what_to_do());
  const Result<GpuFacts> gpus = read_gpu_facts();
  if (!gpus.ok()) return gpus.error();
  return provider;
}

Result<CudaProvider> CudaProvider::started() const {
  CudaProvider provider = *this;
  TOCSIN_ASSIGN_OR_RETURN(provider.memory_, CudaMemory::open());
  return provider;
}

Status CudaProvider::append_to(OrtSessionOptions& settings, const Options& options) const {
  const OrtApi& api = library_->api();
  OrtCUDAProviderOptionsV2* raw = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.CreateCUDAProviderOptions(&raw)));
  const std::unique_ptr<OrtCUDAProviderOptionsV2, void (*)(OrtCUDAProviderOptionsV2*)> held(
      raw, api.ReleaseCUDAProviderOptions);
  const std::array keys = {"device_id", "use_tf32", "enable_cuda_graph"};
  const std::array values = {"0", "0", options.captures_graph ? "1" : "0"};
  TOCSIN_RETURN_IF_ERROR(
      library_->check(api.UpdateCUDAProviderOptions(raw, keys.data(), values.data(), keys.size())));
  TOCSIN_RETURN_IF_ERROR(library_->check(
      api.UpdateCUDAProviderOptionsWithValue(raw, "user_compute_stream", memory_->stream())));
  return library_->check(api.SessionOptionsAppendExecutionProvider_CUDA_V2(&settings, raw));
}

}  // namespace tocsin
