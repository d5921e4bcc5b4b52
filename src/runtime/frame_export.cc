// One frame after another from the builder to the file.
#include "runtime/frame_export.h"

#include <filesystem>
#include <memory>

#include "features/feature_engine.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kFramesBetweenProgress = 1024;

Status check_output(const FrameExportOptions& options) {
  const FileSourceOptions& source = options.source;
  for (const std::string* read : {&source.path, &source.orderbook_path, &source.map_path}) {
    std::error_code ignored;
    if (!read->empty() && std::filesystem::equivalent(*read, options.output.path, ignored))
      return Error(ErrorCode::kInvalidArgument,
                   options.output.path + ": is the file that is read; expected another one");
  }
  return {};
}

}  // namespace

Result<FrameExportReport> export_frames(const FrameExportOptions& options, const Clock& clock,
                                        const std::function<void(const Progress&)>& on_progress) {
  FeatureSchema schema = FeatureSchema::whole_catalogue();
  if (!options.features.empty()) {
    TOCSIN_ASSIGN_OR_RETURN(schema, FeatureSchema::from_names(options.features));
  }
  TOCSIN_RETURN_IF_ERROR(check_output(options));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(options.source));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<FrameWriter> writer,
                          open_frame_writer(options.output, schema));
  FrameExportReport report;
  report.features = schema.size();
  FrameBuilder builder(schema, *source, clock, options.leaders);
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  const auto stopped = [&options] {
    return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
  };
  while (!stopped() && (status = source->next(batch)) == SourceStatus::kEvents) {
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);) {
      TOCSIN_RETURN_IF_ERROR(writer->write(frame, source->instruments()[frame.instrument]));
      if (++report.frames % kFramesBetweenProgress == 0)
        on_progress({source->progress(), source->counters().events});
    }
  }
  TOCSIN_RETURN_IF_ERROR(writer->finish());
  warn_of_absent_symbols(options.source, source->counters());
  warn_of_absent_leaders(options.leaders, source->instruments());
  if (status == SourceStatus::kError) report.end = source->error();
  if (status == SourceStatus::kEvents)
    report.end = Error(ErrorCode::kCancelled, "interrupted; the frames up to here are written");
  return report;
}

}  // namespace tocsin
