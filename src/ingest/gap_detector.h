// Checks a sequence that a venue numbers without holes: gaps, duplicates, late arrivals.
// Fixed size: it remembers the last kOpenGapsMax holes, so that late and repeated are told apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "events/quality.h"

namespace tocsin {

struct SequenceFinding {
  QualityFlags quality;             // kGap, kDuplicate, kOutOfOrder or nothing; one of them at most
  std::uint64_t missing_count = 0;  // numbers missing before this one; not 0 exactly with kGap
};

class GapDetector {
 public:
  static constexpr std::size_t kOpenGapsMax = 32;

  // The first number ever is taken as the start. Below the expected number: kOutOfOrder if it falls
  // into a remembered hole (it is late), else kDuplicate; neither moves the expected number.
  SequenceFinding check(std::uint64_t sequence) noexcept { return check_range(sequence, 1); }
  // `count` consecutive numbers from `first` on, as packets carry them. Zero is an announcement of
  // the next number (a heartbeat): what it skips over is missing. A range is judged by its first.
  SequenceFinding check_range(std::uint64_t first, std::uint64_t count) noexcept;

  bool started() const noexcept { return started_; }
  std::uint64_t expected() const noexcept { return expected_; }  // valid once started()
  // Forgets everything: a new session numbers from the start.
  void restart() noexcept { *this = GapDetector(); }

 private:
  struct Hole {
    std::uint64_t first = 0;
    std::uint64_t end = 0;  // one past the last; equal to first: closed
  };

  void open_hole(std::uint64_t first, std::uint64_t end) noexcept;
  bool take_from_hole(std::uint64_t first, std::uint64_t count) noexcept;

  std::uint64_t expected_ = 0;
  bool started_ = false;
  std::array<Hole, kOpenGapsMax> holes_{};
  std::size_t next_hole_ = 0;  // where the next hole goes; the oldest is forgotten
};

}  // namespace tocsin
