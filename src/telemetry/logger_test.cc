#include "telemetry/logger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/log_capture.h"

namespace tocsin {
namespace {

// "2026-11-30T20:18:30.123Z " of every line taken off.
std::vector<std::string> texts_of(const LogCapture& capture) {
  constexpr std::size_t kStampSize = 25;
  std::vector<std::string> texts;
  for (const std::string& line : capture.lines()) texts.push_back(line.substr(kStampSize));
  return texts;
}

TEST(Logger, ALineHasTheUtcTimeTheLevelAndTheMessage) {
  LogCapture capture;
  log_info("engine reference, 8 threads");
  const std::vector<std::string> lines = capture.lines();
  ASSERT_EQ(lines.size(), 1U);
  std::string shape = lines[0].substr(0, 25);
  std::replace_if(
      shape.begin(), shape.end(), [](char c) { return c >= '0' && c <= '9'; }, '9');
  EXPECT_EQ(shape, "9999-99-99T99:99:99.999Z ");
  EXPECT_EQ(lines[0].substr(25), "info: engine reference, 8 threads");
}

TEST(Logger, TheTimeIsUtcWhateverTheTimeZone) {
  LogCapture capture;
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  log_info("somewhere");
  ::setenv("TZ", "America/New_York", 1);
  ::tzset();
  log_info("elsewhere");
  ::unsetenv("TZ");
  ::tzset();
  const std::vector<std::string> lines = capture.lines();
  ASSERT_EQ(lines.size(), 2U);
  // Thirteen or fourteen hours apart if local time were printed.
  const std::string day_and_hour_0 = lines[0].substr(0, 13);
  const std::string day_and_hour_1 = lines[1].substr(0, 13);
  EXPECT_TRUE(day_and_hour_0 == day_and_hour_1 || lines[1].substr(14, 2) == "00")
      << lines[0] << "\n"
      << lines[1];
}

TEST(Logger, NamesTheThreeLevels) {
  LogCapture capture;
  log_info("a");
  log_warning("b");
  log_error("c");
  EXPECT_EQ(texts_of(capture), (std::vector<std::string>{"info: a", "warning: b", "error: c"}));
}

TEST(Logger, DropsWhatIsBelowTheLevel) {
  LogCapture capture;
  set_log_level(LogLevel::kWarning);
  log_info("a");
  log_warning("b");
  set_log_level(LogLevel::kError);
  log_warning("c");
  log_error("d");
  set_log_level(LogLevel::kInfo);
  log_info("e");
  EXPECT_EQ(texts_of(capture), (std::vector<std::string>{"warning: b", "error: d", "info: e"}));
}

TEST(Logger, CountsARepeatedMessageUntilAnotherFollows) {
  LogCapture capture;
  for (int i = 0; i < 5; ++i) log_warning("gap on AAPL");
  log_info("next");
  log_info("next");
  log_info("last");
  EXPECT_EQ(texts_of(capture),
            (std::vector<std::string>{"warning: gap on AAPL", "warning: gap on AAPL (4 more times)",
                                      "info: next", "info: next (once more)", "info: last"}));
}

TEST(Logger, PrintsTheCountHeldBackWhenFlushed) {
  std::string printed;
  const LogOutput before = set_log_output([&printed](std::string_view line) { printed += line; });
  log_error("disk full");
  log_error("disk full");
  log_error("disk full");
  EXPECT_EQ(printed.find("more times"), std::string::npos);
  flush_log();
  EXPECT_NE(printed.find("error: disk full (2 more times)\n"), std::string::npos) << printed;
  const std::string once = printed;
  flush_log();
  EXPECT_EQ(printed, once);
  set_log_output(before);
}

TEST(Logger, TheSameTextAtAnotherLevelIsNoRepetition) {
  LogCapture capture;
  log_info("x");
  log_error("x");
  EXPECT_EQ(texts_of(capture), (std::vector<std::string>{"info: x", "error: x"}));
}

TEST(Logger, DroppedMessagesDoNotBreakARepetition) {
  LogCapture capture;
  set_log_level(LogLevel::kWarning);
  log_warning("x");
  log_info("dropped");
  log_warning("x");
  set_log_level(LogLevel::kInfo);
  EXPECT_EQ(texts_of(capture), (std::vector<std::string>{"warning: x", "warning: x (once more)"}));
}

TEST(Logger, ANewOutputSeesAMessageThatTheOldOneSaw) {
  LogCapture outer;
  log_info("x");
  log_info("x");
  {
    LogCapture inner;
    log_info("x");
    EXPECT_EQ(texts_of(inner), std::vector<std::string>{"info: x"});
  }
  log_info("y");
  EXPECT_EQ(texts_of(outer),
            (std::vector<std::string>{"info: x", "info: x (once more)", "info: y"}));
}

TEST(Logger, EscapesControlCharactersAndIndentsFurtherLines) {
  LogCapture capture;
  log_info("a\x1b[2Jb\rc\td\n2026-01-01T00:00:00.000Z error: forged");
  EXPECT_EQ(texts_of(capture),
            std::vector<std::string>{
                "info: a\\x1b[2Jb\\x0dc\td\n    2026-01-01T00:00:00.000Z error: forged"});
}

TEST(Logger, TakesBracesAndPercentSignsLiterally) {
  LogCapture capture;
  log_info("{} %v {0:x} 100 %");
  EXPECT_EQ(texts_of(capture), std::vector<std::string>{"info: {} %v {0:x} 100 %"});
}

TEST(Logger, ThreadsNeverMixTheirLines) {
  constexpr int kThreads = 4;
  constexpr int kMessages = 200;
  LogCapture capture;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kMessages; ++i) {
          log_info(std::to_string(t) + ":" + std::to_string(i));
        }
      });
    }
  }
  std::vector<std::string> texts = texts_of(capture);
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(kThreads * kMessages));
  std::vector<int> next(kThreads, 0);
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':', 6);
    const auto thread = static_cast<std::size_t>(std::stoi(text.substr(6, colon - 6)));
    EXPECT_EQ(std::stoi(text.substr(colon + 1)), next[thread]++) << text;
  }
}

TEST(LoggerDeathTest, PrintsToStandardErrorAndTheCountAtExit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        log_warning("on standard error");
        log_warning("on standard error");
        log_warning("on standard error");
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "Z warning: on standard error\n.*Z warning: on standard error .2 more times.\n");
}

}  // namespace
}  // namespace tocsin
