// Writes the frames of a file for training: the same code builds them in a live run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/source.h"
#include "runtime/frame_builder.h"
#include "runtime/frame_writer.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct FrameExportOptions {
  FileSourceOptions source;
  FrameFile output;
  std::vector<std::string> features = {};  // in this order; empty: the whole catalogue
  std::vector<LeaderPair> leaders = {};
  const std::atomic<bool>* stop = nullptr;  // turned true from outside: ends with what there is
};

struct FrameExportReport {
  std::uint64_t frames = 0;
  std::uint64_t features = 0;
  // Why reading stopped, if not at the end of the file (kCancelled: from outside); frames before it
  // are written.
  Status end;
};

// kInvalidArgument: the output is one of the files that are read. An output that could not be
// written to its end is removed: what it holds would pass for all frames.
Result<FrameExportReport> export_frames(const FrameExportOptions& options, const Clock& clock,
                                        const std::function<void(const Progress&)>& on_progress);

}  // namespace tocsin
