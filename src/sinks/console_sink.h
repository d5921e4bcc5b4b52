// Prints one line an alert for a person who watches. It keeps nothing: alerts that a restart
// repeats are not printed again.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "sinks/sink.h"

namespace tocsin {

struct ConsoleSinkOptions {
  bool colours = false;  // ANSI escapes; for terminals only
};

class ConsoleSink final : public Sink {
 public:
  // Receives a line with its end. It may clear a progress bar first, and does its own locking.
  using Writer = std::function<Status(std::string_view line)>;

  ConsoleSink(Writer writer, const ConsoleSinkOptions& options)
      : writer_(std::move(writer)), options_(options) {}

  std::string_view name() const noexcept override { return "console"; }
  Result<bool> take(const Alert& alert) override;
  Status flush() override { return {}; }

 private:
  Writer writer_;
  ConsoleSinkOptions options_;
};

// Writes to `file` and flushes it, line by line. The file stays the caller's.
ConsoleSink::Writer make_file_writer(std::FILE* file);

// "2025-01-31T12:00:00.123456789Z ALERT BTCUSDT burst score 0.953 >= 0.9 mid 61800.25
// tocsin:1a2b3c4d", then what was held back since the last alert and what was noticed about the
// input, if anything.
std::string format_alert_line(const Alert& alert, bool colours);

}  // namespace tocsin
