// .npz through libarchive's zip reader, from memory.
#include "models/npz_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include "models/npy_header.h"

namespace tocsin {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they stand");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kExtension = ".npy";
constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

struct ArchiveFree {
  void operator()(archive* handle) const noexcept { archive_read_free(handle); }
};
using ArchiveReader = std::unique_ptr<archive, ArchiveFree>;

Error unreadable(archive* handle) {
  const char* reason = archive_error_string(handle);
  return Error(ErrorCode::kDataLoss,
               std::string("cannot be unpacked: ") + (reason != nullptr ? reason : "unknown"));
}

// Number of bytes of a float32 array of that shape; false if it passes `size_bytes_max`.
bool bytes_of_shape(std::span<const std::int64_t> shape, std::size_t size_bytes_max,
                    std::size_t& size_bytes) {
  size_bytes = sizeof(float);
  // A zero dimension anywhere makes the array empty, however large the others are.
  if (std::ranges::find(shape, 0) != shape.end()) {
    size_bytes = 0;
    return true;
  }
  for (const std::int64_t dimension : shape) {
    if (static_cast<std::uint64_t>(dimension) > size_bytes_max / size_bytes) return false;
    size_bytes *= static_cast<std::size_t>(dimension);
  }
  return size_bytes <= size_bytes_max;
}

// Reads the rest of the current member, at most `size_bytes_max`.
Result<std::vector<std::byte>> read_member(archive* handle, std::size_t size_bytes_max) {
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kChunkBytes);
    const la_ssize_t count = archive_read_data(handle, bytes.data() + before, kChunkBytes);
    if (count < 0) return unreadable(handle);
    bytes.resize(before + static_cast<std::size_t>(count));
    if (count == 0) return bytes;
    if (bytes.size() > size_bytes_max)
      return Error(ErrorCode::kResourceExhausted, "unpacks to more than the limit allows");
  }
}

Result<std::string> array_name(archive_entry* entry) {
  const char* path = archive_entry_pathname(entry);
  if (path == nullptr) return Error(ErrorCode::kDataLoss, "a member has no readable name");
  const std::string_view name(path);
  if (archive_entry_filetype(entry) != AE_IFREG || !name.ends_with(kExtension)) {
    return Error(ErrorCode::kDataLoss,
                 "expected arrays (*.npy) only, found '" + std::string(name) + "'");
  }
  return std::string(name.substr(0, name.size() - kExtension.size()));
}

}  // namespace

Result<NpyArray> read_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 2)
    return Error(ErrorCode::kDataLoss, "expected a .npy file, found none");
  const auto major = static_cast<unsigned char>(text[kMagic.size()]);
  const auto minor = static_cast<unsigned char>(text[kMagic.size() + 1]);
  if ((major != 1 && major != 2) || minor != 0) {
    return Error(ErrorCode::kUnimplemented, ".npy version " + std::to_string(major) + "." +
                                                std::to_string(minor) + ": expected 1.0 or 2.0");
  }
  // The length of the header: 16 bits in version 1, 32 bits in version 2, little-endian.
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t length_at = kMagic.size() + 2;
  std::uint32_t header_bytes = 0;
  if (text.size() < length_at + length_bytes)
    return Error(ErrorCode::kDataLoss, "the .npy header is cut off");
  std::memcpy(&header_bytes, text.data() + length_at, length_bytes);
  const std::string_view rest = text.substr(length_at + length_bytes);
  if (rest.size() < header_bytes) return Error(ErrorCode::kDataLoss, "the .npy header is cut off");
  TOCSIN_ASSIGN_OR_RETURN(NpyHeader header, parse_npy_header(rest.substr(0, header_bytes)));
  if (header.type != "<f4" || header.fortran_order) {
    return Error(ErrorCode::kUnimplemented,
                 "expected type '<f4' in C order, found '" + header.type + "' in " +
                     (header.fortran_order ? "Fortran order" : "C order"));
  }
  const std::string_view data = rest.substr(header_bytes);
  std::size_t size_bytes = 0;
  if (!bytes_of_shape(header.shape, data.size(), size_bytes) || size_bytes != data.size()) {
    return Error(ErrorCode::kDataLoss, "the .npy data is not as long as its shape says (" +
                                           std::to_string(data.size()) + " bytes)");
  }
  NpyArray array;
  array.shape = std::move(header.shape);
  array.values.resize(size_bytes / sizeof(float));
  if (size_bytes > 0) std::memcpy(array.values.data(), data.data(), size_bytes);
  return array;
}

Result<std::vector<NamedNpyArray>> read_npz(std::span<const std::byte> bytes,
                                            const NpzLimits& limits) {
  const ArchiveReader handle(archive_read_new());
  if (handle == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for libarchive");
  if (archive_read_support_format_zip(handle.get()) != ARCHIVE_OK ||
      archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return unreadable(handle.get());

  std::vector<NamedNpyArray> arrays;
  std::size_t left_bytes = limits.unpacked_bytes_max;
  while (true) {
    archive_entry* entry = nullptr;  // owned by the handle
    const int status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) return arrays;
    if (status != ARCHIVE_OK) return unreadable(handle.get());
    if (arrays.size() == limits.array_count_max) {
      return Error(ErrorCode::kResourceExhausted,
                   "holds more than " + std::to_string(limits.array_count_max) + " arrays");
    }
    TOCSIN_ASSIGN_OR_RETURN(std::string name, array_name(entry));
    for (const NamedNpyArray& earlier : arrays) {
      if (earlier.name == name)
        return Error(ErrorCode::kDataLoss, "holds two arrays named '" + name + "'");
    }
    Result<std::vector<std::byte>> member = read_member(handle.get(), left_bytes);
    if (!member.ok()) return member.error().within("array '" + name + "'");
    left_bytes -= member->size();
    Result<NpyArray> array = read_npy(*member);
    if (!array.ok()) return array.error().within("array '" + name + "'");
    arrays.push_back({std::move(name), std::move(*array)});
  }
}

}  // namespace tocsin
