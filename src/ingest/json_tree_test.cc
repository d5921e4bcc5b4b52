// What is taken, with its digits, and what is refused, and where.
#include "ingest/json_tree.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

TEST(JsonTree, KeepsNumbersAsWritten) {
  JsonTree tree;
  ASSERT_TRUE(tree.parse(R"({"price": 45281.0, "qty":0.00100000,"tiny":1e-8 , "list":[1,[],{}]})"));
  const JsonNode& root = tree.root();
  EXPECT_EQ(root.count, 4U);
  EXPECT_EQ(tree.find(root, "price")->text, "45281.0");
  EXPECT_EQ(tree.find(root, "qty")->text, "0.00100000");
  EXPECT_EQ(tree.find(root, "tiny")->text, "1e-8");
  EXPECT_EQ(tree.find(root, "list")->count, 3U);
  EXPECT_EQ(tree.find(root, "absent"), nullptr);
}

TEST(JsonTree, FindsElementsFromBothEnds) {
  JsonTree tree;
  ASSERT_TRUE(tree.parse(R"([10,"x",true,null])"));
  EXPECT_EQ(tree.item(tree.root(), 0)->text, "10");
  EXPECT_EQ(tree.item(tree.root(), -3)->text, "x");
  EXPECT_EQ(tree.item(tree.root(), -1)->kind, JsonKind::kNull);
  EXPECT_EQ(tree.item(tree.root(), 4), nullptr);
  EXPECT_EQ(tree.item(tree.root(), -5), nullptr);
  EXPECT_EQ(tree.find(tree.root(), "x"), nullptr);
}

TEST(JsonTree, UndoesEscapesInKeysAndStrings) {
  JsonTree tree;
  ASSERT_TRUE(
      tree.parse(R"({"a\/b":"XBT\/USD","u":"\u00e9\u20ac\ud83d\ude00\ud800x","q":"\"\\"})"));
  EXPECT_EQ(tree.find(tree.root(), "a/b")->text, "XBT/USD");
  EXPECT_EQ(tree.find(tree.root(), "u")->text, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBDx");
  EXPECT_EQ(tree.find(tree.root(), "q")->text, "\"\\");
}

TEST(JsonTree, RefusesWhatIsNotOneValueAndSaysWhere) {
  struct Case {
    std::string text;
    std::size_t offset;
  };
  const std::string deep = std::string(JsonTree::kDepthMax + 1, '[');
  for (const Case& c :
       {Case{"", 0}, Case{"[1,]", 3}, Case{"{\"a\" 1}", 5}, Case{"{a:1}", 1}, Case{"[01]", 3},
        Case{"[1.]", 3}, Case{"[1e]", 3}, Case{"[-]", 2}, Case{"tru", 0}, Case{"\"a", 2},
        Case{"\"\\x\"", 2}, Case{"\"\\u12g4\"", 2}, Case{"[1] 2", 4}, Case{"\"a\tb\"", 2},
        Case{"[1 2]", 3}, Case{deep, JsonTree::kDepthMax}}) {
    JsonTree tree;
    EXPECT_FALSE(tree.parse(c.text)) << c.text;
    EXPECT_EQ(tree.fault_offset(), c.offset) << c.text;
    EXPECT_TRUE(tree.fault().starts_with("expected ")) << c.text;
  }
  JsonTree tree;
  EXPECT_TRUE(
      tree.parse(std::string(JsonTree::kDepthMax, '[') + std::string(JsonTree::kDepthMax, ']')));
}

TEST(JsonTree, AllocatesNothingOnceATextWasAsLargeBefore) {
  JsonTree tree;
  const std::string text = R"({"a":[["1.5","2\/3"],[1,2]],"b":{"c":null}})";
  ASSERT_TRUE(tree.parse(text));
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 10; ++i) tree.parse(text);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
