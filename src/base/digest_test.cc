#include "base/digest.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

// "abc": FIPS 180-4 (SHA-256) and RFC 7693, appendix B (BLAKE2s).
TEST(Digest, MatchesThePublishedVectors) {
  EXPECT_EQ(to_hex(digest_of(DigestKind::kSha256, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(digest_of(DigestKind::kBlake2s256, "abc")),
            "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

TEST(DigestBuilder, StartsAnewAfterFinish) {
  DigestBuilder builder(DigestKind::kBlake2s256);
  builder.update("a");
  builder.update("bc");
  EXPECT_EQ(builder.finish(), digest_of(DigestKind::kBlake2s256, "abc"));
  builder.update("x");
  EXPECT_EQ(builder.finish(), digest_of(DigestKind::kBlake2s256, "x"));
}

TEST(Digest, HexadecimalGoesBothWays) {
  const Digest digest = digest_of(DigestKind::kSha256, "x");
  EXPECT_EQ(*digest_from_hex(to_hex(digest)), digest);
  EXPECT_FALSE(digest_from_hex("12").ok());
  EXPECT_FALSE(digest_from_hex(std::string(64, 'g')).ok());
}

TEST(Digest, OfAMissingFileNamesIt) {
  const Result<Digest> digest = sha256_of_file("no/such/file");
  ASSERT_FALSE(digest.ok());
  EXPECT_NE(digest.error().message().find("no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace tocsin
