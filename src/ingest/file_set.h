// Several files that belong together: a folder, or a zip that nobody needs to unpack first.
// A zip's member is read in order, through libarchive, by a reader of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/byte_stream.h"

namespace tocsin {

struct FileSet {
  std::string path;                // the folder or the zip
  bool zipped = false;             // else a folder
  std::vector<std::string> names;  // relative to it, sorted; two folders deep at most

  // The one file whose last part is `file_name`; empty if there is none, or more than one.
  std::string find(std::string_view file_name) const;
};

// True if `path` is a file that begins as a zip does.
bool is_zip_file(const std::string& path) noexcept;
// The files of a folder or a zip; anything else is INVALID_ARGUMENT. Limit: 10,000 files.
Result<FileSet> list_file_set(const std::string& path);
// One of its files as a stream, decompressed if it is gzip or zstd itself.
Result<std::unique_ptr<ByteStream>> open_file_of_set(const FileSet& set, const std::string& name);

}  // namespace tocsin
