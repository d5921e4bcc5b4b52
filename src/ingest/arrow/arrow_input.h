// Parquet and Arrow IPC as raw bytes of CSV text, made by the plug-in: the maps of CSV fit them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/arrow/arrow_library.h"
#include "ingest/decompressor.h"

namespace tocsin {

// Told from the first bytes of a file; nothing for any other file, a pipe or a folder.
std::optional<columnar::FileKind> columnar_kind_of(const std::string& path) noexcept;
std::string_view columnar_kind_name(columnar::FileKind kind) noexcept;

// The table's text. Errors do not name the file.
Result<std::unique_ptr<RawInput>> open_columnar_file(
    const std::string& path, columnar::FileKind kind,
    const LibraryLocations& locations = ArrowLibrary::vendor().plugin_locations());

}  // namespace tocsin
