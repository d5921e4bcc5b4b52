// The plug-in opened, and its errors in the program's terms.
#include "ingest/arrow/arrow_library.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace tocsin {
namespace {

ErrorCode error_code_of(const columnar::Status& status) {
  switch (status.code) {
    case columnar::StatusCode::kOk:
      return ErrorCode::kOk;
    case columnar::StatusCode::kUnsupported:
      return ErrorCode::kUnimplemented;
    case columnar::StatusCode::kOutOfMemory:
      return ErrorCode::kResourceExhausted;
    case columnar::StatusCode::kInputOutput:
      return status.error_number == ENOENT   ? ErrorCode::kNotFound
             : status.error_number == EACCES ? ErrorCode::kPermissionDenied
                                             : ErrorCode::kUnavailable;
    case columnar::StatusCode::kBadContent:
      break;
  }
  return ErrorCode::kDataLoss;
}

bool is_in(const LibraryLocations& locations) {
  const auto& folders = locations.folders;
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / ArrowLibrary::vendor().file,
                                   ignored);
  });
}

}  // namespace

const VendorLibrary& ArrowLibrary::vendor() {
  static const VendorLibrary kVendor{
      .variable = "TOCSIN_ARROW", .folder = "arrow", .file = "libtocsin_arrow.so"};
  return kVendor;
}

Result<ArrowLibrary> ArrowLibrary::open(const LibraryLocations& locations) {
  const Result<void*> opened = vendor().open(locations);
  if (!opened.ok() && locations.configured_path.empty() && !is_in(locations))
    return Error(
        ErrorCode::kUnavailable,
        "Parquet and Arrow IPC need the plug-in libtocsin_arrow.so, which is not beside the "
        "program: run scripts/fetch-arrow and build again, or set TOCSIN_ARROW to its path");
  if (!opened.ok()) return opened.error();
  TOCSIN_ASSIGN_OR_RETURN(const columnar::Plugin* const plugin,
                          plugin_table<columnar::Plugin>(*opened, "Arrow", columnar::kPluginSymbol,
                                                         columnar::kPluginVersion));
  return ArrowLibrary(plugin);
}

Status ArrowLibrary::check(const columnar::Status& status) {
  if (status.ok()) return {};
  return Error(error_code_of(status), status.message);
}

}  // namespace tocsin
