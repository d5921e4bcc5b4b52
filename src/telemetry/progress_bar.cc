// Drawing the progress line; it stays below 80 columns, since a wrapped line cannot be redrawn.
#include "telemetry/progress_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace tocsin {
namespace {

constexpr std::int64_t kRedrawPeriodNs = 100'000'000;
// Back to the first column; erase to the end of the line (ECMA-48, 8.3.15 CR and 8.3.41 EL).
constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr int kBarColumns = 24;

// A line in the making, cut rather than overrun.
class LineText {
 public:
  template <typename... Arguments>
  void append(const char* format, Arguments... arguments) {
    const int written =
        std::snprintf(text_.data() + size_bytes_, text_.size() - size_bytes_, format, arguments...);
    if (written > 0) {
      size_bytes_ = std::min(size_bytes_ + static_cast<std::size_t>(written), text_.size() - 1);
    }
  }
  std::string_view view() const { return {text_.data(), size_bytes_}; }

 private:
  std::array<char, 128> text_{};
  std::size_t size_bytes_ = 0;
};

void append_bar(LineText& line, double share) {
  const int filled = static_cast<int>(share * kBarColumns);
  line.append("[");
  for (int i = 0; i < kBarColumns; ++i) line.append("%c", i < filled ? '#' : '.');
  // Rounded down: 100 % is shown when all is done, not before.
  line.append("] %3d %%", static_cast<int>(share * 100.0));
}

void append_rate(LineText& line, double events_per_s) {
  if (events_per_s >= 999'500.0) {
    line.append("%.2f M events/s", events_per_s / 1e6);
  } else if (events_per_s >= 999.5) {
    line.append("%.1f k events/s", events_per_s / 1e3);
  } else {
    line.append("%.0f events/s", events_per_s);
  }
}

void append_time_left(LineText& line, double share, double elapsed_s) {
  // Before there is something to judge by, and past four days, nothing is said.
  constexpr double kLongest = 99.0 * 3600.0;
  const double left_s = share > 0.0 ? elapsed_s * (1.0 - share) / share : kLongest;
  if (left_s >= kLongest) {
    line.append("  ETA --:--");
    return;
  }
  const int left = static_cast<int>(std::ceil(left_s));
  if (left >= 3600) {
    line.append("  ETA %d:%02d:%02d", left / 3600, left / 60 % 60, left % 60);
  } else {
    line.append("  ETA %d:%02d", left / 60, left % 60);
  }
}

}  // namespace

ProgressBar::ProgressBar(bool is_terminal, const Clock& clock, Output output)
    : is_terminal_(is_terminal),
      clock_(clock),
      output_(std::move(output)),
      start_time_ns_(clock.monotonic_time_ns()),
      next_draw_time_ns_(start_time_ns_) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::update(const Progress& progress) {
  if (!is_terminal_) return;
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  if (now_ns < next_draw_time_ns_) return;
  next_draw_time_ns_ = now_ns + kRedrawPeriodNs;

  const double elapsed_s = static_cast<double>(now_ns - start_time_ns_) * 1e-9;
  const double events_per_s =
      elapsed_s > 0.0 ? static_cast<double>(progress.event_count.value_or(0)) / elapsed_s : 0.0;
  LineText line;
  line.append("\r");
  if (progress.share >= 0.0) {
    const double share = std::min(progress.share, 1.0);
    append_bar(line, share);
    if (progress.event_count) {
      line.append("  ");
      append_rate(line, events_per_s);
    }
    append_time_left(line, share, elapsed_s);
  } else {
    append_rate(line, events_per_s);
  }
  line.append("\x1b[K");
  output_(line.view());
  is_drawn_ = true;
}

void ProgressBar::clear() {
  if (!is_drawn_) return;
  output_(kClearLine);
  is_drawn_ = false;
}

}  // namespace tocsin
