// zlib and libzstd behind one call; system calls for files.
#include "ingest/decompressor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace tocsin {
namespace {

Error system_error(std::string_view doing, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound
                         : error_number == EACCES || error_number == EPERM
                             ? ErrorCode::kPermissionDenied
                         : error_number == EISDIR ? ErrorCode::kInvalidArgument
                                                  : ErrorCode::kUnavailable;
  std::string message(doing);
  message += ": ";
  message += std::strerror(error_number);
  return Error(code, std::move(message));
}

class RawFile final : public RawInput {
 public:
  RawFile(int descriptor, std::uint64_t size_bytes) noexcept
      : descriptor_(descriptor), size_bytes_(size_bytes) {}
  ~RawFile() override { ::close(descriptor_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  Result<std::size_t> read(std::span<std::byte> out) noexcept override {
    for (;;) {
      const ::ssize_t count = ::read(descriptor_, out.data(), out.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return system_error("cannot read", errno);
    }
  }
  double progress(std::uint64_t offset_bytes) const noexcept override {
    return share_of(offset_bytes, size_bytes_);
  }

 private:
  int descriptor_;
  std::uint64_t size_bytes_;
};

class RawMemory final : public RawInput {
 public:
  explicit RawMemory(std::span<const std::byte> bytes) noexcept
      : left_(bytes), size_bytes_(bytes.size()) {}

  Result<std::size_t> read(std::span<std::byte> out) noexcept override {
    const std::size_t count = std::min(out.size(), left_.size());
    if (count > 0) std::memcpy(out.data(), left_.data(), count);
    left_ = left_.subspan(count);
    return count;
  }
  double progress(std::uint64_t offset_bytes) const noexcept override {
    return share_of(offset_bytes, size_bytes_);
  }

 private:
  std::span<const std::byte> left_;
  std::uint64_t size_bytes_;
};

Error data_loss(std::string_view what, const ChunkedInput& input) {
  std::string message(what);
  message += " at byte ";
  message += std::to_string(input.offset_bytes());
  message += " of the compressed file";
  return Error(ErrorCode::kDataLoss, std::move(message));
}

class PlainBytes final : public Decompressor {
 public:
  explicit PlainBytes(ChunkedInput& input) noexcept : input_(input) {}
  Result<std::size_t> produce(std::span<std::byte> out) noexcept override {
    return input_.read(out);
  }

 private:
  ChunkedInput& input_;
};

class Gunzip final : public Decompressor {
 public:
  // `stream` was set up by inflateInit2; the zlib state points back at it, so it must not move.
  Gunzip(ChunkedInput& input, std::unique_ptr<z_stream> stream) noexcept
      : input_(input), stream_(std::move(stream)) {}
  ~Gunzip() override { ::inflateEnd(stream_.get()); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  Result<std::size_t> produce(std::span<std::byte> out) noexcept override {
    for (;;) {
      TOCSIN_ASSIGN_OR_RETURN(const std::span<const std::byte> ahead, input_.ahead());
      if (between_members_) {
        if (ahead.empty()) return std::size_t{0};
        TOCSIN_ASSIGN_OR_RETURN(const bool starts, start_member(ahead));
        if (!starts) continue;
      }
      // With the input at its end zlib may still hold output back: it is called once more.
      TOCSIN_ASSIGN_OR_RETURN(const std::size_t count, inflate_into(ahead, out));
      if (count > 0) return count;
      if (ahead.empty()) return data_loss("gzip: truncated", input_);
    }
  }

 private:
  // Skips zero padding after a member (tape archives have it); true if another member begins.
  Result<bool> start_member(std::span<const std::byte> ahead) noexcept {
    const auto zeros = std::find_if(ahead.begin(), ahead.end(),
                                    [](std::byte byte) { return byte != std::byte{0}; });
    if (zeros != ahead.begin()) {
      input_.consume(static_cast<std::size_t>(zeros - ahead.begin()));
      return false;
    }
    if (ahead.front() != std::byte{0x1F}) return data_loss("gzip: trailing bytes", input_);
    if (::inflateReset(stream_.get()) != Z_OK) return data_loss("gzip: cannot restart", input_);
    between_members_ = false;
    return true;
  }

  // A fault is held back until what was decoded before it has been handed out.
  Result<std::size_t> inflate_into(std::span<const std::byte> in,
                                   std::span<std::byte> out) noexcept {
    constexpr std::size_t kStepMax = std::size_t{1} << 30;  // zlib counts in 32 bits
    const std::size_t out_size = std::min(out.size(), kStepMax);
    // zlib does not write through next_in; its type lacks the const (ZLIB_CONST is not portable).
    stream_->next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_->avail_in = static_cast<uInt>(in.size());
    stream_->next_out = reinterpret_cast<Bytef*>(out.data());
    stream_->avail_out = static_cast<uInt>(out_size);
    const int code = ::inflate(stream_.get(), Z_NO_FLUSH);
    input_.consume(in.size() - stream_->avail_in);
    const std::size_t count = out_size - stream_->avail_out;
    if (code == Z_STREAM_END) {
      between_members_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR && count == 0) {
      std::string what = "gzip: ";
      what += stream_->msg != nullptr ? stream_->msg : "corrupt data";
      return data_loss(what, input_);
    }
    return count;
  }

  ChunkedInput& input_;
  std::unique_ptr<z_stream> stream_;
  bool between_members_ = false;
};

class Unzstd final : public Decompressor {
 public:
  Unzstd(ChunkedInput& input, ZSTD_DStream* stream) noexcept : input_(input), stream_(stream) {}
  ~Unzstd() override { ::ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  Result<std::size_t> produce(std::span<std::byte> out) noexcept override {
    if (held_error_ != 0) return fault(held_error_);
    for (;;) {
      TOCSIN_ASSIGN_OR_RETURN(const std::span<const std::byte> ahead, input_.ahead());
      // With the input at its end the decoder may still hold output back: it is called once more.
      if (ahead.empty() && frame_done_) return std::size_t{0};
      ZSTD_inBuffer in{ahead.data(), ahead.size(), 0};
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t hint = ::ZSTD_decompressStream(stream_, &to, &in);
      input_.consume(in.pos);
      if (::ZSTD_isError(hint) != 0) {
        if (to.pos == 0) return fault(hint);
        held_error_ = hint;
        return to.pos;
      }
      frame_done_ = hint == 0;
      if (to.pos > 0) return to.pos;
      if (ahead.empty() && !frame_done_) return data_loss("zstd: truncated", input_);
    }
  }

 private:
  Error fault(std::size_t code) const {
    std::string what = "zstd: ";
    what += ::ZSTD_getErrorName(code);
    return data_loss(what, input_);
  }

  ChunkedInput& input_;
  ZSTD_DStream* stream_;
  bool frame_done_ = false;
  std::size_t held_error_ = 0;  // libzstd may not be called again after an error
};

bool starts_like_gzip(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

// RFC 8878: a frame's magic number is 0xFD2FB528, a skippable frame's 0x184D2A50 to 0x184D2A5F,
// both little-endian.
bool starts_like_zstd(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < 4) return false;
  std::array<unsigned, 4> b{};
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::to_integer<unsigned>(bytes[i]);
  if (b[0] == 0x28 && b[1] == 0xB5 && b[2] == 0x2F && b[3] == 0xFD) return true;
  return (b[0] & 0xF0U) == 0x50 && b[1] == 0x2A && b[2] == 0x4D && b[3] == 0x18;
}

}  // namespace

Result<std::unique_ptr<RawInput>> open_raw_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error("cannot open", errno);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
    const int error_number = S_ISDIR(info.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    return system_error("cannot open", error_number);
  }
  const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  // Advice only: a file system that does not take it reads on as before.
  (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<RawInput>(std::make_unique<RawFile>(descriptor, size));
}

std::unique_ptr<RawInput> make_raw_memory(std::span<const std::byte> bytes) {
  return std::make_unique<RawMemory>(bytes);
}

double share_of(std::uint64_t offset_bytes, std::uint64_t size_bytes) noexcept {
  if (size_bytes == 0) return 0.0;
  return std::min(1.0, static_cast<double>(offset_bytes) / static_cast<double>(size_bytes));
}

ChunkedInput::ChunkedInput(std::unique_ptr<RawInput> raw)
    : raw_(std::move(raw)), chunk_(kChunkBytes) {}

Result<std::span<const std::byte>> ChunkedInput::ahead() noexcept {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    TOCSIN_ASSIGN_OR_RETURN(end_, raw_->read(chunk_));
  }
  return std::span<const std::byte>(chunk_).subspan(begin_, end_ - begin_);
}

void ChunkedInput::consume(std::size_t size_bytes) noexcept {
  TOCSIN_ASSERT(size_bytes <= end_ - begin_);
  begin_ += size_bytes;
  offset_bytes_ += size_bytes;
}

Result<std::size_t> ChunkedInput::read(std::span<std::byte> out) noexcept {
  if (begin_ == end_) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t count, raw_->read(out));
    offset_bytes_ += count;
    return count;
  }
  const std::size_t count = std::min(out.size(), end_ - begin_);
  std::memcpy(out.data(), chunk_.data() + begin_, count);
  consume(count);
  return count;
}

Result<std::unique_ptr<Decompressor>> make_decompressor(ChunkedInput& input) {
  TOCSIN_ASSIGN_OR_RETURN(const std::span<const std::byte> ahead, input.ahead());
  if (starts_like_gzip(ahead)) {
    auto stream = std::make_unique<z_stream>();
    constexpr int kGzipWithLargestWindow = 15 + 16;
    if (::inflateInit2(stream.get(), kGzipWithLargestWindow) != Z_OK) {
      return Error(ErrorCode::kResourceExhausted, "gzip: no memory for its state");
    }
    return std::unique_ptr<Decompressor>(std::make_unique<Gunzip>(input, std::move(stream)));
  }
  if (starts_like_zstd(ahead)) {
    ZSTD_DStream* stream = ::ZSTD_createDStream();
    if (stream == nullptr) {
      return Error(ErrorCode::kResourceExhausted, "zstd: no memory for its state");
    }
    return std::unique_ptr<Decompressor>(std::make_unique<Unzstd>(input, stream));
  }
  return std::unique_ptr<Decompressor>(std::make_unique<PlainBytes>(input));
}

}  // namespace tocsin
