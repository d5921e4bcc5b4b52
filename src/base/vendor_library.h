// Finds and opens a vendor's shared library at run time; nothing of it is linked. It stays mapped
// for the life of the program: threads and destructors of such libraries outlive a close.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

// Where a library is looked for, in this order.
struct LibraryLocations {
  // A library, or the folder that holds it. If it is set, nothing else is tried.
  std::string configured_path{};
  // Folders that may hold the pinned version, nearest first.
  std::vector<std::string> folders{};
  // Whether the loader's own path (/etc/ld.so.conf, LD_LIBRARY_PATH) is tried at last.
  bool system_path = true;
};

// A library as it is asked for. The texts live as long as the program.
struct VendorLibrary {
  std::string_view variable;  // of the environment, for a path: "TOCSIN_ONNXRUNTIME"
  std::string_view folder;    // below .deps, with the libraries in lib: "onnxruntime"
  std::string_view file;      // the pinned version
  std::vector<std::string_view> system_names{};  // under which a system's own package has it
  bool comes_with_setup = true;                  // scripts/setup brings it

  // The environment variable, and .deps/<folder>/lib in the folder of the running executable and in
  // up to five of its parents.
  LibraryLocations locations() const;
  // Of a plug-in of Tocsin's own build, which stands beside the program: the environment variable,
  // the folder of the running executable, and bin in up to four folders above it.
  LibraryLocations plugin_locations() const;
  // "; run scripts/setup, or set TOCSIN_ONNXRUNTIME to the library's path"
  std::string what_to_do() const;
  // The loader's handle, with the library's own symbols kept to itself (RTLD_LOCAL). The error says
  // what was tried, why it did not do, and what to do about it.
  Result<void*> open(const LibraryLocations& locations) const;
};

// The file that was mapped for a symbol of it.
std::string mapped_path(const void* symbol);

// A symbol of an opened library; null: it has none of that name.
void* symbol_in(void* handle, const char* name) noexcept;
// The same for a function. False: it has none of that name.
template <typename Function>
bool resolve(void* handle, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(symbol_in(handle, name));
  return function != nullptr;
}

// What a plug-in of Tocsin's own build ("CUDA") offers: the table that its only function returns,
// if that is of the version that the program was built with.
template <typename Plugin>
Result<const Plugin*> plugin_table(void* handle, std::string_view name, const char* symbol,
                                   std::uint32_t version) {
  const Plugin* (*entry)() = nullptr;
  if (!resolve(handle, symbol, entry))
    return Error(ErrorCode::kUnavailable, "the library opened as Tocsin's " + std::string(name) +
                                              " plug-in has no function " + symbol);
  const Plugin* plugin = entry();
  if (plugin->version != version)
    return Error(ErrorCode::kUnavailable,
                 mapped_path(plugin) + " is of version " + std::to_string(plugin->version) +
                     ", this program needs " + std::to_string(version) + ": build both together");
  return plugin;
}

}  // namespace tocsin
