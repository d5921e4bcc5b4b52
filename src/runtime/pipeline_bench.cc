// Passes that are timed as a whole run with a clock that stands still inside the stages, so that
// reading it is not measured; one further pass times the stages.
#include "runtime/pipeline_bench.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/allocation_counter.h"
#include "features/feature_engine.h"
#include "runtime/distribution_fields.h"
#include "runtime/frame_builder.h"

namespace tocsin {
namespace {

struct PassResult {
  std::uint64_t messages = 0;
  std::uint64_t frames = 0;
  std::uint64_t frame_checksum = 0;  // over the bits of all frames: passes must agree
  std::int64_t duration_ns = 0;
  std::uint64_t late_allocations = 0;  // in the second half
};

void add_frame(const FeatureFrame& frame, PassResult& result) noexcept {
  ++result.frames;
  for (std::size_t i = 0; i < frame.feature_count; ++i)
    result.frame_checksum =
        std::rotl(result.frame_checksum, 5) ^ std::bit_cast<std::uint32_t>(frame.values[i]);
}

struct StageHistograms {
  LatencyHistogram decode;
  LatencyHistogram book;
  LatencyHistogram features;
};

// `half_at`: number of the message from which on allocations are counted; 0: not.
// `histograms`: filled where given; then the stages are timed too.
struct PassOptions {
  std::uint64_t half_at = 0;
  StageHistograms* histograms = nullptr;
};

Result<PassResult> run_pass(const PipelineBenchOptions& bench, const Clock& clock,
                            const PassOptions& options) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(bench.file));
  const ManualClock standing_clock;
  const Clock& stage_clock = options.histograms != nullptr ? clock : standing_clock;
  FrameBuilder builder(bench.schema, *source, stage_clock);
  PassResult result;
  EventBatch batch;
  FeatureFrame frame;
  std::uint64_t allocations_at_half = 0;
  const std::int64_t start_ns = clock.monotonic_time_ns();
  for (;;) {
    const std::int64_t before_ns = stage_clock.monotonic_time_ns();
    const SourceStatus status = source->next(batch);
    const std::int64_t decoded_ns = stage_clock.monotonic_time_ns();
    if (status == SourceStatus::kError) return source->error();
    if (status == SourceStatus::kEnd) break;
    StageDurations durations;
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);)
      add_frame(frame, result);
    if (++result.messages == options.half_at) allocations_at_half = allocation_count();
    if (options.histograms != nullptr) {
      options.histograms->decode.record(decoded_ns - before_ns);
      options.histograms->book.record(durations[Stage::kBook]);
      options.histograms->features.record(durations[Stage::kFeatures]);
    }
  }
  result.duration_ns = clock.monotonic_time_ns() - start_ns;
  if (options.half_at > 0) result.late_allocations = allocation_count() - allocations_at_half;
  return result;
}

Result<double> decode_rate(const PipelineBenchOptions& bench, const Clock& clock) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(bench.file));
  EventBatch batch;
  std::uint64_t messages = 0;
  const std::int64_t start_ns = clock.monotonic_time_ns();
  while (source->next(batch) == SourceStatus::kEvents) ++messages;
  const std::int64_t duration_ns = clock.monotonic_time_ns() - start_ns;
  return static_cast<double>(messages) * 1e9 / static_cast<double>(duration_ns);
}

double median_of(std::vector<double> rates) {
  const auto middle = static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), rates.begin() + middle, rates.end());
  return rates[static_cast<std::size_t>(middle)];
}

// Book and features over all events of the file, decoded beforehand.
Result<double> book_rate(const PipelineBenchOptions& bench, const Clock& clock) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_file_source(bench.file));
  std::vector<EventBatch> batches;
  EventBatch batch;
  while (source->next(batch) == SourceStatus::kEvents) batches.push_back(batch);
  const ManualClock standing_clock;
  FrameBuilder builder(bench.schema, *source, standing_clock);
  FeatureFrame frame;
  StageDurations durations;
  const std::int64_t start_ns = clock.monotonic_time_ns();
  for (const EventBatch& decoded : batches)
    for (std::size_t index = 0; builder.next_frame(decoded, index, frame, durations);) {
    }
  const std::int64_t duration_ns = clock.monotonic_time_ns() - start_ns;
  return static_cast<double>(batches.size()) * 1e9 / static_cast<double>(duration_ns);
}

}  // namespace

Result<PipelineBenchReport> bench_pipeline(const PipelineBenchOptions& options,
                                           const Clock& clock) {
  TOCSIN_ASSIGN_OR_RETURN(const PassResult first, run_pass(options, clock, {}));
  PipelineBenchReport report;
  report.features = options.schema.size();
  report.messages = first.messages;
  report.frames = first.frames;
  std::vector<std::int64_t> durations_ns;
  std::vector<double> book_rates;
  std::vector<double> decode_rates;
  const std::int64_t end_ns = clock.monotonic_time_ns() + options.duration_ns;
  do {
    TOCSIN_ASSIGN_OR_RETURN(const PassResult pass,
                            run_pass(options, clock, {.half_at = first.messages / 2}));
    if (pass.frame_checksum != first.frame_checksum || pass.frames != first.frames)
      return Error(ErrorCode::kInternal, options.file.path + ": two passes made different frames");
    durations_ns.push_back(pass.duration_ns);
    report.allocations_per_message =
        static_cast<double>(pass.late_allocations) /
        static_cast<double>(std::max<std::uint64_t>(1, first.messages / 2));
    TOCSIN_ASSIGN_OR_RETURN(const double rate, book_rate(options, clock));
    book_rates.push_back(rate);
    TOCSIN_ASSIGN_OR_RETURN(const double decode, decode_rate(options, clock));
    decode_rates.push_back(decode);
    ++report.passes;
  } while (clock.monotonic_time_ns() < end_ns);
  const auto middle = static_cast<std::ptrdiff_t>(durations_ns.size() / 2);
  std::nth_element(durations_ns.begin(), durations_ns.begin() + middle, durations_ns.end());
  report.messages_per_s = static_cast<double>(report.messages) * 1e9 /
                          static_cast<double>(durations_ns[static_cast<std::size_t>(middle)]);
  report.book_messages_per_s = median_of(std::move(book_rates));
  report.decode_messages_per_s = median_of(std::move(decode_rates));

  StageHistograms histograms;
  const Result<PassResult> timed = run_pass(options, clock, {.histograms = &histograms});
  if (!timed.ok()) return timed.error();
  const auto stage = [&](Stage s) -> Distribution& {
    return report.stages_ns[static_cast<std::size_t>(s)];
  };
  stage(Stage::kDecode) = histograms.decode.distribution();
  stage(Stage::kBook) = histograms.book.distribution();
  stage(Stage::kFeatures) = histograms.features.distribution();
  return report;
}

std::string pipeline_bench_json(const PipelineBenchReport& report) {
  using nlohmann::json;
  json stages = json::object();
  for (const Stage stage : {Stage::kDecode, Stage::kBook, Stage::kFeatures})
    stages[std::string(stage_name(stage))] =
        distribution_fields(report.stages_ns[static_cast<std::size_t>(stage)]);
  const json root = {{"features", report.features},
                     {"messages", report.messages},
                     {"frames", report.frames},
                     {"passes", report.passes},
                     {"messages_per_s", report.messages_per_s},
                     {"decode_messages_per_s", report.decode_messages_per_s},
                     {"book_messages_per_s", report.book_messages_per_s},
                     {"allocations_per_message", report.allocations_per_message},
                     {"stages_ns", stages}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
