// .npz by libarchive's zip writer (format: numpy.lib.format, "Format Version 1.0"). Members are
// stored, not deflated: they can be mapped into memory, and writing waits for the disk alone.
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/frame_writer.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

struct ArchiveFree {
  void operator()(archive* handle) const noexcept { archive_write_free(handle); }
};
using ArchiveWriter = std::unique_ptr<archive, ArchiveFree>;

// A file without a name in the folder of `path`, gone with the process at the latest.
Result<File> unnamed_file_beside(const std::string& path) {
  std::string pattern = path + ".column-XXXXXX";
  const int descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0) return file_error(path, "be written", errno);
  ::unlink(pattern.c_str());
  std::FILE* file = ::fdopen(descriptor, "w+");
  if (file == nullptr) {
    ::close(descriptor);
    return file_error(path, "be written", errno);
  }
  return File(file);
}

// Magic, version, length and a dictionary padded with blanks to 64 bytes.
std::string npy_header(std::string_view type, std::string_view shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr std::size_t kPrefixBytes = 10;
  dictionary.append(63 - (kPrefixBytes + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

// A NumPy array of text: four bytes a character, as many as the longest has, zero at the end.
std::string text_array(std::span<const std::string> texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string bytes = npy_header(fmt::format("<U{}", longest), fmt::format("{},", texts.size()));
  for (const std::string& text : texts) {
    for (std::size_t i = 0; i < longest; ++i) {
      bytes += i < text.size() ? text[i] : '\0';
      bytes.append(3, '\0');
    }
  }
  return bytes;
}

struct Column {
  std::string_view name;
  std::string_view type;
  File file;
};

class NpzFrameWriter final : public FrameWriter {
 public:
  NpzFrameWriter(std::string path, const FeatureSchema& schema) : path_(std::move(path)) {
    for (std::size_t i = 0; i < schema.size(); ++i) feature_names_.emplace_back(schema.name(i));
  }

  Status open() {
    constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
        {"values", "<f4"},           {"instrument", "<u4"},      {"record", "<u8"},
        {"exchange_time_ns", "<i8"}, {"receive_time_ns", "<i8"}, {"mid_price_nanos_x2", "<i8"},
        {"price_tick_nanos", "<i8"}, {"quality", "<u2"}};
    for (const auto& [name, type] : kColumns) {
      TOCSIN_ASSIGN_OR_RETURN(File file, unnamed_file_beside(path_));
      columns_.push_back({name, type, std::move(file)});
    }
    // A path that cannot be written is found before the frames are made.
    const File probe(std::fopen(path_.c_str(), "w"));
    return probe ? Status() : file_error(path_, "be written", errno);
  }

  Status write(const FeatureFrame& frame, const Instrument& instrument) override {
    ++frame_count_;
    const std::uint32_t symbol = number_of(frame.instrument, instrument);
    const std::uint16_t quality = frame.quality.bits();
    const bool written = put(0, frame.values.data(), feature_names_.size() * sizeof(float)) &&
                         put(1, &symbol, sizeof symbol) &&
                         put(2, &frame.position.record, sizeof frame.position.record) &&
                         put(3, &frame.exchange_time_ns, sizeof frame.exchange_time_ns) &&
                         put(4, &frame.receive_time_ns, sizeof frame.receive_time_ns) &&
                         put(5, &frame.mid_price_nanos_x2, sizeof frame.mid_price_nanos_x2) &&
                         put(6, &instrument.price_tick_nanos, sizeof instrument.price_tick_nanos) &&
                         put(7, &quality, sizeof quality);
    return written ? Status() : file_error(path_, "be written", errno);
  }

  Status finish() override {
    const ArchiveWriter zip(archive_write_new());
    if (zip == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for libarchive");
    if (archive_write_set_format_zip(zip.get()) != ARCHIVE_OK ||
        archive_write_zip_set_compression_store(zip.get()) != ARCHIVE_OK ||
        archive_write_open_filename(zip.get(), path_.c_str()) != ARCHIVE_OK)
      return failure(zip.get());
    TOCSIN_RETURN_IF_ERROR(add_member(zip.get(), "feature_names", text_array(feature_names_)));
    TOCSIN_RETURN_IF_ERROR(add_member(zip.get(), "symbols", text_array(symbols_)));
    for (const Column& column : columns_) TOCSIN_RETURN_IF_ERROR(add_column(zip.get(), column));
    return archive_write_close(zip.get()) == ARCHIVE_OK ? Status() : failure(zip.get());
  }

 private:
  bool put(std::size_t column, const void* bytes, std::size_t count) {
    return std::fwrite(bytes, 1, count, columns_[column].file.get()) == count;
  }

  std::uint32_t number_of(InstrumentId id, const Instrument& instrument) {
    const auto [place, is_new] =
        symbol_numbers_.emplace(id, static_cast<std::uint32_t>(symbols_.size()));
    if (is_new) symbols_.push_back(instrument.symbol);
    return place->second;
  }

  Error failure(archive* zip) const {
    const char* reason = archive_error_string(zip);
    return Error(ErrorCode::kResourceExhausted,
                 fmt::format("{}: cannot be written: {}", path_,
                             reason != nullptr ? reason : std::strerror(archive_errno(zip))));
  }

  Status start_member(archive* zip, std::string_view name, std::size_t size_bytes) {
    struct EntryFree {
      void operator()(archive_entry* entry) const noexcept { archive_entry_free(entry); }
    };
    const std::unique_ptr<archive_entry, EntryFree> entry(archive_entry_new());
    if (entry == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for libarchive");
    archive_entry_set_pathname(entry.get(), fmt::format("{}.npy", name).c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size_bytes));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    return archive_write_header(zip, entry.get()) == ARCHIVE_OK ? Status() : failure(zip);
  }

  Status append(archive* zip, std::string_view bytes) {
    while (!bytes.empty()) {
      const la_ssize_t written = archive_write_data(zip, bytes.data(), bytes.size());
      if (written <= 0) return failure(zip);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status add_member(archive* zip, std::string_view name, const std::string& bytes) {
    TOCSIN_RETURN_IF_ERROR(start_member(zip, name, bytes.size()));
    return append(zip, bytes);
  }

  Status add_column(archive* zip, const Column& column) {
    const bool is_matrix = column.name == "values";
    const std::string header = npy_header(
        column.type, is_matrix ? fmt::format("{}, {}", frame_count_, feature_names_.size())
                               : fmt::format("{},", frame_count_));
    std::FILE* file = column.file.get();
    const long size_bytes = std::fflush(file) == 0 ? std::ftell(file) : -1;
    if (size_bytes < 0) return file_error(path_, "be written", errno);
    TOCSIN_RETURN_IF_ERROR(
        start_member(zip, column.name, header.size() + static_cast<std::size_t>(size_bytes)));
    TOCSIN_RETURN_IF_ERROR(append(zip, header));
    std::rewind(file);
    std::vector<char> chunk(kChunkBytes);
    for (std::size_t count = 0; (count = std::fread(chunk.data(), 1, chunk.size(), file)) > 0;)
      TOCSIN_RETURN_IF_ERROR(append(zip, {chunk.data(), count}));
    return std::ferror(file) == 0 ? Status() : file_error(path_, "be read back", errno);
  }

  std::string path_;
  std::vector<std::string> feature_names_;
  std::vector<std::string> symbols_;  // in the order of their first frames
  std::unordered_map<InstrumentId, std::uint32_t> symbol_numbers_;
  std::vector<Column> columns_;
  std::uint64_t frame_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<FrameWriter>> open_npz_writer(const std::string& path,
                                                     const FeatureSchema& schema) {
  auto writer = std::make_unique<NpzFrameWriter>(path, schema);
  TOCSIN_RETURN_IF_ERROR(writer->open());
  return std::unique_ptr<FrameWriter>(std::move(writer));
}

}  // namespace tocsin
