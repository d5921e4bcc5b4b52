// The same FrameBuilder, Normaliser and FrameWindow as in a run.
#include "runtime/window_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "models/npz_reader.h"
#include "runtime/frame_builder.h"
#include "runtime/run.h"
#include "scoring/frame_window.h"
#include "scoring/loaded_model.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kRecordsBetweenProgress = 1024;
// Arrays that were stored, not compressed, and what the archive adds to them.
constexpr std::uint64_t kSamplesBytesMax =
    NpzLimits{}.unpacked_bytes_max + (std::uint64_t{1} << 20);

// One window a key.
class KeyWindows {
 public:
  explicit KeyWindows(const ModelPackage& package)
      : shape_{.steps = static_cast<std::size_t>(package.steps),
               .feature_count = package.features.size()},
        normaliser_({.mean = package.normalisation_mean,
                     .scale = package.normalisation_scale,
                     .clip = package.normalisation_clip}) {}

  std::span<const float> push(const FeatureFrame& frame) {
    while (windows_.size() <= frame.instrument)
      windows_.push_back(std::make_unique<FrameWindow>(shape_));
    FrameWindow& window = *windows_[frame.instrument];
    window.push(frame, normaliser_);
    return window.full() ? window.normalised() : std::span<const float>();
  }

 private:
  FrameWindowShape shape_;
  Normaliser normaliser_;
  std::vector<std::unique_ptr<FrameWindow>> windows_;  // by InstrumentId
};

Error bad_samples(const std::string& path, const std::string& what) {
  return Error(ErrorCode::kDataLoss, path + ": " + what);
}

}  // namespace

Status visit_windows(const SourceConfig& config, const ModelPackage& package, Clock& clock,
                     const OnFeedFrame& on_frame, const OnProgress& on_progress) {
  TOCSIN_ASSIGN_OR_RETURN(const FeatureSchema schema, check_feature_schema(package));
  if (config.is_live())
    return Error(ErrorCode::kFailedPrecondition,
                 config.file.path + ": a live feed; samples are taken from a recording");
  SourceConfig unpaced = config;
  unpaced.pace = {};
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_source(unpaced, clock));
  FrameBuilder builder(schema, *source, clock, config.leaders);
  KeyWindows windows(package);
  EventBatch batch;
  FeatureFrame frame;
  StageDurations durations;
  SourceStatus status = SourceStatus::kEvents;
  for (std::uint64_t record = 0; (status = source->next(batch)) == SourceStatus::kEvents;
       ++record) {
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);)
      on_frame(frame, source->instruments()[frame.instrument], windows.push(frame));
    if (on_progress && record % kRecordsBetweenProgress == 0)
      on_progress({.share = source->progress(), .event_count = source->counters().events});
  }
  warn_of_absent_symbols(config.file, source->counters());
  if (status == SourceStatus::kError) return source->error();
  return {};
}

Result<SampleWindows> sample_windows(const SourceConfig& source, const ModelPackage& package,
                                     std::size_t count, Clock& clock,
                                     const OnProgress& on_progress) {
  std::size_t total = 0;
  const auto half = [&on_progress](double offset) {
    return [&on_progress, offset](const Progress& progress) {
      if (on_progress)
        on_progress({.share = offset + 0.5 * progress.share, .event_count = progress.event_count});
    };
  };
  TOCSIN_RETURN_IF_ERROR(visit_windows(
      source, package, clock,
      [&total](const FeatureFrame&, const Instrument&, std::span<const float> window) {
        total += window.empty() ? 0 : 1;
      },
      half(0.0)));
  SampleWindows samples;
  samples.origin = std::filesystem::path(source.file.path).filename().string();
  const std::size_t wanted = std::min(count, total);
  std::size_t number = 0;
  TOCSIN_RETURN_IF_ERROR(visit_windows(
      source, package, clock,
      [&](const FeatureFrame&, const Instrument&, std::span<const float> window) {
        if (window.empty()) return;
        // The n-th sample is window n * total / wanted.
        if (samples.count < wanted && number == samples.count * total / wanted) {
          samples.values.insert(samples.values.end(), window.begin(), window.end());
          ++samples.count;
        }
        ++number;
      },
      half(0.5)));
  return samples;
}

Result<SampleWindows> read_sample_windows(const std::string& path, const ModelPackage& package,
                                          std::size_t count) {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          read_whole_file(path, kSamplesBytesMax));
  Result<std::vector<NamedNpyArray>> arrays = read_npz(bytes);
  if (!arrays.ok()) return bad_samples(path, arrays.error().message());
  const std::string name = "inputs_" + std::to_string(package.steps);
  const auto found = std::ranges::find(*arrays, name, &NamedNpyArray::name);
  if (found == arrays->end()) return bad_samples(path, "expected an array '" + name + "'");
  const std::vector<std::int64_t>& shape = found->array.shape;
  if (shape.size() != 3 || shape[1] != package.steps ||
      shape[2] != static_cast<std::int64_t>(package.features.size()))
    return bad_samples(path, fmt::format("array '{}': expected shape [n, {}, {}]", name,
                                         package.steps, package.features.size()));
  if (!std::ranges::all_of(found->array.values, [](float value) { return std::isfinite(value); }))
    return bad_samples(path, "array '" + name + "' holds values that are not finite");
  SampleWindows samples;
  samples.origin = std::filesystem::path(path).filename().string();
  samples.values = std::move(found->array.values);
  samples.count = std::min(count, static_cast<std::size_t>(shape[0]));
  samples.values.resize(samples.count * static_cast<std::size_t>(shape[1] * shape[2]));
  return samples;
}

}  // namespace tocsin
