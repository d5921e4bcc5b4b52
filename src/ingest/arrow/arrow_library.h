// The plug-in for Parquet and Arrow IPC, opened at run time when a file calls for it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/vendor_library.h"
#include "ingest/arrow/arrow_plugin.h"

namespace tocsin {

class ArrowLibrary {
 public:
  // The error says in one line what is missing and what to do about it.
  static Result<ArrowLibrary> open(const LibraryLocations& locations);
  static const VendorLibrary& vendor();

  // Valid for the life of the program.
  const columnar::Plugin& plugin() const noexcept { return *plugin_; }

  // Without the path of the file, but for an error of the system, which has it.
  static Status check(const columnar::Status& status);

 private:
  explicit ArrowLibrary(const columnar::Plugin* plugin) : plugin_(plugin) {}

  const columnar::Plugin* plugin_;
};

}  // namespace tocsin
