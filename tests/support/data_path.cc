// The only file that knows where the checkout and its build are.
#include "support/data_path.h"

#include <cstdlib>
#include <filesystem>

namespace tocsin {

std::string tocsin_source_path(const std::string& name) {
  return std::string(TOCSIN_SOURCE_DIR) + "/" + name;
}

std::string tocsin_binary_path(const std::string& name) {
  return std::string(TOCSIN_BINARY_DIR) + "/" + name;
}

std::string tocsin_data_path(const std::string& name) {
  const char* folder = std::getenv("TOCSIN_DATA");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder)
                        : std::filesystem::path(tocsin_source_path("../shared/data"));
  const std::filesystem::path path = root / name;
  std::error_code error;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace tocsin
