// Writes the frames of a file as CSV for training: the same code builds them in a live run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/source.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

struct FrameExportReport {
  std::uint64_t frames = 0;
  std::uint64_t features = 0;
  Status end;  // why reading stopped, if not at the end of the file; frames before it are written
};

// Columns: symbol, record, exchange_time_ns, quality (bits), mid_price_nanos_x2, price_tick_nanos,
// then the whole catalogue. Floats are written so that reading them gives the same bits.
Result<FrameExportReport> export_frames(const FileSourceOptions& options,
                                        const std::string& output_path, const Clock& clock,
                                        const std::function<void(const Progress&)>& on_progress);

}  // namespace tocsin
