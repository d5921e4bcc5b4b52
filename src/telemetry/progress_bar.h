// One line on a terminal that is drawn over itself: share, bar, events/s (if any) and time left.
// At most ten drawings a second; on anything but a terminal it is silent.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace tocsin {

struct Progress {
  double share = 0.0;  // done, 0 to 1; negative or NaN: not known (a live source)
  std::optional<std::uint64_t> event_count = {};  // none: the work is no events, there is no rate
};

class ProgressBar {
 public:
  using Output = std::function<void(std::string_view text)>;

  // Draws nothing unless `is_terminal`. `clock` must outlive the bar; `output` takes the text as it
  // goes to the terminal, with control sequences.
  ProgressBar(bool is_terminal, const Clock& clock, Output output);
  // Clears the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws, if the last drawing is long enough ago. The rate is the average since construction.
  // Allocates nothing.
  void update(const Progress& progress);

  // Takes the line off the terminal, so that other lines can be printed where it stood; a later
  // update() draws it again below them.
  void clear();

 private:
  bool is_terminal_;
  bool is_drawn_ = false;
  const Clock& clock_;
  Output output_;
  std::int64_t start_time_ns_;
  std::int64_t next_draw_time_ns_;
};

}  // namespace tocsin
