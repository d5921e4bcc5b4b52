// The child's answer is one block through a pipe, small enough to be written whole.
#include "runtime/engine_probe.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "runtime/resident_memory.h"

namespace tocsin {
namespace {

constexpr int kTimeoutMs = 120'000;

struct ProbeAnswer {
  EngineProbe probe;
  std::uint32_t precisions = 0;
  DeterminismClass determinism = DeterminismClass::kExact;
  ErrorCode error = ErrorCode::kOk;
  int thread_count_max = 0;
  std::array<char, 64> version{};
  std::array<char, 2048> message{};
};
static_assert(std::is_trivially_copyable_v<ProbeAnswer>);
// POSIX: a pipe takes up to PIPE_BUF bytes, 4096 on Linux, whole.
static_assert(sizeof(ProbeAnswer) <= 4096);

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& into) {
  std::copy_n(text.begin(), std::min(text.size(), kSize - 1), into.begin());
}

using Question = std::function<Status(ProbeAnswer& answer)>;

[[noreturn]] void answer_and_exit(const Question& question, int pipe_end) {
  ProbeAnswer answer;
  if (const Status status = question(answer); !status.ok()) {
    answer.error = status.error().code();
    copy_text(status.error().message(), answer.message);
  }
  const bool written = ::write(pipe_end, &answer, sizeof answer) == sizeof answer;
  // Neither destructors nor exit handlers: other threads' libraries are not to be taken down.
  ::_exit(written ? 0 : 1);
}

// Reads the child's answer; false: it ended or stood still without one.
bool read_answer(int pipe_end, ProbeAnswer& answer) {
  pollfd ready{pipe_end, POLLIN, 0};
  int count = 0;
  do count = ::poll(&ready, 1, kTimeoutMs);
  while (count < 0 && errno == EINTR);
  return count == 1 && ::read(pipe_end, &answer, sizeof answer) == sizeof answer;
}

Result<ProbeAnswer> ask(const Question& question) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    return Error(ErrorCode::kResourceExhausted,
                 std::string("no pipe for a process that measures: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    answer_and_exit(question, ends[1]);
  }
  ::close(ends[1]);
  ProbeAnswer answer;
  const bool answered = child > 0 && read_answer(ends[0], answer);
  ::close(ends[0]);
  if (child < 0)
    return Error(ErrorCode::kResourceExhausted,
                 std::string("no process that measures: ") + std::strerror(errno));
  if (!answered) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answered) return answer;
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
    return Error(ErrorCode::kInternal,
                 std::string("the engine crashed: ") + ::strsignal(WTERMSIG(status)));
  return Error(ErrorCode::kDeadlineExceeded, "the engine gave no answer");
}

Status measure(const EngineProbeOptions& options, const MakeEngine& make, const Clock& clock,
               EngineProbe& probe) {
  const std::int64_t before_bytes = resident_bytes();
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make(options.engine));
  const std::int64_t start_ns = clock.monotonic_time_ns();
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                          engine->load(options.model->onnx_path, options.session));
  const std::int64_t loaded_ns = clock.monotonic_time_ns();
  TOCSIN_ASSIGN_OR_RETURN(
      BatchTensors tensors,
      BatchTensors::make(session->signature(), options.session.batch_max, options.model->steps));
  tensors.fill_inputs(options.seed);
  const std::int64_t run_ns = clock.monotonic_time_ns();
  if (!session->run(tensors.inputs(), tensors.outputs())) return session->error();
  probe.cold_start_ns = loaded_ns - start_ns + clock.monotonic_time_ns() - run_ns;
  probe.rss_bytes = resident_bytes() - before_bytes;
  return {};
}

}  // namespace

Result<EngineProbe> probe_engine(const EngineProbeOptions& options, const MakeEngine& make,
                                 const Clock& clock) {
  TOCSIN_ASSIGN_OR_RETURN(const ProbeAnswer answer, ask([&](ProbeAnswer& in_child) {
                            return measure(options, make, clock, in_child.probe);
                          }));
  if (answer.error != ErrorCode::kOk) return Error(answer.error, answer.message.data());
  return answer.probe;
}

Result<EngineSummary> summarise_engine(std::string_view name, const MakeEngine& make) {
  const Question question = [&](ProbeAnswer& answer) -> Status {
    TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make(name));
    const EngineInfo info = engine->info();
    for (const Precision precision : info.precisions)
      answer.precisions |= 1U << static_cast<unsigned>(precision);
    answer.determinism = info.determinism;
    answer.thread_count_max = info.thread_count_max;
    copy_text(info.version, answer.version);
    return {};
  };
  TOCSIN_ASSIGN_OR_RETURN(const ProbeAnswer answer, ask(question));
  if (answer.error != ErrorCode::kOk) return Error(answer.error, answer.message.data());
  return EngineSummary{answer.version.data(), answer.precisions, answer.determinism,
                       answer.thread_count_max};
}

}  // namespace tocsin
