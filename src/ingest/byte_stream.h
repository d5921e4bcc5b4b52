// Reads a plain, gzip or zstd file as one stream of bytes, in a window that never holds the whole
// file: files larger than memory are fine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tocsin {

class RawInput;

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // The next bytes, at least `size_min` of them unless the stream ends before; not consumed.
  // The span is valid until the next call of peek(). Fewer than `size_min` bytes mean: the end, or
  // a failure (status() tells). `size_min` must not exceed kPeekSizeMax.
  virtual std::span<const std::byte> peek(std::size_t size_min) noexcept = 0;
  // Consumes `size_bytes` of what peek() last returned.
  virtual void consume(std::size_t size_bytes) noexcept = 0;
  // The next line without its end ("\n" or "\r\n"), consumed; valid until the next call. False at
  // the end or on failure. A line longer than kPeekSizeMax is a failure.
  virtual bool next_line(std::string_view& line) noexcept = 0;

  // OK, or why reading stopped (truncated or corrupt compression, I/O error), with path and offset.
  virtual const Status& status() const noexcept = 0;
  virtual std::uint64_t offset_bytes() const noexcept = 0;  // consumed so far, after decompression
  virtual double progress() const noexcept = 0;             // share of the file read, 0 to 1
  virtual const std::string& path() const noexcept = 0;

  static constexpr std::size_t kPeekSizeMax = std::size_t{16} << 20;
};

// Plain, gzip (also of several members) or zstd (also of several frames), told from the first
// bytes; of a zip the only file in it; of Parquet and Arrow IPC the table as CSV text.
Result<std::unique_ptr<ByteStream>> open_byte_stream(const std::string& path);
// The same over any raw bytes.
Result<std::unique_ptr<ByteStream>> make_raw_stream(std::string name,
                                                    std::unique_ptr<RawInput> raw);
// The same over bytes in memory, which must outlive the stream; `name` stands in messages.
std::unique_ptr<ByteStream> make_memory_stream(std::string name, std::span<const std::byte> bytes);

}  // namespace tocsin
