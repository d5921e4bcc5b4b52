// Any bytes as a Parquet file, an Arrow IPC file or an Arrow IPC stream, whichever they begin like:
// the text that comes out is of whole lines.
#include <arrow/result.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "ingest/arrow/arrow_input.h"
#include "ingest/arrow/plugin/errors.h"
#include "ingest/arrow/plugin/table_reader.h"

namespace {

// A file in memory alone.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size)
      : descriptor_(::memfd_create("columnar_fuzz", MFD_CLOEXEC)) {
    TOCSIN_ASSERT(descriptor_ >= 0);
    TOCSIN_ASSERT(::write(descriptor_, data, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

arrow::Status read_all(const std::string& path, tocsin::columnar::FileKind kind) {
  tocsin::columnar::TableReader reader;
  ARROW_RETURN_NOT_OK(reader.open(path, kind));
  std::array<char, 4096> text{};
  char last = 0;
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(const std::size_t count, reader.read(text.data(), text.size()));
    if (count == 0) break;
    last = text[count - 1];
  }
  TOCSIN_ASSERT(last == '\n');
  return arrow::Status::OK();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  const auto kind = tocsin::columnar_kind_of(file.path());
  if (!kind.has_value()) return 0;
  (void)tocsin::columnar::guarded([&] { return read_all(file.path(), *kind); });
  return 0;
}
