// POSIX files behind Results.
#include "sinks/file_io.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tocsin {
namespace {

ErrorCode code_of(int error_number) noexcept {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kUnavailable;
  }
}

// Calls until it isn't interrupted by a signal.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

Error file_error(const std::string& path, std::string_view action, int error_number) {
  return Error(code_of(error_number),
               path + ": cannot " + std::string(action) + ": " + std::strerror(error_number));
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  const int descriptor = uninterrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); });
  if (descriptor < 0) return file_error(path, "be opened for writing", errno);
  OutputFile file(path, descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return file_error(path, "be examined", errno);
  file.is_regular_ = S_ISREG(status.st_mode);
  if (file.is_regular_) file.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_regular_(other.is_regular_),
      size_bytes_(other.size_bytes_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(is_regular_, other.is_regular_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

Status OutputFile::append(std::span<const std::byte> bytes, std::size_t& written_bytes) {
  written_bytes = 0;
  while (written_bytes < bytes.size()) {
    const std::span<const std::byte> rest = bytes.subspan(written_bytes);
    const auto count =
        uninterrupted([&] { return ::write(descriptor_, rest.data(), rest.size()); });
    if (count < 0) return file_error(path_, "be written", errno);
    written_bytes += static_cast<std::size_t>(count);
    size_bytes_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

Status OutputFile::cut(std::uint64_t size_bytes) {
  if (uninterrupted([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size_bytes)); }) != 0)
    return file_error(path_, "be cut", errno);
  size_bytes_ = size_bytes;
  return {};
}

Status OutputFile::sync() {
  if (is_regular_ && uninterrupted([&] { return ::fdatasync(descriptor_); }) != 0)
    return file_error(path_, "be made durable", errno);
  return {};
}

Status OutputFile::lock() {
  if (uninterrupted([&] { return ::flock(descriptor_, LOCK_EX | LOCK_NB); }) == 0) return {};
  if (errno == EWOULDBLOCK)
    return Error(ErrorCode::kUnavailable, path_ + ": in use by another process");
  return file_error(path_, "be locked", errno);
}

Result<std::vector<std::byte>> read_whole_file(const std::string& path,
                                               std::uint64_t size_bytes_max) {
  const int descriptor = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (descriptor < 0) return file_error(path, "be opened", errno);
  std::vector<std::byte> bytes;
  struct stat status {};
  std::uint64_t size_bytes = 0;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (size_bytes <= size_bytes_max) bytes.reserve(size_bytes);
  std::vector<std::byte> block(std::size_t{1} << 16);
  ssize_t count = 1;
  while (count > 0 && size_bytes <= size_bytes_max) {
    count = uninterrupted([&] { return ::read(descriptor, block.data(), block.size()); });
    if (count > 0) bytes.insert(bytes.end(), block.begin(), block.begin() + count);
    size_bytes = std::max<std::uint64_t>(size_bytes, bytes.size());
  }
  const int error_number = errno;
  ::close(descriptor);
  if (count < 0) return file_error(path, "be read", error_number);
  if (size_bytes > size_bytes_max)
    return Error(ErrorCode::kFailedPrecondition,
                 path + ": larger than " + std::to_string(size_bytes_max) + " bytes");
  return bytes;
}

namespace {

Status append_text(OutputFile& file, std::string_view content) {
  std::size_t written_bytes = 0;
  return file.append(std::as_bytes(std::span(content.data(), content.size())), written_bytes);
}

Status write_and_rename(const std::string& temporary, const std::string& target,
                        std::string_view content) {
  TOCSIN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(temporary));
  TOCSIN_RETURN_IF_ERROR(append_text(file, content));
  TOCSIN_RETURN_IF_ERROR(file.sync());
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return file_error(target, "be replaced", errno);
  return {};
}

}  // namespace

Status replace_file(const std::string& path, std::string_view content) {
  std::error_code error;
  // A symbolic link stays one: what it points to is replaced.
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    TOCSIN_ASSIGN_OR_RETURN(OutputFile device, OutputFile::open(target));
    return append_text(device, content);
  }
  const std::string temporary = target + ".tmp";
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT)
    return file_error(temporary, "be removed", errno);
  const Status written = write_and_rename(temporary, target, content);
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(std::filesystem::path(target).parent_path().string());
}

Status sync_folder(const std::string& path) {
  const std::string folder = path.empty() ? "." : path;
  const int descriptor =
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return file_error(folder, "be opened", errno);
  const int result = uninterrupted([&] { return ::fsync(descriptor); });
  const int error_number = errno;
  ::close(descriptor);
  // Some file systems have no durable folders to speak of and say so with EINVAL.
  if (result != 0 && error_number != EINVAL)
    return file_error(folder, "be made durable", error_number);
  return {};
}

Status create_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return file_error(path, "be created", error.value());
  return {};
}

}  // namespace tocsin
