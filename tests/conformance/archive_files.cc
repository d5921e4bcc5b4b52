// Archives through libarchive.
#include "conformance/archive_files.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace tocsin {

Result<std::map<std::string, std::vector<std::byte>>> read_archive_files(const std::string& path) {
  const std::unique_ptr<struct archive, int (*)(struct archive*)> reader(archive_read_new(),
                                                                         archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  const auto failed = [&reader, &path] {
    const char* why = archive_error_string(reader.get());
    return Error(ErrorCode::kDataLoss, path + ": " + (why != nullptr ? why : "cannot be read"));
  };
  if (archive_read_open_filename(reader.get(), path.c_str(), 1U << 16U) != ARCHIVE_OK)
    return failed();
  std::map<std::string, std::vector<std::byte>> files;
  struct archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    std::vector<std::byte> content(static_cast<std::size_t>(archive_entry_size(entry)));
    const auto read = archive_read_data(reader.get(), content.data(), content.size());
    if (read != static_cast<la_ssize_t>(content.size())) return failed();
    files.emplace(archive_entry_pathname(entry), std::move(content));
  }
  if (status != ARCHIVE_EOF) return failed();
  return files;
}

}  // namespace tocsin
