// Records a source, a file's or a live one, into segments of Tocsin's own, each with the books as
// they are at its start.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/source.h"
#include "runtime/segment_writer.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct RecordReport {
  SegmentWriterCounters written;
  SourceCounters source;
  std::uint64_t instruments = 0;
  bool interrupted = false;
  Status end;  // why it stopped, if not at the source's end; all before it is in the recording
};

struct RecordHooks {
  std::function<void(const Progress&)> on_progress;  // now and then
  const std::atomic<bool>* stop = nullptr;           // turned true from outside: ends in order
};

// A live source's open block is written after this long, however few its events are.
inline constexpr std::int64_t kBlockDurationNsMax = 1'000'000'000;

// Reads `source` to its end and completes the recording, also when the source fails: its failure is
// in RecordReport::end, and a replay of the recording ends with it. A failure to write is there
// too; the blocks before it can be read, and where there is none, nothing is left. The error is one
// of beginning.
Result<RecordReport> record_source(Source& source, const SegmentWriterOptions& options,
                                   const Clock& clock, const RecordHooks& hooks);

// {"segments", "blocks", "events", "bytes", …}
std::string record_json(const RecordReport& report);

}  // namespace tocsin
