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
  // Share of it read, 0 to 1, when `offset_bytes` were handed out; 0 if it cannot be known.
  virtual double progress(std::uint64_t offset_bytes) const noexcept = 0;
};

// A file, read in order; a folder or an unreadable file is an error that names it.
Result<std::unique_ptr<RawInput>> open_raw_file(const std::string& path);
// `bytes` must outlive the input.
std::unique_ptr<RawInput> make_raw_memory(std::span<const std::byte> bytes);

// Of an input of `size_bytes`, 0 if they cannot be known; a file may grow while it is read.
double share_of(std::uint64_t offset_bytes, std::uint64_t size_bytes) noexcept;

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
  double progress() const noexcept { return raw_->progress(offset_bytes_); }

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
