// Raw bytes (a file or memory) and what unpacks them: plain, gzip, zstd, told from the first bytes.
// Everything decoded before a fault is handed out first; the fault comes with the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tocsin {

class RawInput {
 public:
  virtual ~RawInput() = default;
  // Reads up to `out.size()` bytes; 0 at the end.
  virtual Result<std::size_t> read(std::span<std::byte> out) noexcept = 0;
  virtual std::uint64_t size_bytes() const noexcept = 0;  // 0 if it cannot be known
};

// A file, read in order; a folder or an unreadable file is an error that names it.
Result<std::unique_ptr<RawInput>> open_raw_file(const std::string& path);
// `bytes` must outlive the input.
std::unique_ptr<RawInput> make_raw_memory(std::span<const std::byte> bytes);

// A raw input read ahead by one chunk, so that its first bytes can be looked at.
class ChunkedInput {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

  explicit ChunkedInput(std::unique_ptr<RawInput> raw);

  // What of the chunk is not consumed, after reading a new one if it was empty; empty at the end.
  Result<std::span<const std::byte>> ahead() noexcept;
  void consume(std::size_t size_bytes) noexcept;
  // Reads past the chunk, straight into `out`, if the chunk is empty; else copies from it.
  Result<std::size_t> read(std::span<std::byte> out) noexcept;
  std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  double progress() const noexcept;

 private:
  std::unique_ptr<RawInput> raw_;
  std::vector<std::byte> chunk_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_bytes_ = 0;  // consumed
};

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Fills up to `out.size()` bytes (at least one is asked for); 0 at the end. Truncated or corrupt
  // input is DATA_LOSS, with the offset in the compressed file.
  virtual Result<std::size_t> produce(std::span<std::byte> out) noexcept = 0;
};

// The decompressor that the first bytes of `input` call for; `input` must outlive it.
Result<std::unique_ptr<Decompressor>> make_decompressor(ChunkedInput& input);

}  // namespace tocsin
