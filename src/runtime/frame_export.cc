// One line a frame; nine significant digits give a float's bits back.
#include "runtime/frame_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "features/feature_engine.h"
#include "runtime/frame_builder.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kFramesBetweenProgress = 1024;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string heading(const FeatureSchema& schema) {
  std::string line = "symbol,record,exchange_time_ns,quality,mid_price_nanos_x2,price_tick_nanos";
  for (std::size_t i = 0; i < schema.size(); ++i) line += fmt::format(",{}", schema.name(i));
  return line + "\n";
}

std::string line_of(const FeatureFrame& frame, const Instrument& instrument) {
  std::string line = fmt::format("{},{},{},{},{},{}", instrument.symbol, frame.position.record,
                                 frame.exchange_time_ns, frame.quality.bits(),
                                 frame.mid_price_nanos_x2, instrument.price_tick_nanos);
  for (std::size_t i = 0; i < frame.feature_count; ++i)
    line += fmt::format(",{:.9g}", frame.values[i]);
  return line + "\n";
}

}  // namespace

Result<FrameExportReport> export_frames(const FileSourceOptions& options,
                                        const std::string& output_path, const Clock& clock,
                                        const std::function<void(const Progress&)>& on_progress) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(options));
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(output_path.c_str(), "w"));
  const auto write_error = [&] {
    return Error(ErrorCode::kResourceExhausted,
                 fmt::format("{}: cannot be written: {}", output_path, std::strerror(errno)));
  };
  if (!file) return write_error();
  const FeatureSchema schema = FeatureSchema::whole_catalogue();
  FrameExportReport report;
  report.features = schema.size();
  bool written = std::fputs(heading(schema).c_str(), file.get()) >= 0;
  FrameBuilder builder(schema, *source, clock);
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  while (written && (status = source->next(batch)) == SourceStatus::kEvents) {
    StageDurations durations;
    for (std::size_t index = 0; written && builder.next_frame(batch, index, frame, durations);) {
      written = std::fputs(line_of(frame, source->instruments()[frame.instrument]).c_str(),
                           file.get()) >= 0;
      if (++report.frames % kFramesBetweenProgress == 0)
        on_progress({source->progress(), source->counters().events});
    }
  }
  if (!written || std::fflush(file.get()) != 0) return write_error();
  warn_of_absent_symbols(options, source->counters());
  if (status == SourceStatus::kError) report.end = source->error();
  return report;
}

}  // namespace tocsin
