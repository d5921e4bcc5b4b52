// The one signal handler of the program.
#include "cli/interruption.h"

#include <csignal>

namespace tocsin {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_signal(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

const std::atomic<bool>& watch_interruption() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return interrupted;
}

}  // namespace tocsin
