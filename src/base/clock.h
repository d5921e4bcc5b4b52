// Time comes in through a Clock; no stage reads the system's time itself.
#pragma once

#include <cstdint>

namespace tocsin {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds of a monotonic time line; only differences have a meaning.
  virtual std::int64_t monotonic_time_ns() const noexcept = 0;
  // Nanoseconds since 1970-01-01 UTC.
  virtual std::int64_t unix_time_ns() const noexcept = 0;
  // Returns when monotonic_time_ns() has reached `time_ns` (a manual clock jumps there).
  virtual void sleep_until(std::int64_t time_ns) noexcept = 0;
};

// The machine's clocks: the time stamp counter where it is invariant, calibrated against
// CLOCK_MONOTONIC at construction; CLOCK_MONOTONIC itself elsewhere.
class SystemClock final : public Clock {
 public:
  SystemClock();
  std::int64_t monotonic_time_ns() const noexcept override;
  std::int64_t unix_time_ns() const noexcept override;
  void sleep_until(std::int64_t time_ns) noexcept override;
  bool uses_time_stamp_counter() const noexcept { return tsc_multiplier_ != 0; }
  // The monotonic time at a reading of the counter, which must be in use.
  std::int64_t time_at(std::uint64_t ticks) const noexcept;

 private:
  std::int64_t base_time_ns_ = 0;
  std::uint64_t base_ticks_ = 0;
  std::uint64_t tsc_multiplier_ = 0;  // nanoseconds a tick, times 2^32; 0: no usable counter
};

// One moment on CLOCK_MONOTONIC and on the time stamp counter (0 on machines without one), the two
// read without an interruption between them.
struct ClockReading {
  std::int64_t time_ns = 0;
  std::uint64_t ticks = 0;
};
ClockReading read_clocks() noexcept;

// Stands still until told otherwise: tests and deterministic replays.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_time_ns = 0) : time_ns_(start_time_ns) {}
  std::int64_t monotonic_time_ns() const noexcept override { return time_ns_; }
  std::int64_t unix_time_ns() const noexcept override { return time_ns_; }
  void sleep_until(std::int64_t time_ns) noexcept override {
    if (time_ns > time_ns_) time_ns_ = time_ns;
  }
  void advance(std::int64_t duration_ns) noexcept { time_ns_ += duration_ns; }

 private:
  std::int64_t time_ns_;
};

}  // namespace tocsin
