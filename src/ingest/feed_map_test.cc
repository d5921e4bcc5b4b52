// What a map says, and what is said of one that is wrong.
#include "ingest/feed_map.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/data_path.h"

namespace tocsin {
namespace {

std::string fault_of(std::string_view text) {
  const auto map = parse_feed_map(text, "map.yaml");
  return map.ok() ? std::string() : map.error().message();
}

TEST(FeedMap, ReadsPathsConditionsAndDefaults) {
  const auto map = parse_feed_map(R"(
name: venue
format: json_lines
time_unit: us
join: previous
messages:
  - kind: diff
    when: ["e=depth*", "!id", "data"]
    each: data.list
    symbol: /stream
    time_unit: iso
    bids: b
    asks: a
    last: u
    previous: pu
    first: "-1"
)",
                                  "map.yaml");
  ASSERT_TRUE(map.ok()) << map.error().message();
  const MessageMap& message = map->messages.front();
  EXPECT_EQ(map->join, JoinRule::kPrevious);
  ASSERT_EQ(message.when.size(), 3U);
  EXPECT_EQ(message.when[0].kind, FieldCondition::Kind::kStartsWith);
  EXPECT_EQ(message.when[0].value, "depth");
  EXPECT_EQ(message.when[1].kind, FieldCondition::Kind::kIsAbsent);
  EXPECT_EQ(message.when[2].kind, FieldCondition::Kind::kIsThere);
  EXPECT_EQ(message.each.steps.size(), 2U);
  EXPECT_TRUE(message.symbol.from_root);
  EXPECT_EQ(message.time_unit, TimeUnit::kIso);
  EXPECT_EQ(std::get<std::int64_t>(message.first.steps[0]), -1);
  EXPECT_EQ(std::get<std::int64_t>(message.price.steps[0]), 0);  // pairs, where nothing is said
  EXPECT_EQ(std::get<std::int64_t>(message.quantity.steps[0]), 1);
}

TEST(FeedMap, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(fault_of("name: x\nformat: json_lines\n").find("'messages'"), std::string::npos);
  EXPECT_NE(fault_of("name: x\nformat: xml\nmessages: [{kind: trade}]\n").find("'format'"),
            std::string::npos);
  const std::string fault = fault_of(
      "name: x\nformat: json_lines\njoin: first\nmessages:\n"
      "  - kind: diff\n    bids: b\n    asks: a\n    last: u\n    tyme: T\n"
      "  - kind: trade\n    price: a..b\n  - kind: diff\n    bids: b\n");
  for (const std::string_view said :
       {"map.yaml:9", "tyme", "messages[0].first", "messages[1].quantity", "messages[1].price",
        "messages[2].kind"})
    EXPECT_NE(fault.find(said), std::string::npos) << said << " in: " << fault;
}

TEST(FeedMap, ReadsTheMapsThatShip) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tocsin_source_path("config/maps"))) {
    const auto map = read_feed_map(entry.path().string());
    EXPECT_TRUE(map.ok()) << map.error().message();
    ++count;
  }
  EXPECT_GE(count, 5U);
}

}  // namespace
}  // namespace tocsin
