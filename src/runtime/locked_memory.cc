// mlock(2): the limit binds unless the process has CAP_IPC_LOCK.
#include "runtime/locked_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace tocsin {
namespace {

Error refused(const std::string& what, int number) {
  return Error(ErrorCode::kPermissionDenied,
               what + ": " + std::strerror(number) + " (the limit is " + locked_memory_limit() +
                   "); raise it with `ulimit -l unlimited`, systemd's LimitMEMLOCK=infinity or "
                   "CAP_IPC_LOCK");
}

}  // namespace

Status lock_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return {};
  return refused("locking all memory", errno);
}

std::string locked_memory_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "not told";
  return limit.rlim_cur == RLIM_INFINITY ? "no limit"
                                         : std::to_string(limit.rlim_cur / 1024) + " KiB";
}

Status try_locking(std::size_t size_bytes) {
  void* memory =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error(ErrorCode::kResourceExhausted,
                 std::string("mapping memory: ") + std::strerror(errno));
  const int number = ::mlock(memory, size_bytes) == 0 ? 0 : errno;
  ::munmap(memory, size_bytes);
  if (number == 0) return {};
  return refused("locking " + std::to_string(size_bytes >> 20) + " MiB", number);
}

}  // namespace tocsin
