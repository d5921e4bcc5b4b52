// Plain, gzip and zstd give the same bytes; every break-off is told and loses nothing before it.
#include "ingest/byte_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Bytes gzip(std::span<const std::byte> plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

// With a check sum at the end of the frame, as the command-line tool writes it.
Bytes zstd(std::span<const std::byte> plain) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  Bytes packed(ZSTD_compressBound(plain.size()));
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// Lines of different lengths, some compressible, some not.
std::string many_lines(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = random() % 200;
    for (std::size_t k = 0; k < size; ++k) {
      text += static_cast<char>(i % 2 == 0 ? 'a' : ' ' + static_cast<char>(random() % 90));
    }
    text += '\n';
  }
  return text;
}

std::string read_by_lines(ByteStream& stream) {
  std::string text;
  for (std::string_view line; stream.next_line(line);) {
    text += line;
    text += '\n';
  }
  return text;
}

std::string read_by_peeks(ByteStream& stream, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (;;) {
    const std::size_t wanted = 1 + random() % 100'000;
    const auto bytes = stream.peek(wanted);
    if (bytes.empty()) return text;
    const std::size_t taken = 1 + random() % bytes.size();
    text.append(reinterpret_cast<const char*>(bytes.data()), taken);
    stream.consume(taken);
    EXPECT_EQ(stream.offset_bytes(), text.size());
  }
}

class EveryCompression : public testing::TestWithParam<const char*> {
 protected:
  static Bytes pack(std::string_view text) {
    const Bytes plain = bytes_of(text);
    const std::string_view kind = GetParam();
    return kind == "gzip" ? gzip(plain) : kind == "zstd" ? zstd(plain) : plain;
  }
};

TEST_P(EveryCompression, GivesBackTheLines) {
  const std::string text = many_lines(1, 20'000);
  const Bytes packed = pack(text);
  const auto stream = make_memory_stream("lines", packed);
  EXPECT_EQ(read_by_lines(*stream), text);
  EXPECT_TRUE(stream->status().ok());
  EXPECT_EQ(stream->offset_bytes(), text.size());
  EXPECT_DOUBLE_EQ(stream->progress(), 1.0);
}

TEST_P(EveryCompression, GivesBackTheBytesForPeeksOfAnySize) {
  const std::string text = many_lines(2, 20'000);
  const Bytes packed = pack(text);
  const auto stream = make_memory_stream("bytes", packed);
  EXPECT_EQ(read_by_peeks(*stream, 3), text);
  EXPECT_TRUE(stream->status().ok());
}

TEST_P(EveryCompression, AllocatesNothingAfterTheFirstLine) {
  const std::string text = many_lines(4, 20'000);
  const Bytes packed = pack(text);
  const auto stream = make_memory_stream("lines", packed);
  std::string_view line;
  ASSERT_TRUE(stream->next_line(line));
  const std::uint64_t before = allocation_count();
  std::size_t count = 1;
  while (stream->next_line(line)) ++count;
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(count, 20'000U);
}

TEST_P(EveryCompression, ReadsSeveralPartsAsOne) {
  const std::string first = many_lines(5, 3000);
  const std::string second = many_lines(6, 3000);
  const Bytes packed = joined(pack(first), pack(second));
  const auto stream = make_memory_stream("parts", packed);
  EXPECT_EQ(read_by_lines(*stream), first + second);
  EXPECT_TRUE(stream->status().ok());
}

TEST_P(EveryCompression, ReadsAnEmptyInputAsNoLines) {
  const Bytes packed = pack("");
  const auto stream = make_memory_stream("empty", packed);
  std::string_view line;
  EXPECT_FALSE(stream->next_line(line));
  EXPECT_TRUE(stream->peek(1).empty());
  EXPECT_TRUE(stream->status().ok());
}

TEST_P(EveryCompression, FailsOnALineLongerThanTheLimit) {
  const std::string text = "short\n" + std::string(ByteStream::kPeekSizeMax + 1, 'x') + "\nlast\n";
  const Bytes packed = pack(text);
  const auto stream = make_memory_stream("long.txt", packed);
  std::string_view line;
  ASSERT_TRUE(stream->next_line(line));
  EXPECT_EQ(line, "short");
  EXPECT_FALSE(stream->next_line(line));
  ASSERT_FALSE(stream->status().ok());
  EXPECT_EQ(stream->status().error().code(), ErrorCode::kDataLoss);
  EXPECT_NE(stream->status().error().message().find("long.txt"), std::string::npos);
}

TEST_P(EveryCompression, PeeksAsFarAsTheLimit) {
  const std::string text(ByteStream::kPeekSizeMax + 10, 'y');
  const Bytes packed = pack(text);
  const auto stream = make_memory_stream("large", packed);
  stream->peek(100);
  stream->consume(5);
  EXPECT_EQ(stream->peek(ByteStream::kPeekSizeMax).size(), ByteStream::kPeekSizeMax);
  stream->consume(ByteStream::kPeekSizeMax);
  EXPECT_EQ(stream->peek(100).size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(ByteStream, EveryCompression, testing::Values("plain", "gzip", "zstd"),
                         [](const auto& name) { return std::string(name.param); });

TEST(ByteStream, EndsLinesAtLineFeedsWithOrWithoutCarriageReturn) {
  const Bytes bytes = bytes_of("a\r\n\nb\rc\r\r\nlast");
  const auto stream = make_memory_stream("lines", bytes);
  std::vector<std::string> lines;
  for (std::string_view line; stream->next_line(line);) lines.emplace_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "", "b\rc\r", "last"}));
}

// Cuts a compressed text at every byte of its first part and at its end: whatever comes out is a
// prefix of whole lines, and the break-off is told.
template <typename Pack>
void expect_truncation_told(Pack pack) {
  const std::string text = many_lines(7, 400);
  const Bytes packed = pack(bytes_of(text));
  ASSERT_GT(packed.size(), 2000U);
  for (std::size_t size = 5; size < packed.size(); size += size < 100 ? 1 : 211) {
    const auto stream = make_memory_stream("cut", std::span(packed).first(size));
    const std::string got = read_by_lines(*stream);
    ASSERT_TRUE(text.starts_with(got)) << size;
    ASSERT_FALSE(stream->status().ok()) << size;
    ASSERT_EQ(stream->status().error().code(), ErrorCode::kDataLoss) << size;
    ASSERT_NE(stream->status().error().message().find("truncated"), std::string::npos)
        << stream->status().error().message();
  }
}

TEST(ByteStream, TellsTruncatedGzip) { expect_truncation_told(gzip); }
TEST(ByteStream, TellsTruncatedZstd) { expect_truncation_told(zstd); }

TEST(ByteStream, HandsOutEverythingBeforeATruncation) {
  const std::string text = many_lines(8, 30'000);
  for (const Bytes& packed : {gzip(bytes_of(text)), zstd(bytes_of(text))}) {
    const auto stream = make_memory_stream("cut", std::span(packed).first(packed.size() - 3));
    const std::string got = read_by_peeks(*stream, 9);
    EXPECT_EQ(got, text) << "only the check sum is cut off";
    EXPECT_FALSE(stream->status().ok());
  }
}

TEST(ByteStream, TellsCorruptGzipAndGarbageAfterIt) {
  const std::string text = many_lines(10, 400);
  Bytes packed = gzip(bytes_of(text));
  packed[packed.size() - 6] ^= std::byte{1};  // in the check sum
  auto stream = make_memory_stream("corrupt.gz", packed);
  EXPECT_EQ(read_by_lines(*stream), text);
  ASSERT_FALSE(stream->status().ok());
  EXPECT_NE(stream->status().error().message().find("corrupt.gz"), std::string::npos);

  packed = joined(gzip(bytes_of(text)), bytes_of("garbage"));
  stream = make_memory_stream("trailing.gz", packed);
  EXPECT_EQ(read_by_lines(*stream), text);
  EXPECT_FALSE(stream->status().ok());

  packed = joined(gzip(bytes_of(text)), Bytes(512));
  stream = make_memory_stream("padded.gz", packed);
  EXPECT_EQ(read_by_lines(*stream), text);
  EXPECT_TRUE(stream->status().ok()) << "zero padding is none";
}

TEST(ByteStream, NamesAFileThatCannotBeOpened) {
  const auto missing = open_byte_stream("/nonexistent/quotes.gz");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message().find("/nonexistent/quotes.gz"), std::string::npos);
  const auto folder = open_byte_stream(std::filesystem::temp_directory_path().string());
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code(), ErrorCode::kInvalidArgument);
}

TEST(ByteStream, ReadsAFileAndKnowsHowFarItIs) {
  const std::string text = many_lines(11, 50'000);
  const Bytes packed = gzip(bytes_of(text));
  const std::string path = testing::TempDir() + "byte_stream_test.gz";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(packed.data()),
             static_cast<std::streamsize>(packed.size()));
  auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ((*stream)->path(), path);
  std::string_view line;
  double last = 0.0;
  while ((*stream)->next_line(line)) {
    ASSERT_GE((*stream)->progress(), last);
    last = (*stream)->progress();
  }
  EXPECT_DOUBLE_EQ(last, 1.0);
  EXPECT_EQ((*stream)->offset_bytes(), text.size());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tocsin
