// Segments and HEAD of a ledger in a folder or in memory.
#include "sinks/ledger_store.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "sinks/file_io.h"
#include "sinks/ledger_format.h"

namespace tocsin {
namespace {

constexpr std::string_view kSegmentSuffix = ".ledger";
// A segment ends behind the record that reaches output.segment_bytes, at most 4 GiB.
constexpr std::uint64_t kSegmentBytesMax = (std::uint64_t{1} << 32) + 2 * kLedgerPayloadBytesMax;
constexpr std::uint64_t kHeadBytesMax = 4096;

// 0 if the name is not that of a segment.
std::uint32_t segment_index_of(const std::string& name) {
  std::uint32_t index = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, index);
  const bool is_segment =
      parsed.ec == std::errc() &&
      std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)) == kSegmentSuffix &&
      name == std::filesystem::path(ledger_segment_path("", index)).filename();
  return is_segment ? index : 0;
}

}  // namespace

std::string ledger_segment_path(const std::string& folder, std::uint32_t index) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%06u", index);
  return (std::filesystem::path(folder) / (digits + std::string(kSegmentSuffix))).string();
}

std::string ledger_head_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "HEAD").string();
}

Result<std::vector<std::uint32_t>> FolderLedgerStore::segments() {
  std::vector<std::uint32_t> indices;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::uint32_t index = segment_index_of(entry->path().filename().string());
    if (index != 0) indices.push_back(index);
  }
  if (error) return file_error(folder_, "be listed", error.value());
  std::sort(indices.begin(), indices.end());
  return indices;
}

Result<std::vector<std::byte>> FolderLedgerStore::segment(std::uint32_t index) {
  return read_whole_file(ledger_segment_path(folder_, index), kSegmentBytesMax);
}

Result<std::optional<std::string>> FolderLedgerStore::head() {
  auto bytes = read_whole_file(ledger_head_path(folder_), kHeadBytesMax);
  if (!bytes.ok() && bytes.error().code() == ErrorCode::kNotFound)
    return std::optional<std::string>();
  if (!bytes.ok()) return bytes.error();
  return std::optional(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

Result<std::vector<std::uint32_t>> MemoryLedgerStore::segments() {
  std::vector<std::uint32_t> indices;
  for (const auto& [index, bytes] : segment_bytes) indices.push_back(index);
  return indices;
}

Result<std::vector<std::byte>> MemoryLedgerStore::segment(std::uint32_t index) {
  const auto found = segment_bytes.find(index);
  if (found == segment_bytes.end())
    return Error(ErrorCode::kNotFound, "there is no segment " + std::to_string(index));
  return found->second;
}

}  // namespace tocsin
