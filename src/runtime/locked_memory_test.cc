#include "runtime/locked_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace tocsin {
namespace {

std::int64_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmLck:")) return std::stoll(line.substr(6));
  return -1;
}

TEST(LockedMemory, IsLockedOrTheLimitAndItsCureAreNamed) {
  ASSERT_EQ(locked_kib(), 0);
  const Status locked = lock_memory();
  [[maybe_unused]] const std::int64_t kib = locked_kib();
  ::munlockall();
  if (locked.ok()) {
#if !defined(__SANITIZE_ADDRESS__)  // under it, mlockall() does nothing
    EXPECT_GT(kib, 1000);
#endif
    return;
  }
  EXPECT_EQ(locked.error().code(), ErrorCode::kPermissionDenied);
  EXPECT_NE(locked.error().message().find(locked_memory_limit()), std::string::npos);
  EXPECT_NE(locked.error().message().find("ulimit -l"), std::string::npos);
}

}  // namespace
}  // namespace tocsin
