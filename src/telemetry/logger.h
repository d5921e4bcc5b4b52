// The log: one line a message on standard error, with the UTC time and the level.
// A message that repeats the one before is counted, and printed with its count once another follows
// or at the end of the program. Never called on a hot path: it takes a lock and allocates.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tocsin {

enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };

// Thread-safe. Control characters are escaped, so that input quoted in a message cannot forge a
// line or drive the terminal; a line break continues on an indented line.
void log_info(std::string_view message) noexcept;
void log_warning(std::string_view message) noexcept;
void log_error(std::string_view message) noexcept;

// Messages below `level` are dropped; kInfo at start.
void set_log_level(LogLevel level) noexcept;

// Prints the count of a repeated message that is still held back. Also done at exit.
void flush_log() noexcept;

// Takes each line, its line break included; must not log.
using LogOutput = std::function<void(std::string_view line)>;

// Sends lines to `output` from now on (to standard error if it is empty) and returns where they
// went before; counts held back are printed there first. For what owns the terminal, and for tests.
LogOutput set_log_output(LogOutput output);

}  // namespace tocsin
