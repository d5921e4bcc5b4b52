#include "sinks/sink.h"

#include <gtest/gtest.h>

#include <vector>

namespace tocsin {
namespace {

TEST(AlertIdText, HasSixteenDigitsAndAShortForm) {
  EXPECT_EQ(format_alert_id({0x60dac4e0c191fd1aU}), "tocsin:60dac4e0c191fd1a");
  EXPECT_EQ(format_alert_id({0x1aU}), "tocsin:000000000000001a");
  EXPECT_EQ(format_short_alert_id({0x60dac4e0c191fd1aU}), "tocsin:60dac4e0");
}

TEST(AlertIdText, TheFullFormMatchesOneIdOnly) {
  for (const char* text : {"tocsin:60dac4e0c191fd1a", "60dac4e0c191fd1a", "60DAC4E0C191FD1A"}) {
    const auto prefix = parse_alert_id(text);
    ASSERT_TRUE(prefix.ok()) << text;
    EXPECT_TRUE(prefix->matches({0x60dac4e0c191fd1aU}));
    EXPECT_FALSE(prefix->matches({0x60dac4e0c191fd1bU}));
    EXPECT_FALSE(prefix->matches({0xe0dac4e0c191fd1aU}));
  }
  EXPECT_TRUE(parse_alert_id("0000000000000000")->matches({0}));
  EXPECT_FALSE(parse_alert_id("0000000000000000")->matches({1}));
}

TEST(AlertIdText, TheShortFormMatchesWhatBeginsWithIt) {
  const auto prefix = parse_alert_id("tocsin:60da");
  ASSERT_TRUE(prefix.ok());
  EXPECT_TRUE(prefix->matches({0x60dac4e0c191fd1aU}));
  EXPECT_TRUE(prefix->matches({0x60da000000000000U}));
  EXPECT_FALSE(prefix->matches({0x60db000000000000U}));
  EXPECT_FALSE(prefix->matches({0x60daU}));
}

TEST(AlertIdText, RefusesWhatIsNoId) {
  for (const char* text :
       {"", "tocsin:", "60d", "60dac4e0c191fd1a0", "60dg", "-60da", "0x60da", " 60da", "60da ",
        "Tocsin:60da", "tocsin:tocsin:60da", "60dac4e0c191fd1a60dac4e0c191fd1a60dac4e0c191fd1a"}) {
    const auto prefix = parse_alert_id(text);
    ASSERT_FALSE(prefix.ok()) << text;
    EXPECT_EQ(prefix.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(AlertIdText, NamesTheIdsThatAShortFormCouldMean) {
  const std::vector<AlertId> ids = {{0xabcd000000000001U}, {0xabcd000000000002U}};
  const Error error = ambiguous_alert_id("abcd", ids);
  EXPECT_EQ(error.message(),
            "2 ids begin with 'abcd': tocsin:abcd000000000001 tocsin:abcd000000000002");
}

}  // namespace
}  // namespace tocsin
