// The plug-in's reader behind RawInput.
#include "ingest/arrow/arrow_input.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/assert.h"

namespace tocsin {
namespace {

// An IPC stream begins with a marker and the size of its schema's message.
constexpr std::int64_t kSchemaBytesMax = std::int64_t{16} << 20;

class ColumnarInput final : public RawInput {
 public:
  ColumnarInput(const columnar::Plugin& plugin, columnar::ReaderImpl* reader) noexcept
      : plugin_(plugin), reader_(reader) {}
  ~ColumnarInput() override { plugin_.close_reader(reader_); }
  ColumnarInput(const ColumnarInput&) = delete;
  ColumnarInput& operator=(const ColumnarInput&) = delete;

  Result<std::size_t> read(std::span<std::byte> out) noexcept override {
    std::size_t count = 0;
    TOCSIN_RETURN_IF_ERROR(ArrowLibrary::check(
        plugin_.read(reader_, reinterpret_cast<char*>(out.data()), out.size(), &count)));
    return count;
  }
  double progress(std::uint64_t /*offset_bytes*/) const noexcept override {
    return plugin_.progress(reader_);
  }

 private:
  const columnar::Plugin& plugin_;
  columnar::ReaderImpl* reader_;
};

std::int64_t little_endian_int32(std::string_view bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int32_t>(value);
}

}  // namespace

std::optional<columnar::FileKind> columnar_kind_of(const std::string& path) noexcept {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (head.starts_with("PAR1")) return columnar::FileKind::kParquet;
  if (head.starts_with("ARROW1")) return columnar::FileKind::kIpcFile;
  if (head.size() < bytes.size() || !head.starts_with("\xFF\xFF\xFF\xFF")) return std::nullopt;
  const std::int64_t schema_bytes = little_endian_int32(head.substr(4));
  if (schema_bytes <= 0 || schema_bytes > kSchemaBytesMax) return std::nullopt;
  return columnar::FileKind::kIpcStream;
}

std::string_view columnar_kind_name(columnar::FileKind kind) noexcept {
  switch (kind) {
    case columnar::FileKind::kParquet:
      return "a Parquet file";
    case columnar::FileKind::kIpcFile:
      return "an Arrow IPC file";
    default:
      return "an Arrow IPC stream";
  }
}

Result<std::unique_ptr<RawInput>> open_columnar_file(const std::string& path,
                                                     columnar::FileKind kind,
                                                     const LibraryLocations& locations) {
  TOCSIN_ASSIGN_OR_RETURN(const ArrowLibrary library, ArrowLibrary::open(locations));
  columnar::ReaderImpl* reader = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      ArrowLibrary::check(library.plugin().open_reader(path.c_str(), kind, &reader)));
  return std::unique_ptr<RawInput>(std::make_unique<ColumnarInput>(library.plugin(), reader));
}

}  // namespace tocsin
