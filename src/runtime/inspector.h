// Reads a file once, whatever its format, and tells what it holds and whether its book agrees with
// what the feed itself says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "features/book_oracle.h"
#include "ingest/source.h"
#include "runtime/frame_builder.h"
#include "runtime/rate_series.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

// When a picture of the book is asked for.
struct PictureTime {
  std::int64_t time_ns = 0;
  bool of_day = false;  // since midnight of the file's first day
};
// A whole date and time (2024-08-08T23:57:24.5, a blank for the T, a Z at the end or none), a time
// of day (23:57:24.5), or nanoseconds.
Result<PictureTime> parse_picture_time(std::string_view text);

struct InspectRequest {
  FileSourceOptions file;
  std::optional<PictureTime> picture;
  const std::atomic<bool>* stop = nullptr;  // turned true from outside: ends with what there is
};

// The best levels of a book after the last update up to `time_ns`.
struct BookPicture {
  std::string symbol;        // the one with the most events up to then
  std::int64_t time_ns = 0;  // what was asked for
  bool trusted = false;
  std::vector<BookLevel> bids;
  std::vector<BookLevel> asks;
};

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
  FrameMemory memory;
  RateSeries rates;  // messages by exchange time
  std::optional<BookPicture> picture;
  std::uint64_t frames = 0;
  std::vector<InputFault> faults;
  // Why reading stopped, if not at the end of the file (kCancelled: from outside; kInvalidArgument:
  // all was read, and the picture was asked for at a time that lies outside).
  Status end;
};

// `on_progress` is called now and then.
// The error is one of opening; what happens later is in InspectReport::end.
Result<InspectReport> inspect_file(const InspectRequest& request, const Clock& clock,
                                   const std::function<void(const Progress&)>& on_progress);

// {"format", "venue", "messages", ...}: the keys of the command reference.
std::string inspect_json(const InspectReport& report);
std::string_view venue_name(FeedFormat format) noexcept;

}  // namespace tocsin
