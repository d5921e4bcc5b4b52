// The grid that a book's prices or quantities lie on, from a snapshot of it.
#pragma once

#include <cstdint>
#include <numeric>

namespace tocsin {

// The largest power of ten, at most one unit, that divides all values given. Not the divisor
// itself: crypto venues' steps are powers of ten, and a few levels may all lie on multiples of two
// or five.
class GridFinder {
 public:
  void add(std::int64_t nanos) noexcept { divisor_ = std::gcd(divisor_, nanos); }
  std::int64_t step_nanos() const noexcept {
    std::int64_t step = kLargestStepNanos;
    while (step > 1 && divisor_ % step != 0) step /= 10;
    return step;
  }

 private:
  static constexpr std::int64_t kLargestStepNanos = 1'000'000'000;
  std::int64_t divisor_ = 0;
};

}  // namespace tocsin
