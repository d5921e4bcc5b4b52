// What a duty cycle does when it found no work: spin, then yield, then sleep.
#pragma once

#include <cstdint>

namespace tocsin {

class IdleStrategy {
 public:
  // Call once a cycle with the work count of that cycle.
  void idle(std::uint32_t work_count) noexcept;

 private:
  std::uint32_t idle_cycles_ = 0;
};

}  // namespace tocsin
