// One frame after another from the builder to the file.
#include "runtime/frame_export.h"

#include <memory>

#include "features/feature_engine.h"
#include "runtime/run.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kFramesBetweenProgress = 1024;

}  // namespace

Result<FrameExportReport> export_frames(const FrameExportOptions& options, const Clock& clock,
                                        const std::function<void(const Progress&)>& on_progress) {
  FeatureSchema schema = FeatureSchema::whole_catalogue();
  if (!options.features.empty()) {
    TOCSIN_ASSIGN_OR_RETURN(schema, FeatureSchema::from_names(options.features));
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(options.source));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<FrameWriter> writer,
                          open_frame_writer(options.output, schema));
  FrameExportReport report;
  report.features = schema.size();
  FrameBuilder builder(schema, *source, clock, options.leaders);
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  while ((status = source->next(batch)) == SourceStatus::kEvents) {
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);) {
      TOCSIN_RETURN_IF_ERROR(writer->write(frame, source->instruments()[frame.instrument]));
      if (++report.frames % kFramesBetweenProgress == 0)
        on_progress({source->progress(), source->counters().events});
    }
  }
  TOCSIN_RETURN_IF_ERROR(writer->finish());
  warn_of_absent_symbols(options.source, source->counters());
  if (status == SourceStatus::kError) report.end = source->error();
  return report;
}

}  // namespace tocsin
