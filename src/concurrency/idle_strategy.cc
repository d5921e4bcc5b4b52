// Spins 100 cycles, yields 100, then sleeps 50 us a cycle until there is work again; or only spins.
#include "concurrency/idle_strategy.h"

#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tocsin {
namespace {

constexpr std::uint32_t kSpinCycles = 100;
constexpr std::uint32_t kYieldCycles = 200;
constexpr std::chrono::microseconds kSleep(50);

void pause_cpu() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

void IdleStrategy::idle(std::uint32_t work_count) noexcept {
  if (work_count > 0) {
    idle_cycles_ = 0;
    return;
  }
  if (policy_ == IdlePolicy::kSpin) {
    pause_cpu();
    return;
  }
  if (idle_cycles_ < kYieldCycles) ++idle_cycles_;
  if (idle_cycles_ <= kSpinCycles) {
    pause_cpu();
  } else if (idle_cycles_ < kYieldCycles) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(kSleep);
  }
}

}  // namespace tocsin
