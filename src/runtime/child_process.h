// Asks something of a copy of this process, so that libraries, threads and memory are its own and a
// crash is only a finding.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace tocsin {

struct ChildProcessOptions {
  std::string subject;  // of the errors below: "the engine"
  int timeout_ms = 120'000;
  const std::atomic<bool>* stop = nullptr;  // turned true from outside: the child is ended
};

// Forks, answers `question` in the child, and returns the answer's bytes or the child's own error;
// or an error that says that the child crashed, gave no answer in time, or was stopped
// (kCancelled). Call it before this process has threads. The child ends without destructors and
// exit handlers, and at once on SIGINT and SIGTERM.
Result<std::string> ask_child(const ChildProcessOptions& options,
                              const std::function<Result<std::string>()>& question);

// A value as its bytes, and back.
template <typename T>
std::string bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace tocsin
