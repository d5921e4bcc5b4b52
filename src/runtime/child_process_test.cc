#include "runtime/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace tocsin {
namespace {

using testing::HasSubstr;

TEST(ChildProcess, BringsBackMoreThanAPipeHolds) {
  std::string long_answer(1'000'000, 'x');
  long_answer[999'999] = '\0';
  const auto answer =
      ask_child({.subject = "it"}, [&]() -> Result<std::string> { return long_answer; });
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_TRUE(*answer == long_answer);
}

TEST(ChildProcess, LeavesTheAskersMemoryAlone) {
  int value = 1;
  const auto answer = ask_child({.subject = "it"}, [&]() -> Result<std::string> {
    value = 2;
    return bytes_of(::getpid());
  });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(value, 1);
  EXPECT_NE(*answer, bytes_of(::getpid()));
}

TEST(ChildProcess, TellsItsOwnErrorFromACrashAndFromSilence) {
  const auto ask = [](auto question) {
    const auto answer = ask_child({.subject = "it", .timeout_ms = 200}, question);
    return answer.ok() ? Error(ErrorCode::kOk, "") : answer.error();
  };
  const Error own = ask([]() -> Result<std::string> {
    return Error(ErrorCode::kUnimplemented, std::string(10'000, 'y'));
  });
  EXPECT_EQ(own.code(), ErrorCode::kUnimplemented);
  EXPECT_EQ(own.message().size(), 10'000U);
  const Error crash = ask([]() -> Result<std::string> {
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT);
    return std::string();
  });
  EXPECT_EQ(crash.message(), "it crashed: Aborted");
  const Error gone = ask([]() -> Result<std::string> { ::_exit(0); });
  EXPECT_THAT(gone.message(), HasSubstr("it ended"));
  const Error silent = ask([]() -> Result<std::string> {
    ::pause();
    return std::string();
  });
  EXPECT_EQ(silent.code(), ErrorCode::kDeadlineExceeded);
}

TEST(ChildProcess, IsEndedWhenTheAskerIsStopped) {
  std::atomic<bool> stop{false};
  // The child sleeps for ever; its asker is stopped by a signal, as by ctrl-C.
  static std::atomic<bool>* flag = nullptr;
  flag = &stop;
  std::signal(SIGALRM, [](int) { flag->store(true); });
  ::alarm(1);
  const auto answer = ask_child({.subject = "it", .stop = &stop}, []() -> Result<std::string> {
    for (;;) ::pause();
  });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), ErrorCode::kCancelled);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace
}  // namespace tocsin
