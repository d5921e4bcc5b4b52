// Files of /proc and /sys have no size before they are read.
#include "runtime/doctor/host_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace tocsin {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;
constexpr std::string_view kBlank = " \t\n";

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

}  // namespace

std::optional<std::string> HostFiles::text(std::string_view path) const {
  std::ifstream file(root_ + std::string(path), std::ios::binary);
  if (!file) return std::nullopt;
  std::string content;
  std::array<char, 4096> block{};
  while (file && content.size() < kFileBytesMax) {
    file.read(block.data(), block.size());
    content.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  // Some files of /sys open and then refuse to be read.
  if (file.bad()) return std::nullopt;
  return content;
}

std::optional<std::string> HostFiles::line(std::string_view path) const {
  std::optional<std::string> content = text(path);
  if (content) content->resize(std::min(content->find('\n'), content->size()));
  return content;
}

std::optional<std::string> HostFiles::field(std::string_view path, std::string_view key) const {
  const std::optional<std::string> content = text(path);
  if (!content) return std::nullopt;
  for (std::size_t at = 0; at < content->size();) {
    const std::size_t end = std::min(content->find('\n', at), content->size());
    const std::string_view line = std::string_view(*content).substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
    at = end + 1;
  }
  return std::nullopt;
}

std::vector<int> HostFiles::numbered(std::string_view folder, std::string_view prefix) const {
  std::vector<int> numbers;
  std::error_code error;
  std::filesystem::directory_iterator entry(root_ + std::string(folder), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    int number = 0;
    const char* first = name.data() + prefix.size();
    const char* last = name.data() + name.size();
    const auto [end, problem] = std::from_chars(first, last, number);
    if (problem == std::errc() && end == last && number >= 0) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace tocsin
