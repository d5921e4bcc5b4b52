// Files written so that what is complete stays complete: every failure is an Error with the path,
// and a half-written end can be taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tocsin {

// "PATH: cannot ACTION: reason"; a full disk, quota or size limit is kResourceExhausted.
Error file_error(const std::string& path, std::string_view action, int error_number);

// A file that only grows at its end.
class OutputFile {
 public:
  // Opens or creates; what is there stays.
  static Result<OutputFile> open(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;

  // Appends all of `bytes`. After an error `written_bytes` of them stand at the file's end: the
  // caller cuts them back to what it holds for complete.
  Status append(std::span<const std::byte> bytes, std::size_t& written_bytes);
  Status cut(std::uint64_t size_bytes);
  // Makes everything appended durable.
  Status sync();
  // Keeps other processes out until this one ends; kUnavailable if one is in already.
  Status lock();

  // False for a device or a pipe, which has no content to read back or cut.
  bool is_regular() const noexcept { return is_regular_; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  bool is_regular_ = true;
  std::uint64_t size_bytes_ = 0;
};

// A file of more than `size_bytes_max`, or a device without end, is refused as kFailedPrecondition.
Result<std::vector<std::byte>> read_whole_file(const std::string& path,
                                               std::uint64_t size_bytes_max);
// Replaces the file in one step: it holds the old content or the new one, never a part, whatever
// happens. Durable when it returns.
// A device or a pipe is written instead; a symbolic link stays one.
Status replace_file(const std::string& path, std::string_view content);
// Makes created, renamed and removed names of a folder durable.
Status sync_folder(const std::string& path);
// Creates the folder and its parents.
Status create_folders(const std::string& path);

}  // namespace tocsin
