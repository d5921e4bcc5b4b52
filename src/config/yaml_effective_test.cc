// effective(): what prints is what is in effect, and reads back to the same values.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"

namespace tocsin {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"fast", "exact", "off"};

struct Item {
  std::string name;
  std::vector<std::int64_t> counts;
  friend bool operator==(const Item&, const Item&) = default;
};

struct Settings {
  bool flag = true;
  std::int64_t count = 12;
  double ratio = 0.5;
  double unset_ratio = std::nan("");
  std::string name = "AAPL";
  std::size_t mode = 1;
  std::vector<std::string> words = {"a", "true"};
  std::vector<double> ratios = {1.0, -0.0};
  std::string inner_text;
  std::vector<Item> items;

  void read(YamlReader& reader) {
    reader.read("flag", flag);
    reader.read("count", count, YamlRange<std::int64_t>{0, 1'000'000});
    reader.read("ratio", ratio);
    reader.read("unset_ratio", unset_ratio);
    reader.read("name", name);
    reader.read_choice("mode", mode, kModes);
    YamlReader inner = reader.child("inner");
    inner.read("text", inner_text);
    YamlReader deepest = inner.child("deepest");
    deepest.read("words", words);
    reader.read("ratios", ratios);
    for (YamlReader& item : reader.children("items")) {
      Item& read = items.emplace_back();
      item.read("name", read.name);
      item.read("counts", read.counts);
    }
  }
};

void expect_equal(const Settings& a, const Settings& b) {
  EXPECT_EQ(a.flag, b.flag);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.ratio), std::bit_cast<std::uint64_t>(b.ratio));
  EXPECT_EQ(std::isnan(a.unset_ratio), std::isnan(b.unset_ratio));
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.mode, b.mode);
  EXPECT_EQ(a.words, b.words);
  ASSERT_EQ(a.ratios.size(), b.ratios.size());
  for (std::size_t i = 0; i < a.ratios.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.ratios[i]), std::bit_cast<std::uint64_t>(b.ratios[i]));
  }
  EXPECT_EQ(a.inner_text, b.inner_text);
  EXPECT_EQ(a.items, b.items);
}

struct Effective {
  Settings settings;
  std::string text;
};

Effective effective_of(std::string_view text) {
  Result<YamlReader> reader = YamlReader::from_text(text, "f.yaml");
  EXPECT_TRUE(reader.ok()) << reader.error().message() << "\n" << text;
  Effective effective;
  if (!reader.ok()) return effective;
  effective.settings.read(*reader);
  const Status status = reader->finish();
  EXPECT_TRUE(status.ok()) << status.error().message() << "\n" << text;
  effective.text = reader->effective();
  return effective;
}

TEST(YamlEffective, PrintsAllValuesAndMarksTheDefaults) {
  const Effective effective = effective_of(
      "count: 0x10\ninner: {text: 'a: b'}\nitems:\n  - {name: x, counts: [1, 2]}\n  - {}\n");
  EXPECT_EQ(effective.text,
            "flag: true  # default\n"
            "count: 16\n"
            "ratio: 0.5  # default\n"
            "# unset_ratio is not set\n"
            "name: AAPL  # default\n"
            "mode: exact  # default\n"
            "inner:\n"
            "  text: \"a: b\"\n"
            "  deepest:\n"
            "    words: [a, \"true\"]  # default\n"
            "ratios: [1.0, -0.0]  # default\n"
            "items:\n"
            "  -\n"
            "    name: x\n"
            "    counts: [1, 2]\n"
            "  -\n"
            "    name: \"\"  # default\n"
            "    counts: []  # default\n");
}

TEST(YamlEffective, ReadsBackToTheSameValues) {
  for (const std::string_view text :
       {"{}", "mode: off\nname: \"\\x01\\n\\\\\\\"é\"\n", "ratio: 1e-300\nitems: []\n",
        "items: [{name: a}, {counts: [-9223372036854775808]}]\n"}) {
    const Effective first = effective_of(text);
    const Effective second = effective_of(first.text);
    expect_equal(first.settings, second.settings);
  }
}

TEST(YamlEffective, AnythingRandomReadsBackToTheSameValues) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  const auto random_text = [&random] {
    constexpr std::string_view kPieces[] = {
        "a",  "Z",  "0",    " ",    ":",    "#",        "-",           "\n", "\t",
        "\r", "\"", "'",    "\\",   "\x01", "\x7f",     "é",           "名", "{",
        "]",  ",",  "&",    "*",    "!",    "%",        "@",           "`",  "|",
        ">",  "~",  "null", "true", "1e3",  "\xc2\x85", "\xe2\x80\xa8"};
    std::string text;
    for (std::uint64_t i = random() % 8; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    return text;
  };
  for (int round = 0; round < 2'000; ++round) {
    // The values start as defaults, so that no YAML of ours is in the way in.
    Settings first;
    first.name = random_text();
    first.inner_text = random_text();
    first.words = {random_text(), random_text()};
    first.count = static_cast<std::int64_t>(random() % 1'000'001);
    const auto bits = std::bit_cast<double>(random());
    first.ratio = std::isfinite(bits) ? bits : 1.0;
    first.ratios.assign(random() % 3, first.ratio);
    Result<YamlReader> reader = YamlReader::from_text("{}", "f.yaml");
    ASSERT_TRUE(reader.ok());
    Settings before = first;
    first.read(*reader);
    expect_equal(before, first);
    const Effective second = effective_of(reader->effective());
    expect_equal(first, second.settings);
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round << "\n" << reader->effective();
  }
}

TEST(YamlEffective, AMappingWithoutValuesPrintsAsAnEmptyOne) {
  Result<YamlReader> reader = YamlReader::from_text("{}", "f.yaml");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->effective(), "{}\n");
  std::int64_t unset = -1;
  reader->child("empty");
  reader->child("unset").read("count", unset, YamlRange<std::int64_t>{0, 9});
  EXPECT_EQ(reader->effective(), "empty: {}\nunset: {}\n  # count is not set\n");
  EXPECT_TRUE(YamlReader::from_text(reader->effective(), "again.yaml").ok());
}

TEST(YamlEffective, AChildPrintsItsOwnPart) {
  Result<YamlReader> reader = YamlReader::from_text("a: {b: 1}\n", "f.yaml");
  ASSERT_TRUE(reader.ok());
  std::int64_t value = 0;
  YamlReader child = reader->child("a");
  child.read("b", value);
  EXPECT_EQ(child.effective(), "b: 1\n");
}

}  // namespace
}  // namespace tocsin
