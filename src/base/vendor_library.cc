// dlopen() with reasons that a user can act on.
#include "base/vendor_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace tocsin {
namespace {

namespace fs = std::filesystem;

constexpr int kParentsMax = 5;
constexpr int kPluginParentsMax = 4;

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
  opened.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened.handle != nullptr) return true;
  const char* reason = dlerror();
  const std::string text = reason != nullptr ? reason : "cannot be opened";
  // The loader's message begins with the path in most cases, but not in all.
  note(opened, text.find(path) == std::string::npos ? path + ": " + text : text);
  return false;
}

std::string configured_path(const VendorLibrary& library) {
  const char* path = std::getenv(std::string(library.variable).c_str());
  return path == nullptr ? "" : path;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void open_configured(const VendorLibrary& library, const std::string& configured, Opened& opened) {
  std::error_code error;
  fs::path path(configured);
  if (fs::is_directory(path, error)) path /= library.file;
  if (is_there(path)) {
    try_open(path.string(), opened);
  } else {
    note(opened, path.string() + ": no such file");
  }
  if (opened.handle == nullptr)
    opened.tried = std::string(library.variable) + " names " + opened.tried;
}

bool open_from_folders(const VendorLibrary& library, const std::vector<std::string>& folders,
                       Opened& opened) {
  bool seen = false;
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / library.file;
    if (!is_there(path)) continue;
    seen = true;
    if (try_open(path.string(), opened)) return true;
  }
  if (!seen && !folders.empty())
    note(opened, std::string(library.file) + " is in no .deps/" + std::string(library.folder) +
                     "/lib above the program");
  return false;
}

void open_from_system(const VendorLibrary& library, Opened& opened) {
  for (const std::string_view name : library.system_names) {
    Opened attempt;
    if (try_open(std::string(name), attempt)) {
      opened.handle = attempt.handle;
      return;
    }
    // Not being there is the usual case and said once; anything else is worth its own words.
    if (attempt.tried.find("No such file") == std::string::npos) note(opened, attempt.tried);
  }
  note(opened, "nor is it in the system's library path");
}

}  // namespace

LibraryLocations VendorLibrary::locations() const {
  LibraryLocations locations;
  locations.configured_path = configured_path(*this);
  std::error_code error;
  fs::path above = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int i = 0; !error && i <= kParentsMax; ++i) {
    locations.folders.push_back((above / ".deps" / folder / "lib").string());
    if (above == above.parent_path()) break;
    above = above.parent_path();
  }
  return locations;
}

LibraryLocations VendorLibrary::plugin_locations() const {
  LibraryLocations locations;
  locations.configured_path = configured_path(*this);
  locations.system_path = false;
  std::error_code error;
  fs::path above = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return locations;
  locations.folders.push_back(above.string());
  for (int i = 0; i < kPluginParentsMax && above.has_parent_path(); ++i) {
    above = above.parent_path();
    const std::string bin = (above / "bin").string();
    if (bin != locations.folders.front()) locations.folders.push_back(bin);
  }
  return locations;
}

std::string VendorLibrary::what_to_do() const {
  return std::string(comes_with_setup ? "; run scripts/setup, or set " : "; set ") +
         std::string(variable) + " to the library's path";
}

Result<void*> VendorLibrary::open(const LibraryLocations& locations) const {
  Opened opened;
  if (!locations.configured_path.empty()) {
    open_configured(*this, locations.configured_path, opened);
  } else if (!open_from_folders(*this, locations.folders, opened) && locations.system_path) {
    open_from_system(*this, opened);
  }
  if (opened.handle == nullptr) return Error(ErrorCode::kUnavailable, opened.tried + what_to_do());
  return opened.handle;
}

void* symbol_in(void* handle, const char* name) noexcept { return dlsym(handle, name); }

std::string mapped_path(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  std::error_code error;
  const fs::path path = fs::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

}  // namespace tocsin
