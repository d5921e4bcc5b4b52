// What a duty cycle does when it found no work: spin, then yield, then sleep; or spin on.
#pragma once

#include <cstdint>

namespace tocsin {

enum class IdlePolicy : std::uint8_t {
  kSleep,  // leaves the CPU to others: work may wait for a sleep, some 60 us
  kSpin,   // never sleeps or yields: work is found within a microsecond, for a CPU of its own
};

class IdleStrategy {
 public:
  explicit IdleStrategy(IdlePolicy policy = IdlePolicy::kSleep) noexcept : policy_(policy) {}

  // Call once a cycle with the work count of that cycle.
  void idle(std::uint32_t work_count) noexcept;

 private:
  IdlePolicy policy_;
  std::uint32_t idle_cycles_ = 0;
};

}  // namespace tocsin
