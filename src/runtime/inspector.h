// Reads a file once, whatever its format, and tells what it holds and whether its book agrees with
// what the feed itself says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "features/book_oracle.h"
#include "ingest/source.h"
#include "runtime/frame_builder.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct InspectReport {
  FeedFormat format = FeedFormat::kBinanceUsdm;
  std::string recorded_source;  // of a recording: the name and format of what was recorded
  std::string recorded_format;
  std::string venue;  // what sent it, in words
  std::vector<std::pair<std::string, std::uint64_t>> by_type;
  std::vector<std::string> symbols;  // those that had an event
  std::int64_t first_time_ns = 0;    // exchange time; 0 if there was no event
  std::int64_t last_time_ns = 0;
  SourceCounters source;
  BookCounters books;
  OracleCounters oracle;
  std::uint64_t frames = 0;
  std::vector<InputFault> faults;
  Status end;  // why reading stopped, if not at the end of the file
};

// `on_progress` is called now and then.
// The error is one of opening; what happens later is in InspectReport::end.
Result<InspectReport> inspect_file(const FileSourceOptions& options, const Clock& clock,
                                   const std::function<void(const Progress&)>& on_progress);

// {"format", "venue", "messages", ...}: the keys of the command reference.
std::string inspect_json(const InspectReport& report);
std::string_view venue_name(FeedFormat format) noexcept;

}  // namespace tocsin
