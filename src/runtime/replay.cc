// The same FrameBuilder, scorer and guard band as in the run, stopped at the recorded
// position.
#include "runtime/replay.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engines/engine.h"
#include "models/model_package.h"
#include "runtime/frame_builder.h"
#include "runtime/run.h"
#include "scoring/guarded_scorer.h"
#include "sinks/sink.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kRecordsBetweenProgress = 1024;

// `path` may name a model of which there are newer versions by now.
Result<ModelPackage> load_recorded_package(const FoundDecision& found, const std::string& path) {
  TOCSIN_ASSIGN_OR_RETURN(ModelPackage package, load_model_package(path));
  if (package.version == found.run.model_version) return package;
  const std::filesystem::path folder(package.folder);
  return load_model_package((folder.parent_path() / found.run.model_version).string());
}

Result<LoadedModel> load_recorded_model(const FoundDecision& found, const std::string& path,
                                        bool full_precision) {
  TOCSIN_ASSIGN_OR_RETURN(ModelPackage package, load_recorded_package(found, path));
  if (package.model_sha256 != found.run.model_sha256)
    return Error(ErrorCode::kFailedPrecondition,
                 fmt::format("{}: model.onnx is not the recorded one: sha256 {}, recorded {}", path,
                             to_hex(package.model_sha256), to_hex(found.run.model_sha256)));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(found.run.engine));
  TOCSIN_ASSIGN_OR_RETURN(LoadedModel model,
                          load_model(std::move(package), *engine,
                                     {.steps = found.decision.decision.window_steps,
                                      .ahead = false,
                                      .full_precision = full_precision}));
  if (model.schema.hash() != found.run.schema_hash)
    return Error(ErrorCode::kFailedPrecondition,
                 fmt::format("{}: feature schema {}, recorded {}", path,
                             to_hex(model.schema.hash()), to_hex(found.run.schema_hash)));
  return model;
}

bool same_frame(const FeatureFrame& a, const FeatureFrame& b) noexcept {
  return a.feature_count == b.feature_count && a.exchange_time_ns == b.exchange_time_ns &&
         a.frame_number == b.frame_number && a.quality == b.quality &&
         a.mid_price_nanos_x2 == b.mid_price_nanos_x2 &&
         std::memcmp(a.values.data(), b.values.data(), a.feature_count * sizeof(float)) == 0;
}

// Scores the window that ends with `frame`, which is the recorded one.
Result<ReplayReport> compare(const FoundDecision& found, Scorer& scorer,
                             const FeatureFrame& frame) {
  const DecisionRecord& recorded = found.decision.decision;
  ReplayReport report;
  const ScoreStatus status = scorer.score(frame.instrument, report.replayed_score);
  if (status == ScoreStatus::kWindowNotFull)
    return Error(ErrorCode::kAborted, "the window is not full at the recorded position");
  if (status == ScoreStatus::kFailed)
    return Error(ErrorCode::kAborted,
                 "scoring failed: " + scorer.capture_failure(frame.instrument).error);
  report.frame_equal = same_frame(frame, recorded.frame);
  report.window_equal = scorer.raw_hash(frame.instrument) == recorded.window_hash;
  report.score_equal = std::bit_cast<std::uint32_t>(report.replayed_score) ==
                       std::bit_cast<std::uint32_t>(recorded.score);
  report.tolerance = scorer.model().package.samples_tolerance;
  const bool close = std::fabs(report.replayed_score - recorded.score) <= report.tolerance;
  const bool exact = recorded.determinism == DeterminismClass::kExact;
  report.agrees =
      report.frame_equal && report.window_equal && (report.score_equal || (!exact && close));
  return report;
}

}  // namespace

Result<ReplayReport> replay_decision(const FoundDecision& found, const ReplayOptions& options,
                                     Clock& clock,
                                     const std::function<void(const Progress&)>& on_progress) {
  TOCSIN_ASSIGN_OR_RETURN(RunConfig config, config_from_record(found.run.config));
  config.source.pace = {};
  if (config.source.is_live())
    return Error(
        ErrorCode::kFailedPrecondition,
        config.source.file.path +
            ": a live feed never comes a second time, its decisions cannot be derived again");
  if (!options.source_path.empty()) config.source.file.path = options.source_path;
  std::error_code failure;
  const std::uint64_t size_bytes = std::filesystem::file_size(config.source.file.path, failure);
  if (!failure && size_bytes != found.run.source_size_bytes)
    return Error(ErrorCode::kFailedPrecondition,
                 fmt::format("{}: {} bytes, the recorded input had {}", config.source.file.path,
                             size_bytes, found.run.source_size_bytes));
  TOCSIN_ASSIGN_OR_RETURN(
      LoadedModel model,
      load_recorded_model(
          found, options.package_path.empty() ? config.model.package : options.package_path,
          config.model.full_precision));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, open_source(config.source, clock));
  FrameBuilder builder(model.schema, *source, clock, config.source.leaders);
  const DecisionRecord& recorded = found.decision.decision;
  const std::unique_ptr<Scorer> scorer = make_scorer(
      std::move(model), {.alert = recorded.threshold, .release = recorded.release_threshold});
  EventBatch batch;
  FeatureFrame frame;
  StageDurations durations;
  InstrumentId known_keys = 0;
  SourceStatus status = SourceStatus::kEvents;
  for (std::uint64_t record = 0; (status = source->next(batch)) == SourceStatus::kEvents;
       ++record) {
    for (std::size_t index = 0; builder.next_frame(batch, index, frame, durations);) {
      while (known_keys <= frame.instrument) TOCSIN_RETURN_IF_ERROR(scorer->add_key(known_keys++));
      scorer->push(frame.instrument, frame);
      if (frame.position == recorded.frame.position &&
          frame.frame_number == recorded.frame.frame_number &&
          source->instruments()[frame.instrument].symbol == found.decision.symbol)
        return compare(found, *scorer, frame);
    }
    if (record % kRecordsBetweenProgress == 0)
      on_progress({.share = source->progress(), .event_count = source->counters().events});
  }
  if (status == SourceStatus::kError) return source->error();
  return Error(
      ErrorCode::kAborted,
      fmt::format("{}: no frame of {} at record {}, where the decision was made",
                  config.source.file.path, found.decision.symbol, recorded.frame.position.record));
}

std::string decision_json(const FoundDecision& found, const ReplayReport* report) {
  using nlohmann::json;
  const DecisionRecord& decision = found.decision.decision;
  json features = json::object();
  for (std::size_t i = 0; i < decision.frame.feature_count && i < found.run.features.size(); ++i)
    features[found.run.features[i].name] = decision.frame.values[i];
  json durations = json::object();
  for (std::size_t i = 0; i < kStageCount; ++i)
    durations[std::string(stage_name(static_cast<Stage>(i)))] = decision.durations.ns[i];
  const auto bits = [](float value) {
    return fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value));
  };
  json root = {
      {"id", format_alert_id(decision.id)},
      {"recorded_bits", bits(decision.score)},
      {"determinism", determinism_name(decision.determinism)},
      {"verdict", verdict_name(decision.verdict)},
      {"score", decision.score},
      {"threshold", decision.threshold},
      {"release_threshold", decision.release_threshold},
      {"symbol", found.decision.symbol},
      {"source", found.run.source_name},
      {"record", decision.frame.position.record},
      {"first_frame_record", decision.first_frame_record},
      {"window_steps", decision.window_steps},
      {"window_hash", fmt::format("{:016x}", decision.window_hash)},
      {"exchange_time_ns", decision.frame.exchange_time_ns},
      {"receive_time_ns", decision.frame.receive_time_ns},
      {"quality", quality_names(decision.frame.quality)},
      {"features", features},
      {"model", found.run.model_name + "/" + found.run.model_version},
      {"model_sha256", to_hex(found.run.model_sha256)},
      {"schema_hash", to_hex(found.run.schema_hash)},
      {"engine", found.run.engine},
      {"rule", decision.rule_index < found.run.rules.size() ? found.run.rules[decision.rule_index]
                                                            : std::string()},
      {"suppressed_count", decision.suppressed_count},
      {"stages_ns", durations},
      {"total_ns", decision.durations.total_ns()},
      {"ledger",
       {{"segment", found.segment},
        {"record", found.record},
        {"byte", found.byte},
        {"hash", to_hex(found.hash)}}},
  };
  if (report != nullptr) {
    root["replayed_bits"] = bits(report->replayed_score);
    root["equal"] = report->equal();
    root["agrees"] = report->agrees;
    root["frame_equal"] = report->frame_equal;
    root["window_equal"] = report->window_equal;
    root["tolerance"] = report->tolerance;
  }
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
