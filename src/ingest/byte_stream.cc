// A sliding window over the decompressed bytes; it grows to the largest peek and stays there.
#include "ingest/byte_stream.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/arrow/arrow_input.h"
#include "ingest/decompressor.h"
#include "ingest/file_set.h"

namespace tocsin {
namespace {

class WindowedStream final : public ByteStream {
 public:
  WindowedStream(std::string path, std::unique_ptr<RawInput> raw)
      : path_(std::move(path)), input_(std::move(raw)), window_(kWindowBytes) {
    auto made = make_decompressor(input_);
    if (made.ok()) {
      decompressor_ = std::move(made).value();
    } else {
      fail(made.error());
    }
  }

  std::span<const std::byte> peek(std::size_t size_min) noexcept override {
    TOCSIN_ASSERT(size_min <= kPeekSizeMax);
    if (end_ - begin_ < size_min) fill(size_min);
    return {window_.data() + begin_, end_ - begin_};
  }

  void consume(std::size_t size_bytes) noexcept override {
    TOCSIN_ASSERT(size_bytes <= end_ - begin_);
    begin_ += size_bytes;
    offset_bytes_ += size_bytes;
  }

  bool next_line(std::string_view& line) noexcept override {
    std::size_t searched = 0;
    for (;;) {
      const std::size_t have = end_ - begin_;
      const std::byte* start = window_.data() + begin_;
      const void* found =
          have == searched ? nullptr : std::memchr(start + searched, '\n', have - searched);
      if (found != nullptr) {
        const auto size = static_cast<std::size_t>(static_cast<const std::byte*>(found) - start);
        line = without_carriage_return(start, size);
        consume(size + 1);
        return true;
      }
      searched = have;
      if (have >= kPeekSizeMax) {
        fail(Error(ErrorCode::kDataLoss,
                   "a line longer than " + std::to_string(kPeekSizeMax) + " bytes"));
        return false;
      }
      fill(have + 1);
      if (end_ - begin_ == have) return last_line(line);
    }
  }

  const Status& status() const noexcept override { return status_; }
  std::uint64_t offset_bytes() const noexcept override { return offset_bytes_; }
  double progress() const noexcept override {
    return ended_ && begin_ == end_ ? 1.0 : input_.progress();
  }
  const std::string& path() const noexcept override { return path_; }

 private:
  static constexpr std::size_t kWindowBytes = std::size_t{256} << 10;

  static std::string_view without_carriage_return(const std::byte* start, std::size_t size) {
    std::string_view line(reinterpret_cast<const char*>(start), size);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  // A last line without a line feed is a line, unless the input broke off there.
  bool last_line(std::string_view& line) noexcept {
    const std::size_t have = end_ - begin_;
    if (have == 0 || !status_.ok()) return false;
    line = without_carriage_return(window_.data() + begin_, have);
    consume(have);
    return true;
  }

  // Moves what is left to the front and adds bytes until `size_min` are there or no more come.
  void fill(std::size_t size_min) noexcept {
    if (ended_) return;
    if (begin_ > 0) {
      std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (window_.size() < size_min) {
      window_.resize(std::min(std::max(2 * window_.size(), size_min), kPeekSizeMax));
    }
    while (end_ < size_min) {
      const auto produced = decompressor_->produce(std::span(window_).subspan(end_));
      if (!produced.ok()) return fail(produced.error());
      if (produced.value() == 0) {
        ended_ = true;
        return;
      }
      end_ += produced.value();
    }
  }

  void fail(const Error& error) {
    ended_ = true;
    if (!status_.ok()) return;
    const std::string place = path_ + ", after byte " +
                              std::to_string(offset_bytes_ + (end_ - begin_)) + " of its content";
    status_ = error.within(place);
  }

  std::string path_;
  ChunkedInput input_;
  std::unique_ptr<Decompressor> decompressor_;  // null only if the input failed at once
  std::vector<std::byte> window_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_bytes_ = 0;
  bool ended_ = false;  // no more bytes will come into the window
  Status status_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> make_raw_stream(std::string name,
                                                    std::unique_ptr<RawInput> raw) {
  auto stream = std::make_unique<WindowedStream>(std::move(name), std::move(raw));
  if (!stream->status().ok()) return stream->status().error();
  return std::unique_ptr<ByteStream>(std::move(stream));
}

Result<std::unique_ptr<ByteStream>> open_byte_stream(const std::string& path) {
  if (is_zip_file(path)) {
    TOCSIN_ASSIGN_OR_RETURN(const FileSet set, list_file_set(path));
    if (set.names.size() == 1) return open_file_of_set(set, set.names.front());
    return Error(ErrorCode::kInvalidArgument,
                 path + ": a zip of " + std::to_string(set.names.size()) +
                     " files that no format is told by; unpack it and name one of them");
  }
  const auto kind = columnar_kind_of(path);
  auto raw = kind.has_value() ? open_columnar_file(path, *kind) : open_raw_file(path);
  if (!raw.ok()) return raw.error().within(path);
  return make_raw_stream(path, std::move(raw).value());
}

std::unique_ptr<ByteStream> make_memory_stream(std::string name, std::span<const std::byte> bytes) {
  return std::make_unique<WindowedStream>(std::move(name), make_raw_memory(bytes));
}

}  // namespace tocsin
