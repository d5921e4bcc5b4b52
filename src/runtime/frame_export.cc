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

// Frame after frame, from the source's first record to its last or the first error of writing.
Status write_frames(const FrameExportOptions& options, FrameBuilder& builder, Source& source,
                    FrameWriter& writer, FrameExportReport& report,
                    const std::function<void(const Progress&)>& on_progress) {
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  const auto stopped = [&options] {
    return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
  };
  while (!stopped() && (status = source.next(batch)) == SourceStatus::kEvents) {
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);) {
      TOCSIN_RETURN_IF_ERROR(writer.write(frame, source.instruments()[frame.instrument]));
      if (++report.frames % kFramesBetweenProgress == 0)
        on_progress({source.progress(), source.counters().events});
    }
  }
  if (status == SourceStatus::kError) report.end = source.error();
  if (status == SourceStatus::kEvents)
    report.end = Error(ErrorCode::kCancelled, "interrupted; the frames up to here are written");
  return writer.finish();
}

// Not a device or a pipe.
void remove_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
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
  const Status written = write_frames(options, builder, *source, *writer, report, on_progress);
  if (!written.ok()) {
    remove_file(options.output.path);
    return written.error();
  }
  warn_of_absent_symbols(options.source, source->counters());
  warn_of_absent_leaders(options.leaders, source->instruments());
  return report;
}

}  // namespace tocsin
