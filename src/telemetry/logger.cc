// The door to spdlog: it formats; counting repeats and the choice of output are done here.
#include "telemetry/logger.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tocsin {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

std::string escaped(std::string_view message) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(message.size());
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\n    ";
    } else if ((byte < 0x20 && c != '\t') || byte == 0x7F) {
      text += "\\x";
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 0xFU];
    } else {
      text += c;
    }
  }
  return text;
}

// Formats with spdlog and hands the line on. Guarded by the mutex of Log.
class OutputSink final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (output_) {
      output_(std::string_view(line.data(), line.size()));
    } else {
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
  }
  void flush() override {}
  void set_pattern(const std::string& pattern) override {
    formatter_ =
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    formatter_ = std::move(formatter);
  }
  LogOutput exchange_output(LogOutput output) { return std::exchange(output_, std::move(output)); }

 private:
  std::unique_ptr<spdlog::formatter> formatter_;
  LogOutput output_;
};

class Log {
 public:
  Log() : sink_(std::make_shared<OutputSink>()), logger_("tocsin", sink_) {
    sink_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l: %v");
  }

  void write(LogLevel level, std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (level < level_min_) return;
    if (has_last_ && level == last_level_ && message == last_message_) {
      ++repeat_count_;
      return;
    }
    print_repeats();
    has_last_ = true;
    last_level_ = level;
    last_message_ = message;
    logger_.log(spdlog_level(level), spdlog::string_view_t(escaped(message)));
  }

  void set_level(LogLevel level) {
    const std::lock_guard lock(mutex_);
    level_min_ = level;
  }

  void flush() {
    const std::lock_guard lock(mutex_);
    print_repeats();
  }

  LogOutput exchange_output(LogOutput output) {
    const std::lock_guard lock(mutex_);
    print_repeats();
    has_last_ = false;  // The new output has not seen the last message.
    return sink_->exchange_output(std::move(output));
  }

 private:
  void print_repeats() {
    if (repeat_count_ == 0) return;
    const std::string times =
        repeat_count_ == 1 ? "once more" : std::to_string(repeat_count_) + " more times";
    logger_.log(spdlog_level(last_level_),
                spdlog::string_view_t(escaped(last_message_) + " (" + times + ")"));
    repeat_count_ = 0;
  }

  std::mutex mutex_;
  std::shared_ptr<OutputSink> sink_;
  spdlog::logger logger_;
  LogLevel level_min_ = LogLevel::kInfo;
  bool has_last_ = false;
  LogLevel last_level_ = LogLevel::kInfo;
  std::string last_message_;
  std::uint64_t repeat_count_ = 0;
};

// Never destroyed: what ends after main() may still log.
Log& the_log() {
  static Log& log = [&]() -> Log& {
    auto* created = new Log();
    std::atexit([] { flush_log(); });
    return *created;
  }();
  return log;
}

}  // namespace

void log_info(std::string_view message) noexcept { the_log().write(LogLevel::kInfo, message); }
void log_warning(std::string_view message) noexcept {
  the_log().write(LogLevel::kWarning, message);
}
void log_error(std::string_view message) noexcept { the_log().write(LogLevel::kError, message); }

void set_log_level(LogLevel level) noexcept { the_log().set_level(level); }

void flush_log() noexcept { the_log().flush(); }

LogOutput set_log_output(LogOutput output) { return the_log().exchange_output(std::move(output)); }

}  // namespace tocsin
