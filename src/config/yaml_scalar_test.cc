#include "config/yaml_scalar.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace tocsin {
namespace {

TEST(YamlScalar, KnowsTheCoreSchemasTypes) {
  for (const char* text : {"", "~", "null", "NULL"}) EXPECT_EQ(plain_kind(text), PlainKind::kNull);
  for (const char* text : {"true", "True", "FALSE"}) EXPECT_EQ(plain_kind(text), PlainKind::kBool);
  for (const char* text : {"0", "-7", "+7", "010", "0x1F", "0o17"}) {
    EXPECT_EQ(plain_kind(text), PlainKind::kInteger) << text;
  }
  for (const char* text : {"1.", ".5", "1e3", "-1.5E-3", ".inf", "-.Inf", ".nan"}) {
    EXPECT_EQ(plain_kind(text), PlainKind::kFloat) << text;
  }
  for (const char* text :
       {"yes", "tRue", "1_000", "0x", "1e", ".", "-", "--1", "1.2.3", "-.nan", "0xfg", "inf"}) {
    EXPECT_EQ(plain_kind(text), PlainKind::kString) << text;
  }
}

TEST(YamlScalar, ReadsIntegersUpToTheirLimits) {
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_EQ(parse_integer("0xff"), 255);
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-0"), 0);
}

TEST(YamlScalar, RefusesWhatIsNotExactlyAnInteger) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1.0", "1e3", "010",
                           "-01", "0o17", "1 ", "", "0x", "0x-1", "+-1", "1_000"}) {
    EXPECT_FALSE(parse_integer(text).has_value()) << text;
  }
}

TEST(YamlScalar, RefusesNumbersThatAreNotFinite) {
  for (const char* text :
       {".inf", "-.inf", ".nan", "1e999", "-1e999", "1e-999", "inf", "nan", "0x10", "1.5f", ""}) {
    EXPECT_FALSE(parse_double(text).has_value()) << text;
  }
}

TEST(YamlScalar, DoublesReadBackToTheSameBits) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  int compared_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = yaml_text(value);
    const auto read = parse_double(text);
    ASSERT_TRUE(read.has_value()) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*read), std::bit_cast<std::uint64_t>(value)) << text;
    ASSERT_EQ(plain_kind(text), PlainKind::kFloat) << text;
    ++compared_count;
  }
  EXPECT_GT(compared_count, 19'000);
  EXPECT_EQ(yaml_text(3.0), "3.0");
  EXPECT_EQ(yaml_text(-0.0), "-0.0");
  EXPECT_EQ(yaml_text(0.1), "0.1");
}

TEST(YamlScalar, QuotesStringsThatWouldReadAsSomethingElse) {
  const auto text_of = [](std::string_view text) { return yaml_text(text); };
  EXPECT_EQ(text_of("data/x.csv"), "data/x.csv");
  EXPECT_EQ(text_of("/tmp/a-b_c.gz"), "/tmp/a-b_c.gz");
  EXPECT_EQ(text_of("true"), "\"true\"");
  EXPECT_EQ(text_of("5"), "\"5\"");
  EXPECT_EQ(text_of(""), "\"\"");
  EXPECT_EQ(text_of("no"), "\"no\"");
  EXPECT_EQ(text_of("a: b # c"), "\"a: b # c\"");
  EXPECT_EQ(text_of("say \"hi\"\\\n\x1b"), "\"say \\\"hi\\\"\\\\\\n\\x1b\"");
  EXPECT_EQ(text_of("[x]"), "\"[x]\"");
}

TEST(YamlScalar, PrintableTextIsOneShortLine) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\nb\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(printable(std::string(81, 'x')), std::string(80, 'x') + "…");
  EXPECT_EQ(printable(std::string(79, 'x') + "é!"), std::string(79, 'x') + "é…");
  EXPECT_EQ(printable(std::string(300, 'x'), 300), std::string(300, 'x'));
}

}  // namespace
}  // namespace tocsin
