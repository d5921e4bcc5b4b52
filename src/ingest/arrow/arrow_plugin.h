// What the program and its Arrow plug-in (libtocsin_arrow.so) agree on: plain types and one table
// of functions, none of which throws. The plug-in links Apache Arrow, so that the program needs
// none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tocsin::columnar {

// Rises with every change of this file.
inline constexpr std::uint32_t kPluginVersion = 1;
inline constexpr char kPluginSymbol[] = "tocsin_arrow_plugin";

enum class StatusCode : std::uint8_t {
  kOk,
  kBadContent,   // broken, cut off, or not what it says
  kUnsupported,  // a column that no row of text can hold
  kInputOutput,  // of the system; error_number tells
  kOutOfMemory,  // or past the limit of memory
};
struct Status {
  StatusCode code = StatusCode::kOk;
  int error_number = 0;  // errno of kInputOutput; 0 if Arrow does not say
  char message[512] = {};

  bool ok() const { return code == StatusCode::kOk; }
};

enum class FileKind : std::uint8_t { kParquet, kIpcFile, kIpcStream };

// Of a table that is written: no value is ever missing.
enum class ColumnType : std::uint8_t { kText, kInt64, kUint64, kUint16, kFloat32 };
struct Column {
  const char* name = nullptr;
  ColumnType type = ColumnType::kInt64;
};
// The member that its column's type names.
union Cell {
  struct {
    const char* data;
    std::size_t size;
  } text;
  std::int64_t int64;
  std::uint64_t uint64;
  std::uint16_t uint16;
  float float32;
};

struct ReaderImpl;
struct WriterImpl;

struct Plugin {
  std::uint32_t version = kPluginVersion;

  // A table as lines of comma-separated text under a heading of the columns' names.
  Status (*open_reader)(const char* path, FileKind kind, ReaderImpl** reader) = nullptr;
  // Up to `size` bytes of the text; a count of 0 is its end. What was read before an error came
  // out with the calls before it.
  Status (*read)(ReaderImpl* reader, char* out, std::size_t size, std::size_t* count) = nullptr;
  double (*progress)(const ReaderImpl* reader) = nullptr;  // share of the file read, 0 to 1
  void (*close_reader)(ReaderImpl* reader) = nullptr;

  // Parquet, a row group as soon as its rows are there. Without finish() the last ones are missing.
  Status (*open_writer)(const char* path, const Column* columns, std::size_t count,
                        WriterImpl** writer) = nullptr;
  Status (*write_row)(WriterImpl* writer, const Cell* cells) = nullptr;
  Status (*finish)(WriterImpl* writer) = nullptr;
  void (*close_writer)(WriterImpl* writer) = nullptr;
};

}  // namespace tocsin::columnar
