// Finding and opening ONNX Runtime with dlopen(); nothing of it is linked.
#include "engines/onnxruntime/onnxruntime_library.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cstdlib>

namespace tocsin {
namespace {

// The pinned version, which scripts/setup unpacks, and names under which a system's own package may
// have installed the library.
constexpr const char* kLibraryName = "libonnxruntime.so.1.32.0";
// The table of functions only grows from version to version. Everything called here stands in the
// table of this version (ONNX Runtime 1.8) already, so any version from here to the headers' will
// do.
constexpr std::uint32_t kApiVersionMin = 8;

ErrorCode error_code_of(OrtErrorCode code) {
  switch (code) {
    case ORT_OK:
      return ErrorCode::kOk;
    case ORT_INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case ORT_NO_SUCHFILE:
      return ErrorCode::kNotFound;
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return ErrorCode::kDataLoss;
    case ORT_NOT_IMPLEMENTED:
      return ErrorCode::kUnimplemented;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

const VendorLibrary& OnnxRuntimeLibrary::vendor() {
  static const VendorLibrary kVendor{
      .variable = "TOCSIN_ONNXRUNTIME",
      .folder = "onnxruntime",
      .file = kLibraryName,
      .system_names = {kLibraryName, "libonnxruntime.so.1", "libonnxruntime.so"}};
  return kVendor;
}

Result<std::shared_ptr<const OnnxRuntimeLibrary>> OnnxRuntimeLibrary::open(
    const VendorLibrary& build, const LibraryLocations& locations) {
  // The library reports to its maker from the moment it is opened unless the environment forbids it
  // (its own switch comes too late); nothing leaves a machine unasked.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  TOCSIN_ASSIGN_OR_RETURN(void* const handle, build.open(locations));

  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  const auto get_api_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_api_base == nullptr) {
    return Error(ErrorCode::kUnavailable, "the library opened as ONNX Runtime has no function " +
                                              std::string("OrtGetApiBase") + build.what_to_do());
  }
  const OrtApiBase* base = get_api_base();
  std::shared_ptr<OnnxRuntimeLibrary> library(new OnnxRuntimeLibrary());
  library->version_ = base->GetVersionString();
  library->path_ = mapped_path(reinterpret_cast<const void*>(get_api_base));
  for (std::uint32_t version = ORT_API_VERSION;
       version >= kApiVersionMin && library->api_ == nullptr; --version) {
    library->api_ = base->GetApi(version);
    library->api_version_ = version;
  }
  if (library->api_ == nullptr) {
    return Error(ErrorCode::kUnavailable, library->path_ + " is ONNX Runtime " + library->version_ +
                                              ", older than 1." + std::to_string(kApiVersionMin) +
                                              build.what_to_do());
  }
  // Only fatal messages are printed: every other error comes back as a status.
  if (const Status status = library->check(
          library->api_->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "tocsin", &library->environment_));
      !status.ok())
    return status.error().within("starting ONNX Runtime " + library->version_);
  TOCSIN_RETURN_IF_ERROR(
      library->check(library->api_->DisableTelemetryEvents(library->environment_)));
  return std::shared_ptr<const OnnxRuntimeLibrary>(std::move(library));
}

OnnxRuntimeLibrary::~OnnxRuntimeLibrary() {
  if (environment_ != nullptr) api_->ReleaseEnv(environment_);
}

Status OnnxRuntimeLibrary::check(OrtStatus* status) const {
  if (status == nullptr) return {};
  Error error(error_code_of(api_->GetErrorCode(status)), api_->GetErrorMessage(status));
  api_->ReleaseStatus(status);
  return error;
}

}  // namespace tocsin
