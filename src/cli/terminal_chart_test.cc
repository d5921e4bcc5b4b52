#include "cli/terminal_chart.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace tocsin {
namespace {

TEST(TerminalChart, SparklineShowsEachValueByItsShareOfTheGreatest) {
  const std::vector<std::uint64_t> values = {0, 1, 50, 100};
  EXPECT_EQ(sparkline(values, 10, CharacterSet::kUtf8), " ▁▄█");
  EXPECT_EQ(sparkline(values, 10, CharacterSet::kAscii), " .=#");
  EXPECT_EQ(sparkline(values, 2, CharacterSet::kAscii), ".#");  // 1 and 150
  EXPECT_EQ(sparkline({}, 2, CharacterSet::kAscii), "");
  const std::vector<std::uint64_t> nothing = {0, 0};
  EXPECT_EQ(sparkline(nothing, 10, CharacterSet::kUtf8), "  ");
}

TEST(TerminalChart, LadderHasTheAsksAboveTheBids) {
  BookPicture picture;
  picture.asks = {{101'000'000'000, 4'000'000'000, 2}, {102'500'000'000, 1'000'000'000, 0}};
  picture.bids = {{100'000'000'000, 8'000'000'000, 1}};
  const std::string text = ladder_text(picture, CharacterSet::kAscii);
  const std::size_t worse_ask = text.find("102.5");
  const std::size_t best_ask = text.find("101  ask  2 orders");
  const std::size_t best_bid = text.find("100  bid  1 orders");
  ASSERT_NE(best_bid, std::string::npos) << text;
  EXPECT_LT(worse_ask, best_ask);
  EXPECT_LT(best_ask, best_bid);
  EXPECT_NE(text.find(std::string(30, '#')), std::string::npos);
  EXPECT_EQ(text.find(std::string(31, '#')), std::string::npos);
}

TEST(TerminalChart, CharactersAreThoseOfTheLocale) {
  ::setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_EQ(terminal_character_set(), CharacterSet::kUtf8);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_EQ(terminal_character_set(), CharacterSet::kAscii);
  ::setenv("LC_ALL", "C.utf8", 1);
  EXPECT_EQ(terminal_character_set(), CharacterSet::kUtf8);
}

}  // namespace
}  // namespace tocsin
