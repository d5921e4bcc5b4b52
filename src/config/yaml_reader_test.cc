#include "config/yaml_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tocsin {
namespace {

YamlReader reader_of(std::string_view text) {
  Result<YamlReader> reader = YamlReader::from_text(text, "f.yaml");
  EXPECT_TRUE(reader.ok()) << reader.error().message();
  return *std::move(reader);
}

// The errors of finish(), or "OK".
std::string finish_text(YamlReader reader) {
  const Status status = reader.finish();
  return status.ok() ? "OK" : status.error().message();
}

template <typename T, typename... Range>
std::string error_of_read(std::string_view text, T value, Range... range) {
  YamlReader reader = reader_of(text);
  reader.read("key", value, range...);
  return finish_text(reader);
}

TEST(YamlReader, ReadsEveryType) {
  YamlReader reader = reader_of(
      "flag: true\ncount: -3\nratio: 0.25\nwhole: 7\nname: AAPL\n"
      "quoted: '007'\nblock: |\n  two\n  lines\nnames: [a, \"1\"]\ncounts: [1, 0x10]\n"
      "ratios:\n  - 1\n  - 2.5e-3\n");
  bool flag = false;
  std::int64_t count = 0;
  double ratio = 0.0;
  double whole = 0.0;
  std::string name;
  std::string quoted;
  std::string block;
  std::vector<std::string> names;
  std::vector<std::int64_t> counts;
  std::vector<double> ratios;
  reader.read("flag", flag);
  reader.read("count", count);
  reader.read("ratio", ratio);
  reader.read("whole", whole);
  reader.read("name", name);
  reader.read("quoted", quoted);
  reader.read("block", block);
  reader.read("names", names);
  reader.read("counts", counts);
  reader.read("ratios", ratios);
  EXPECT_EQ(finish_text(reader), "OK");
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, -3);
  EXPECT_EQ(ratio, 0.25);
  EXPECT_EQ(whole, 7.0);
  EXPECT_EQ(name, "AAPL");
  EXPECT_EQ(quoted, "007");
  EXPECT_EQ(block, "two\nlines\n");
  EXPECT_EQ(names, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 16}));
  EXPECT_EQ(ratios, (std::vector<double>{1.0, 0.0025}));
}

TEST(YamlReader, LeavesTheDefaultWhereTheKeyIsAbsent) {
  YamlReader reader = reader_of("{}");
  std::int64_t count = 42;
  std::vector<double> ratios = {1.5};
  std::string name = "x";
  reader.read("count", count);
  reader.read("ratios", ratios);
  reader.child("inner").read("name", name);
  EXPECT_TRUE(reader.children("items").empty());
  EXPECT_EQ(finish_text(reader), "OK");
  EXPECT_EQ(count, 42);
  EXPECT_EQ(ratios, std::vector<double>{1.5});
  EXPECT_EQ(name, "x");
}

TEST(YamlReader, LeavesTheDefaultWhereTheValueIsRefused) {
  YamlReader reader = reader_of("count: 11\nratios: [0.5, x]\n");
  std::int64_t count = 7;
  std::vector<double> ratios = {1.5};
  reader.read("count", count, YamlRange<std::int64_t>{0, 10});
  reader.read("ratios", ratios);
  EXPECT_EQ(count, 7);
  EXPECT_EQ(ratios, std::vector<double>{1.5});
  EXPECT_FALSE(reader.finish().ok());
}

TEST(YamlReader, NamesTheNearestKnownKey) {
  YamlReader reader = reader_of("source:\n  path: a.csv\n  fromat: lobster\n");
  YamlReader source = reader.child("source");
  std::string text;
  source.read("path", text);
  source.read("format", text);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:3: key 'source.fromat': expected a known key, found 'fromat'; nearest known "
            "key is 'source.format'");
  EXPECT_EQ(reader.finish().error().code(), ErrorCode::kInvalidArgument);
}

TEST(YamlReader, ListsTheKnownKeysWhenNoneIsNear) {
  YamlReader reader = reader_of("a_long_name: 1\nzebra: {deep: 1}\n");
  std::int64_t value = 0;
  reader.read("a_long_name", value);
  reader.read("other", value);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:2: key 'zebra': expected a known key, found 'zebra'; known keys here are "
            "'a_long_name', 'other'");
  EXPECT_EQ(finish_text(reader_of("a: 1")),
            "f.yaml:1: key 'a': expected a known key, found 'a'; no key is known here");
}

TEST(YamlReader, RefusesWrongTypes) {
  const auto begin = [](const std::string& rest) { return "f.yaml:1: key 'key': " + rest; };
  EXPECT_EQ(error_of_read("key: 1", false), begin("expected true or false, found the number 1"));
  EXPECT_EQ(error_of_read("key: 'true'", false),
            begin("expected true or false, found the string \"true\""));
  EXPECT_EQ(error_of_read("key: yes", false),
            begin("expected true or false, found the string yes"));
  EXPECT_EQ(error_of_read("key: x", std::int64_t{0}),
            begin("expected an integer, found the string x"));
  EXPECT_EQ(error_of_read("key: '5'", std::int64_t{0}),
            begin("expected an integer, found the string \"5\""));
  EXPECT_EQ(error_of_read("key: [5]", std::int64_t{0}),
            begin("expected an integer, found a sequence"));
  EXPECT_EQ(error_of_read("key: {a: 5}", 0.0), begin("expected a finite number, found a mapping"));
  EXPECT_EQ(error_of_read("key:", 0.0), begin("expected a finite number, found nothing"));
  EXPECT_EQ(error_of_read("key: 5", std::string()),
            begin("expected a string (numbers and true or false in quotes), found the number 5"));
  EXPECT_EQ(error_of_read("key: false", std::string()),
            begin("expected a string (numbers and true or false in quotes), found the word false"));
  EXPECT_EQ(error_of_read("key: a", std::vector<std::string>()),
            begin("expected a sequence, found the string a"));
}

TEST(YamlReader, RefusesFractionsAndTooManyBitsForAnInteger) {
  const std::string begin = "f.yaml:1: key 'key': expected an integer, found the number ";
  const std::string hint = "; an integer has no leading zero and at most 64 bits";
  EXPECT_EQ(error_of_read("key: 5.5", std::int64_t{0}), begin + "5.5");
  EXPECT_EQ(error_of_read("key: 5.0", std::int64_t{0}), begin + "5.0");
  EXPECT_EQ(error_of_read("key: 1e6", std::int64_t{0}), begin + "1e6");
  EXPECT_EQ(error_of_read("key: 010", std::int64_t{0}), begin + "010" + hint);
  EXPECT_EQ(error_of_read("key: 9223372036854775808", std::int64_t{0}),
            begin + "9223372036854775808" + hint);
}

TEST(YamlReader, RefusesDoublesThatAreNotFinite) {
  const std::string begin = "f.yaml:1: key 'key': expected a finite number, found the number ";
  for (const std::string text : {".inf", "-.inf", ".nan", "1e999"}) {
    EXPECT_EQ(error_of_read("key: " + text, 0.0), begin + text);
  }
}

TEST(YamlReader, RefusesValuesOutOfRangeAndTellsTheRange) {
  const std::string begin = "f.yaml:1: key 'key': expected ";
  EXPECT_EQ(error_of_read("key: 0", std::int64_t{5}, YamlRange<std::int64_t>{1, 9}),
            begin + "an integer from 1 to 9, found the number 0");
  EXPECT_EQ(error_of_read("key: 0", std::int64_t{5}, YamlRange<std::int64_t>{.min = 1}),
            begin + "an integer of at least 1, found the number 0");
  EXPECT_EQ(error_of_read("key: 1.5", 0.5, YamlRange<double>{.max = 1.0}),
            begin + "a finite number of at most 1.0, found the number 1.5");
  EXPECT_EQ(error_of_read("key: -1", 0.5, YamlRange<double>{0.0, INFINITY}),
            begin + "a finite number of at least 0.0, found the number -1");
  EXPECT_EQ(error_of_read("key: 1", std::int64_t{5}, YamlRange<std::int64_t>{1, 9}), "OK");
  EXPECT_EQ(error_of_read("key: 9", std::int64_t{5}, YamlRange<std::int64_t>{1, 9}), "OK");
  EXPECT_EQ(error_of_read("key: 10", std::int64_t{5}, YamlRange<std::int64_t>{1, 9}),
            begin + "an integer from 1 to 9, found the number 10");
}

TEST(YamlReader, NamesTheItemOfAListAndItsOwnLine) {
  EXPECT_EQ(error_of_read("key:\n  - 1\n  - 2.5\n  - 30\n", std::vector<std::int64_t>(),
                          YamlRange<std::int64_t>{0, 9}),
            "f.yaml:3: key 'key[1]': expected an integer from 0 to 9, found the number 2.5\n"
            "f.yaml:4: key 'key[2]': expected an integer from 0 to 9, found the number 30");
}

TEST(YamlReader, RequiresAKey) {
  YamlReader reader = reader_of("other: 1\nsource:\n  a: 2\n");
  std::int64_t value = 0;
  reader.require("other", value, YamlRange<std::int64_t>{0, 9});
  EXPECT_EQ(value, 1);
  YamlReader source = reader.child("source");
  source.require("a", value);
  source.require("path", value);
  reader.child("sink").require("path", value);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'sink.path': expected this required key, found nothing\n"
            "f.yaml:2: key 'source.path': expected this required key, found nothing");
}

TEST(YamlReader, ReadsOneOfTheNames) {
  constexpr std::array<std::string_view, 3> kNames = {"lobster", "itch", "dbn"};
  YamlReader reader = reader_of("a: itch\nb: lobstr\nc: [dbn]\n");
  std::size_t a = 0;
  std::size_t b = 2;
  std::size_t c = 0;
  reader.read_choice("a", a, kNames);
  reader.read_choice("b", b, kNames);
  reader.read_choice("c", c, kNames);
  EXPECT_EQ(a, 1U);
  EXPECT_EQ(b, 2U);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:2: key 'b': expected one of 'lobster', 'itch', 'dbn', found the string lobstr; "
            "nearest known value is 'lobster'\n"
            "f.yaml:3: key 'c': expected one of 'lobster', 'itch', 'dbn', found a sequence");
}

TEST(YamlReader, ReportsDuplicateKeysAtAnyDepth) {
  YamlReader reader = reader_of("a: 1\nb:\n  - {x: 1, x: 2}\na: 3\n");
  std::int64_t value = 0;
  reader.read("a", value);
  YamlReader(reader.children("b").front()).read("x", value);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:3: key 'b[0].x': expected one value, found another one on line 3\n"
            "f.yaml:4: key 'a': expected one value, found another one on line 1");
}

TEST(YamlReader, ReportsDuplicatesThatDifferOnlyInQuotes) {
  YamlReader reader = reader_of("a: 1\n\"a\": 2\n");
  std::int64_t value = 0;
  reader.read("a", value);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:2: key 'a': expected one value, found another one on line 1");
}

TEST(YamlReader, GathersAllErrorsInTheOrderOfTheLines) {
  YamlReader reader = reader_of("z: 1\nflag: 2\nsinks:\n  - kind: x\n  - 5\nz: 2\n");
  bool flag = false;
  std::int64_t kind = 0;
  for (YamlReader& sink : reader.children("sinks")) sink.require("kind", kind);
  reader.read("flag", flag);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'z': expected a known key, found 'z'; known keys here are 'sinks', "
            "'flag'\n"
            "f.yaml:2: key 'flag': expected true or false, found the number 2\n"
            "f.yaml:4: key 'sinks[0].kind': expected an integer, found the string x\n"
            "f.yaml:5: key 'sinks[1]': expected a mapping, found the number 5\n"
            "f.yaml:6: key 'z': expected one value, found another one on line 1\n"
            "f.yaml:6: key 'z': expected a known key, found 'z'; known keys here are 'sinks', "
            "'flag'");
}

TEST(YamlReader, FinishingTwiceTellsTheSame) {
  YamlReader reader = reader_of("a: 1\n");
  EXPECT_EQ(finish_text(reader), finish_text(reader));
}

TEST(YamlReader, SaysOnceThatAChildIsNoMapping) {
  YamlReader reader = reader_of("source: 5\nitems: {a: 1}\nempty:\n");
  std::string text;
  YamlReader source = reader.child("source");
  source.require("path", text);
  source.child("deeper").require("key", text);
  reader.child("source").require("path", text);
  EXPECT_TRUE(reader.children("items").empty());
  EXPECT_TRUE(reader.children("items").empty());
  reader.child("empty").require("path", text);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'source': expected a mapping, found the number 5\n"
            "f.yaml:2: key 'items': expected a sequence of mappings, found a mapping\n"
            "f.yaml:3: key 'empty': expected a mapping, found nothing");
}

TEST(YamlReader, ChildrenShareTheStateOfTheRoot) {
  YamlReader orphan = [] {
    YamlReader reader = reader_of("source: {path: 1, extra: 2}\n");
    return reader.child("source");
  }();
  std::string text;
  orphan.read("path", text);
  EXPECT_EQ(finish_text(orphan),
            "f.yaml:1: key 'source.path': expected a string (numbers and true or false in quotes), "
            "found the number 1\n"
            "f.yaml:1: key 'source.extra': expected a known key, found 'extra'; known keys here "
            "are 'path'");
}

TEST(YamlReader, AskingWhetherAKeyIsThereMakesItKnown) {
  const YamlReader reader = reader_of("present: 1\nempty:\n");
  EXPECT_TRUE(reader.has("present"));
  EXPECT_TRUE(reader.has("empty"));
  EXPECT_FALSE(reader.has("absent"));
  EXPECT_EQ(finish_text(reader), "OK");
}

TEST(YamlReader, ReportsWhatTheCallerJudges) {
  YamlReader reader = reader_of("release: 0.95\nitems: [{a: 1}]\n");
  double release = 0.5;
  double threshold = 0.9;
  reader.read("release", release);
  reader.read("threshold", threshold);
  reader.fail("release", "a release threshold below the threshold 0.9");
  reader.fail("threshold", "something else");
  reader.fail("nowhere", "a thing");
  std::int64_t a = 0;
  YamlReader item = reader.children("items").front();
  item.read("a", a);
  item.fail("a", "an even number");
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'release': expected a release threshold below the threshold 0.9, found "
            "the number 0.95\n"
            "f.yaml:1: key 'threshold': expected something else, found the default 0.9\n"
            "f.yaml:1: key 'nowhere': expected a thing, found nothing\n"
            "f.yaml:2: key 'items[0].a': expected an even number, found the number 1");
}

TEST(YamlReader, ReportsEachAliasWhereItIsRead) {
  YamlReader reader = reader_of("a: &x {n: 1}\nb: *x\n");
  std::int64_t n = 0;
  reader.child("a").read("n", n);
  reader.child("b").read("n", n, YamlRange<std::int64_t>{5, 9});
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'b.n': expected an integer from 5 to 9, found the number 1");
}

TEST(YamlReader, MessagesStayOneLineEach) {
  YamlReader reader = reader_of("\"a\\nb\": \"x\\ny\"\nkey: \"\\e[31mred\"\n");
  std::int64_t value = 0;
  reader.read("key", value);
  reader.read("a\nb", value);
  EXPECT_EQ(finish_text(reader),
            "f.yaml:1: key 'a\\nb': expected an integer, found the string \"x\\ny\"\n"
            "f.yaml:2: key 'key': expected an integer, found the string \"\\x1b[31mred\"");
}

TEST(YamlReader, CountsErrorsPastTheLimit) {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const std::string errors = finish_text(reader_of(text));
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1000);
  EXPECT_TRUE(errors.ends_with("\nf.yaml: and 200 more errors"))
      << errors.substr(errors.size() - 80);
}

TEST(YamlReader, RefusesARootThatIsNoMapping) {
  const auto error_of = [](std::string_view text) {
    return YamlReader::from_text(text, "f.yaml").error().message();
  };
  const std::string begin = "f.yaml:1: expected a mapping of keys to values, found ";
  EXPECT_EQ(error_of(""), begin + "nothing");
  EXPECT_EQ(error_of("[1, 2]"), begin + "a sequence");
  EXPECT_EQ(error_of("hello"), begin + "the string hello");
  EXPECT_EQ(error_of("{a: [}").substr(0, 30), "f.yaml:1: expected valid YAML,");
}

TEST(YamlReader, TellsWhyAFileCannotBeRead) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "tocsin_yaml_reader_test";
  std::filesystem::create_directories(folder);
  const auto missing = YamlReader::from_file((folder / "none.yaml").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message(),
            (folder / "none.yaml").string() +
                ": expected a readable file, found: No such file or directory");
  const auto is_folder = YamlReader::from_file(folder.string());
  ASSERT_FALSE(is_folder.ok());
  EXPECT_EQ(is_folder.error().message(),
            folder.string() + ": expected a readable file, found: Is a directory");
  std::filesystem::remove_all(folder);
}

TEST(YamlReader, ReadsAFileAndNamesItInErrors) {
  const std::string path = testing::TempDir() + "tocsin_yaml_reader_" + std::string(120, 'n');
  std::ofstream(path) << "a: 1\nb: 2\n";
  Result<YamlReader> reader = YamlReader::from_file(path);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  std::int64_t value = 0;
  reader->read("a", value);
  EXPECT_EQ(value, 1);
  EXPECT_TRUE(finish_text(*reader).starts_with(path + ":2: key 'b': ")) << finish_text(*reader);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tocsin
