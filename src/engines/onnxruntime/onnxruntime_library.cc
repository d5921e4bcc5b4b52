// Finding and opening ONNX Runtime with dlopen(); nothing of it is linked.
#include "engines/onnxruntime/onnxruntime_library.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace tocsin {
namespace {

namespace fs = std::filesystem;

// The pinned version, which scripts/setup unpacks.
constexpr const char* kLibraryName = "libonnxruntime.so.1.32.0";
// Names under which a system's own package may have installed the library.
constexpr const char* kSystemNames[] = {kLibraryName, "libonnxruntime.so.1", "libonnxruntime.so"};
constexpr int kParentsMax = 5;
// The table of functions only grows from version to version. Everything called here stands in the
// table of this version (ONNX Runtime 1.8) already, so any version from here to the headers' will
// do.
constexpr std::uint32_t kApiVersionMin = 8;

constexpr std::string_view kWhatToDo =
    "; run scripts/setup, or set TOCSIN_ONNXRUNTIME to the library's path";

struct Opened {
  void* handle = nullptr;
  std::string tried;  // what failed, and why
};

void note(Opened& opened, const std::string& what) {
  if (!opened.tried.empty()) opened.tried += "; ";
  opened.tried += what;
}

// RTLD_LOCAL: the library's own copies of protobuf and abseil must not meet the program's.
bool try_open(const std::string& path, Opened& opened) {
  // The library reports to its maker from the moment it is opened unless the environment forbids it
  // (its own switch comes too late); nothing leaves a machine unasked.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  opened.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened.handle != nullptr) return true;
  const char* reason = dlerror();
  const std::string text = reason != nullptr ? reason : "cannot be opened";
  // The loader's message begins with the path in most cases, but not in all.
  note(opened, text.find(path) == std::string::npos ? path + ": " + text : text);
  return false;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void open_configured(const std::string& configured, Opened& opened) {
  std::error_code error;
  fs::path path(configured);
  if (fs::is_directory(path, error)) path /= kLibraryName;
  if (is_there(path)) {
    try_open(path.string(), opened);
  } else {
    note(opened, path.string() + ": no such file");
  }
  if (opened.handle == nullptr) opened.tried = "TOCSIN_ONNXRUNTIME names " + opened.tried;
}

bool open_from_folders(const std::vector<std::string>& folders, Opened& opened) {
  bool seen = false;
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / kLibraryName;
    if (!is_there(path)) continue;
    seen = true;
    if (try_open(path.string(), opened)) return true;
  }
  if (!seen && !folders.empty())
    note(opened, std::string(kLibraryName) + " is in no .deps/onnxruntime/lib above the program");
  return false;
}

void open_from_system(Opened& opened) {
  for (const char* name : kSystemNames) {
    Opened attempt;
    if (try_open(name, attempt)) {
      opened.handle = attempt.handle;
      return;
    }
    // Not being there is the usual case and said once; anything else is worth its own words.
    if (attempt.tried.find("No such file") == std::string::npos) note(opened, attempt.tried);
  }
  note(opened, "nor is it in the system's library path");
}

Opened open_any(const OnnxRuntimeLocations& locations) {
  Opened opened;
  if (!locations.configured_path.empty()) {
    open_configured(locations.configured_path, opened);
    return opened;
  }
  if (!open_from_folders(locations.folders, opened) && locations.system_path)
    open_from_system(opened);
  return opened;
}

std::string mapped_path(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  std::error_code error;
  const fs::path path = fs::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

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

OnnxRuntimeLocations OnnxRuntimeLocations::of_this_process() {
  OnnxRuntimeLocations locations;
  if (const char* path = std::getenv("TOCSIN_ONNXRUNTIME"); path != nullptr)
    locations.configured_path = path;
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int i = 0; !error && i <= kParentsMax; ++i) {
    locations.folders.push_back((folder / ".deps" / "onnxruntime" / "lib").string());
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return locations;
}

Result<std::shared_ptr<const OnnxRuntimeLibrary>> OnnxRuntimeLibrary::open(
    const OnnxRuntimeLocations& locations) {
  const Opened opened = open_any(locations);
  if (opened.handle == nullptr)
    return Error(ErrorCode::kUnavailable, opened.tried + std::string(kWhatToDo));

  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  const auto get_api_base = reinterpret_cast<GetApiBase>(dlsym(opened.handle, "OrtGetApiBase"));
  if (get_api_base == nullptr) {
    return Error(ErrorCode::kUnavailable, "the library opened as ONNX Runtime has no function " +
                                              std::string("OrtGetApiBase") +
                                              std::string(kWhatToDo));
  }
  const OrtApiBase* base = get_api_base();
  std::shared_ptr<OnnxRuntimeLibrary> library(new OnnxRuntimeLibrary());
  library->version_ = base->GetVersionString();
  library->path_ = mapped_path(reinterpret_cast<const void*>(get_api_base));
  for (std::uint32_t version = ORT_API_VERSION;
       version >= kApiVersionMin && library->api_ == nullptr; --version)
    library->api_ = base->GetApi(version);
  if (library->api_ == nullptr) {
    return Error(ErrorCode::kUnavailable, library->path_ + " is ONNX Runtime " + library->version_ +
                                              ", older than 1." + std::to_string(kApiVersionMin) +
                                              std::string(kWhatToDo));
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
