#include "base/printable_text.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

TEST(PrintableText, KeepsWhatCanBePrinted) {
  const std::string text = "600519 \xE8\x8C\x85\xE5\x8F\xB0 \xC3\xBC \xF0\x9F\x94\x94 ~";
  EXPECT_EQ(printable_text(text), text);
  EXPECT_EQ(printable_text(""), "");
}

TEST(PrintableText, ReplacesControlCharacters) {
  EXPECT_EQ(printable_text("a\x1b]0;pwn\x07\x1b[2J\n\t\x7f" + std::string(1, '\0')),
            "a?]0;pwn??[2J????");
  EXPECT_EQ(printable_text("\xC2\x9B"
                           "2J"),
            "??2J")
      << "a control sequence in one character";
}

TEST(PrintableText, LeavesLineEndsWhereLinesAreWanted) {
  EXPECT_EQ(printable_lines("a\n\x1b[2Jb\xED\r\n"), "a\n?[2Jb??\n");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(PrintableText, ReplacesEachByteThatIsNoUtf8) {
  EXPECT_EQ(printable_text("\xFF\xFEX"), "??X");
  EXPECT_EQ(printable_text("\xC0\xAF"), "??") << "overlong";
  EXPECT_EQ(printable_text("\xE0\x80\xAF"), "???") << "overlong";
  EXPECT_EQ(printable_text("\xED\xA0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable_text("\xF4\x90\x80\x80"), "????") << "past the last character";
  EXPECT_EQ(printable_text("\xE8\x8C"), "??") << "cut off";
  EXPECT_EQ(printable_text("\xE8\x8CX"), "??X");
}

}  // namespace
}  // namespace tocsin
