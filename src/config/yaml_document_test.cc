#include "config/yaml_document.h"

#include <gtest/gtest.h>

#include <string>

namespace tocsin {
namespace {

using Kind = YamlValue::Kind;

std::string error_of(const std::string& text) {
  const auto document = parse_yaml(text, "f.yaml");
  return document.ok() ? "accepted" : document.error().message();
}

TEST(YamlDocument, KeepsOrderLinesAndQuotes) {
  const auto document = parse_yaml("b: 1\na:\n  - \"x\"\n  - y\nc:\n", "f.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message();
  ASSERT_EQ(document->kind, Kind::kMapping);
  ASSERT_EQ(document->members.size(), 3U);
  EXPECT_EQ(document->members[0].key, "b");
  EXPECT_EQ(document->members[0].line, 1);
  EXPECT_EQ(document->members[0].value.text, "1");
  const YamlValue& list = document->members[1].value;
  ASSERT_EQ(list.kind, Kind::kSequence);
  ASSERT_EQ(list.members.size(), 2U);
  EXPECT_TRUE(list.members[0].value.quoted);
  EXPECT_FALSE(list.members[1].value.quoted);
  EXPECT_EQ(list.members[1].line, 4);
  EXPECT_EQ(document->members[2].value.kind, Kind::kNull);
}

TEST(YamlDocument, KeepsBothOfTwoEqualKeys) {
  const auto document = parse_yaml("a: 1\na: 2\n", "f.yaml");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->members.size(), 2U);
}

TEST(YamlDocument, AnEmptyTextIsNull) {
  for (const char* text : {"", "# only a comment\n", "---\n"}) {
    const auto document = parse_yaml(text, "f.yaml");
    ASSERT_TRUE(document.ok()) << text;
    EXPECT_EQ(document->kind, Kind::kNull) << text;
  }
}

TEST(YamlDocument, ExpandsAliases) {
  const auto document = parse_yaml("a: &x {p: [1, 2]}\nb: *x\nc: [*x, *x]\n", "f.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message();
  const YamlValue& copy = document->members[1].value;
  ASSERT_EQ(copy.kind, Kind::kMapping);
  ASSERT_EQ(copy.members[0].value.members.size(), 2U);
  EXPECT_EQ(copy.members[0].value.members[1].value.text, "2");
  EXPECT_EQ(document->members[2].value.members[1].value.members[0].key, "p");
}

TEST(YamlDocument, ExpandsAnAliasOfAKey) {
  const auto document = parse_yaml("&x name: 1\nb: *x\n", "f.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->members[1].value.text, "name");
}

TEST(YamlDocument, NamesTheLineOfASyntaxMistake) {
  EXPECT_EQ(error_of("a: 1\nb: c: d\nz: 1\n"),
            "f.yaml:2: expected valid YAML, found a mistake at column 5: illegal map value");
  EXPECT_EQ(error_of("a: 1\n\tb: 2\n").substr(0, 9), "f.yaml:2:");
  EXPECT_EQ(error_of("a: *nobody\n").substr(0, 9), "f.yaml:1:");
}

TEST(YamlDocument, RefusesAFileCutInsideAValue) {
  const std::string wrong = "expected valid YAML, found the end inside a value: ";
  EXPECT_EQ(error_of("a: 1\nb: \"open"),
            "f.yaml:2: " + wrong + "illegal document indicator in scalar");
  EXPECT_EQ(error_of("a: 1\nb: \"open\n"),
            "f.yaml:2: " + wrong + "illegal document indicator in scalar");
  EXPECT_EQ(error_of("a: 'open\n\n"),
            "f.yaml:2: " + wrong + "illegal document indicator in scalar");
  EXPECT_EQ(error_of("a: 1\nb: [1, 2\n"), "f.yaml:2: " + wrong + "end of sequence flow not found");
  EXPECT_EQ(error_of("a: 1\nb: {c: 2"), "f.yaml:2: " + wrong + "end of map flow not found");
}

TEST(YamlDocument, ReadsAnyEndOfAFileTheSame) {
  for (const char* text : {"a: x", "a: x\n", "a: x\n\n# end", "a: x\n...\n", "--- {a: x}\n..."}) {
    const auto document = parse_yaml(text, "f.yaml");
    ASSERT_TRUE(document.ok()) << text << document.error().message();
    ASSERT_EQ(document->members.size(), 1U) << text;
    EXPECT_EQ(document->members[0].value.text, "x") << text;
  }
}

TEST(YamlDocument, RefusesTextThatIsNotUtf8) {
  const std::string wrong = ": expected UTF-8 text without control characters, found the byte ";
  EXPECT_EQ(error_of("a: 1\nb: \xff\n"), "f.yaml:2" + wrong + "255");
  EXPECT_EQ(error_of(std::string("a: \0b", 5)), "f.yaml:1" + wrong + "0");
  EXPECT_EQ(error_of("a: \x1b[2J"), "f.yaml:1" + wrong + "27");
  EXPECT_EQ(error_of("a: \xc0\xaf"), "f.yaml:1" + wrong + "192");          // overlong
  EXPECT_EQ(error_of("a: \xed\xa0\x80"), "f.yaml:1" + wrong + "237");      // surrogate
  EXPECT_EQ(error_of("a: \xf4\x90\x80\x80"), "f.yaml:1" + wrong + "244");  // past U+10FFFF
  EXPECT_EQ(error_of("a: \xe4\xb8"), "f.yaml:1" + wrong + "228");          // cut
  EXPECT_EQ(error_of("a: \xfe\xff"), "f.yaml:1" + wrong + "254");          // UTF-16
}

TEST(YamlDocument, RefusesEscapesThatAreNotUtf8) {
  const std::string wrong = "f.yaml:1: expected escapes of UTF-8 text, found \\N or \\_";
  EXPECT_EQ(error_of("a: \"\\N\"\n"), wrong);
  EXPECT_EQ(error_of("\"\\_\": 1\n"), wrong);
}

TEST(YamlDocument, AcceptsAllLengthsOfUtf8AndAByteOrderMark) {
  const auto document = parse_yaml("\xef\xbb\xbf名: \"é\xf0\x9f\x9a\xa8\"\r\n", "f.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->members[0].key, "名");
  EXPECT_EQ(document->members[0].value.text, "é\xf0\x9f\x9a\xa8");
}

TEST(YamlDocument, RefusesTags) {
  EXPECT_EQ(error_of("a: !!int 5\n"),
            "f.yaml:1: expected a value without a tag, found the tag tag:yaml.org,2002:int");
  EXPECT_EQ(error_of("a: !mine [1]\n"),
            "f.yaml:1: expected a value without a tag, found the tag !mine");
}

TEST(YamlDocument, RefusesKeysThatAreNotScalars) {
  EXPECT_EQ(error_of("? [a]\n: 1\n"), "f.yaml:1: expected a key, found a sequence");
  EXPECT_EQ(error_of("? {a: 1}\n: 1\n"), "f.yaml:1: expected a key, found a mapping");
  EXPECT_EQ(error_of("~: 1\n"), "f.yaml:1: expected a key, found nothing");
  EXPECT_EQ(error_of("a: &x b\n*x : 1\n"), "f.yaml:2: expected a key, found an alias");
}

TEST(YamlDocument, RefusesASecondDocument) {
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"), "f.yaml:2: expected one document, found a second");
}

TEST(YamlDocument, RefusesAnAliasInsideItsOwnValue) {
  EXPECT_EQ(error_of("a: &x\n  b: *x\n"),
            "f.yaml:2: expected an alias of a finished value, found one inside its own value");
}

TEST(YamlDocument, AcceptsExactlyTheDeepestNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(kYamlDepthMax)), "accepted");
  EXPECT_EQ(error_of(nested(kYamlDepthMax + 1)),
            "f.yaml:1: expected at most 32 levels of nesting, found more");
  EXPECT_NE(error_of(std::string(kYamlSizeBytesMax, '[')), "accepted");
}

TEST(YamlDocument, CountsTheNestingOfAnAliasWhereItStands) {
  const std::string inner = std::string(20, '[') + std::string(20, ']');
  const auto text = [&inner](std::size_t outer) {
    return "a: &x " + inner + "\nb: " + std::string(outer, '[') + "*x" + std::string(outer, ']');
  };
  EXPECT_EQ(error_of(text(kYamlDepthMax - 21)), "accepted");
  EXPECT_EQ(error_of(text(kYamlDepthMax - 20)),
            "f.yaml:2: expected at most 32 levels of nesting, found more");
}

TEST(YamlDocument, StopsAnAliasBomb) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int j = 1; j < 10; ++j) text += ", " + alias;
    text += "]\n";
  }
  EXPECT_EQ(error_of(text),
            "f.yaml:5: expected at most 65536 values with aliases expanded, found more");
}

TEST(YamlDocument, AcceptsExactlyTheLargestSize) {
  std::string text = "a: 1\n";
  text.resize(kYamlSizeBytesMax, '\n');
  EXPECT_EQ(error_of(text), "accepted");
  EXPECT_EQ(error_of(text + "\n"), "f.yaml:1: expected at most 1048576 bytes, found 1048577");
}

}  // namespace
}  // namespace tocsin
