// The answer goes through a pipe: one byte of ErrorCode, then the value's bytes or the message.
#include "runtime/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tocsin {
namespace {

bool write_all(int pipe_end, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(pipe_end, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

[[noreturn]] void answer_and_exit(const std::function<Result<std::string>()>& question,
                                  int pipe_end) {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  const Result<std::string> answer = question();
  const ErrorCode code = answer.ok() ? ErrorCode::kOk : answer.error().code();
  const bool written = write_all(
      pipe_end, static_cast<char>(code) + (answer.ok() ? *answer : answer.error().message()));
  // Neither destructors nor exit handlers: other threads' libraries are not to be taken down.
  ::_exit(written ? 0 : 1);
}

bool is_stopped(const ChildProcessOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

// All that the child writes until it closes its end, which it does at once; false: not in time, or
// stopped.
bool read_all(int pipe_end, const ChildProcessOptions& options, std::string& bytes) {
  constexpr int kLookMs = 50;
  int waited_ms = 0;
  while (!is_stopped(options) && waited_ms < options.timeout_ms) {
    pollfd ready{pipe_end, POLLIN, 0};
    const int count = ::poll(&ready, 1, kLookMs);
    if (count == 0) waited_ms += kLookMs;
    if (count == 0 || (count < 0 && errno == EINTR)) continue;
    std::array<char, 4096> block{};
    const ssize_t size = count < 0 ? -1 : ::read(pipe_end, block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size == 0;
    bytes.append(block.data(), static_cast<std::size_t>(size));
  }
  return false;
}

Error no_process(const char* what) {
  return Error(ErrorCode::kResourceExhausted,
               std::string(what) + " for a process that measures: " + std::strerror(errno));
}

}  // namespace

Result<std::string> ask_child(const ChildProcessOptions& options,
                              const std::function<Result<std::string>()>& question) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return no_process("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    answer_and_exit(question, ends[1]);
  }
  if (child < 0) {
    Error error = no_process("no place");
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  ::close(ends[1]);
  std::string bytes;
  const bool in_time = read_all(ends[0], options, bytes);
  ::close(ends[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time && is_stopped(options)) return Error(ErrorCode::kCancelled, "interrupted");
  if (!in_time)
    return Error(ErrorCode::kDeadlineExceeded, options.subject + " gave no answer within " +
                                                   std::to_string(options.timeout_ms / 1000) +
                                                   " s");
  if (WIFSIGNALED(status))
    return Error(ErrorCode::kInternal,
                 options.subject + " crashed: " + ::strsignal(WTERMSIG(status)));
  if (bytes.empty() || WEXITSTATUS(status) != 0)
    return Error(ErrorCode::kInternal, options.subject + " ended the process that measured it");
  const auto code = static_cast<ErrorCode>(bytes.front());
  if (code != ErrorCode::kOk) return Error(code, bytes.substr(1));
  return bytes.substr(1);
}

}  // namespace tocsin
