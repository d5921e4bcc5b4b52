// Keeps the log's lines instead of printing them, for as long as it lives: for tests.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/logger.h"

namespace tocsin {

class LogCapture {
 public:
  LogCapture()
      : before_(set_log_output([this](std::string_view line) {
          const std::lock_guard lock(mutex_);
          lines_.emplace_back(line.substr(0, line.size() - 1));
        })) {}
  ~LogCapture() { set_log_output(std::move(before_)); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // Whole lines with time and level, without the line break; counts held back are in.
  std::vector<std::string> lines() const {
    flush_log();
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  LogOutput before_;
};

}  // namespace tocsin
