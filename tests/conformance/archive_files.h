// Reads all files of a tar archive (zstd, gzip or plain) into memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace tocsin {

// Path inside the archive to content.
Result<std::map<std::string, std::vector<std::byte>>> read_archive_files(const std::string& path);

}  // namespace tocsin
