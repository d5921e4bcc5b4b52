// Alerts as JSON, one object a line, in a file that only grows. The ids in it are the memory of
// what was given: the same input gives the same file, byte for byte, however often the run was
// killed.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "sinks/file_io.h"
#include "sinks/sink.h"

namespace tocsin {

class JsonlSink final : public Sink {
 public:
  // Opens or creates the file (the folder too), reads the ids in it, and cuts a torn last line. A
  // line that is no alert is kDataLoss, with its number: nothing is touched then. A device or a
  // pipe is only written. kUnavailable if another process writes to it.
  static Result<JsonlSink> open(const std::string& path);

  std::string_view name() const noexcept override { return "jsonl"; }
  Result<bool> take(const Alert& alert) override;
  Status flush() override { return {}; }  // take() has written it
  Status sync() override { return file_.sync(); }

  // Of the file as it was found.
  std::uint64_t found_line_count() const noexcept { return found_line_count_; }
  std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }

 private:
  explicit JsonlSink(OutputFile file) : file_(std::move(file)) {}
  Status read_ids();

  OutputFile file_;
  std::unordered_set<std::uint64_t> ids_;
  std::uint64_t found_line_count_ = 0;
  std::uint64_t torn_bytes_ = 0;
};

// The line of an alert, with its end. Only what does not depend on when and where it ran.
std::string format_alert_json(const Alert& alert);

}  // namespace tocsin
