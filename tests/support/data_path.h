// Where the larger real data files are, which are not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tocsin {

// The full path of `name` under TOCSIN_DATA (or ../shared/data beside the checkout); empty if the
// file is not there: the caller skips, saying so.
inline std::string tocsin_data_path(const std::string& name) {
  const char* folder = std::getenv("TOCSIN_DATA");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder)
                        : std::filesystem::path(TOCSIN_SOURCE_DIR) / ".." / "shared" / "data";
  const std::filesystem::path path = root / name;
  std::error_code error;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace tocsin
