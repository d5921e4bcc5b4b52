// Folders by the file system, zips by libarchive.
#include "ingest/file_set.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "ingest/decompressor.h"

namespace tocsin {
namespace {

constexpr std::size_t kFilesMax = 10'000;
constexpr int kFoldersDeepMax = 2;
constexpr std::size_t kArchiveBlockBytes = std::size_t{1} << 16;

using ArchiveReader = std::unique_ptr<struct archive, int (*)(struct archive*)>;

Error archive_error(const ArchiveReader& reader) {
  const char* why = archive_error_string(reader.get());
  return Error(ErrorCode::kDataLoss,
               std::string("a zip that cannot be read: ") + (why != nullptr ? why : "no reason"));
}

Result<ArchiveReader> open_zip(const std::string& path) {
  ArchiveReader reader(archive_read_new(), archive_read_free);
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kArchiveBlockBytes) != ARCHIVE_OK) {
    return archive_error(reader).within(path);
  }
  return reader;
}

// The member that the reader stands at.
class ZipMember final : public RawInput {
 public:
  ZipMember(ArchiveReader reader, std::uint64_t size_bytes)
      : reader_(std::move(reader)), size_bytes_(size_bytes) {}

  Result<std::size_t> read(std::span<std::byte> out) noexcept override {
    const la_ssize_t count = archive_read_data(reader_.get(), out.data(), out.size());
    if (count < 0) return archive_error(reader_);
    return static_cast<std::size_t>(count);
  }
  double progress(std::uint64_t offset_bytes) const noexcept override {
    return share_of(offset_bytes, size_bytes_);
  }

 private:
  ArchiveReader reader_;
  std::uint64_t size_bytes_;
};

std::string_view last_part(std::string_view name) noexcept {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// Calls `visit(entry)` for each file until it returns false.
template <typename Visit>
Status visit_zip(const ArchiveReader& reader, Visit&& visit) {
  struct archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    if (archive_entry_pathname(entry) != nullptr && !visit(entry)) return {};
  }
  if (status != ARCHIVE_EOF) return archive_error(reader);
  return {};
}

Status list_zip(const std::string& path, std::vector<std::string>& names) {
  TOCSIN_ASSIGN_OR_RETURN(const ArchiveReader reader, open_zip(path));
  const Status listed = visit_zip(reader, [&names](struct archive_entry* entry) {
    names.emplace_back(archive_entry_pathname(entry));
    return names.size() < kFilesMax;
  });
  return listed.ok() ? listed : listed.error().within(path);
}

Status list_folder(const std::string& path, std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kFoldersDeepMax) at.disable_recursion_pending();
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    names.push_back(at->path().lexically_relative(path).generic_string());
    if (names.size() >= kFilesMax) break;
  }
  if (error) return Error(ErrorCode::kUnavailable, path + ": " + error.message());
  return {};
}

}  // namespace

std::string FileSet::find(std::string_view file_name) const {
  std::string found;
  for (const std::string& name : names) {
    if (last_part(name) != file_name) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

bool is_zip_file(const std::string& path) noexcept {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  return file.gcount() == 4 && std::string_view(magic.data(), 4) == "PK\x03\x04";
}

Result<FileSet> list_file_set(const std::string& path) {
  FileSet set;
  set.path = path;
  set.zipped = is_zip_file(path);
  std::error_code ignored;
  if (!set.zipped && !std::filesystem::is_directory(path, ignored)) {
    return Error(ErrorCode::kInvalidArgument, path + ": neither a folder nor a zip");
  }
  TOCSIN_RETURN_IF_ERROR(set.zipped ? list_zip(path, set.names) : list_folder(path, set.names));
  std::sort(set.names.begin(), set.names.end());
  return set;
}

Result<std::unique_ptr<ByteStream>> open_file_of_set(const FileSet& set, const std::string& name) {
  const std::string place = set.path + "/" + name;
  if (!set.zipped) return open_byte_stream(place);
  TOCSIN_ASSIGN_OR_RETURN(ArchiveReader reader, open_zip(set.path));
  bool found = false;
  std::uint64_t size_bytes = 0;
  const Status searched = visit_zip(reader, [&](struct archive_entry* entry) {
    found = archive_entry_pathname(entry) == name;
    const auto size = archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : 0;
    size_bytes = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    return !found;
  });
  if (!searched.ok()) return searched.error().within(place);
  if (!found) return Error(ErrorCode::kNotFound, place + ": is not in the zip");
  return make_raw_stream(place, std::make_unique<ZipMember>(std::move(reader), size_bytes));
}

}  // namespace tocsin
