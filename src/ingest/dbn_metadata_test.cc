// The header of DBN files: names of instruments, versions, and headers that are broken.
#include "ingest/dbn_metadata.h"

#include <gtest/gtest.h>

#include <string>

#include "ingest/feed_bytes.h"

namespace tocsin {
namespace {

Error refusal_of(const Bytes& file) {
  const auto stream = make_memory_stream("test.dbn", file);
  const auto metadata = read_dbn_metadata(*stream);
  return metadata.ok() ? Error(ErrorCode::kOk, "") : metadata.error();
}

TEST(DbnMetadata, NamesTheSymbolOfTheDay) {
  DbnMetadata metadata;
  metadata.intervals = {{7, 20231201, 20231215, "OLD"}, {7, 20231215, 20240101, "NEW"}};
  EXPECT_EQ(metadata.symbol_of(7, 20231214), "OLD");
  EXPECT_EQ(metadata.symbol_of(7, 20231215), "NEW");
  EXPECT_EQ(metadata.symbol_of(7, 20250101), "OLD") << "out of all intervals: the first";
  EXPECT_EQ(metadata.symbol_of(8, 20231214), "");
  EXPECT_EQ(dbn_date_of(1'703'376'000'000'000'000), 20231224U);
  EXPECT_EQ(dbn_date_of(1'703'375'999'999'999'999), 20231223U);
}

TEST(DbnMetadata, IsToldByItsFirstBytes) {
  EXPECT_TRUE(looks_like_dbn(dbn_header({})));
  EXPECT_TRUE(looks_like_dbn(dbn_mbo({}))) << "records without a header, to be refused by name";
  EXPECT_FALSE(looks_like_dbn(FeedBytes().text("A text, not binary.", 19, ' ').bytes()));
  EXPECT_FALSE(looks_like_dbn(Bytes(100)));
  EXPECT_FALSE(looks_like_dbn({}));
}

TEST(DbnMetadata, RefusesANewerVersion) {
  Bytes file = dbn_header({});
  file[3] = std::byte{4};
  const Error error = refusal_of(file);
  EXPECT_EQ(error.code(), ErrorCode::kUnimplemented);
  EXPECT_EQ(error.message(), "test.dbn: DBN version 4; versions 1 to 3 are read");
}

TEST(DbnMetadata, RefusesABrokenHeader) {
  const Bytes whole = dbn_header({.version = 2});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(refusal_of(cut).code(), ErrorCode::kDataLoss) << size;
  }
  Bytes too_long = whole;
  too_long[7] = std::byte{0xFF};  // four gigabytes
  EXPECT_EQ(refusal_of(too_long).code(), ErrorCode::kDataLoss);
  Bytes too_many = whole;
  too_many[8 + 16 + 2 + 24 + 3 + 2 + 53 + 4 + 3] = std::byte{0xFF};  // symbols
  EXPECT_NE(refusal_of(too_many).message().find("it is shorter than what it announces"),
            std::string::npos);
  Bytes garbage(64, std::byte{0xEE});
  EXPECT_EQ(refusal_of(garbage).message(),
            "test.dbn: not DBN: it does not begin with 'DBN' and a version");
}

}  // namespace
}  // namespace tocsin
