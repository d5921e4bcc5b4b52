// Life cycle of a run. The order of closing matters: pipeline, then the sinks' thread (which drains
// the ring), then the ledger's end record, then the summary.
#include "runtime/run.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "concurrency/cpu_affinity.h"
#include "decision/alert_id.h"
#include "engines/engine.h"
#include "ingest/paced_source.h"
#include "ingest/segment_source.h"
#include "kernels/isa.h"
#include "models/model_package.h"
#include "runtime/locked_memory.h"
#include "runtime/pipeline.h"
#include "scoring/guarded_scorer.h"
#include "scoring/loaded_model.h"
#include "sinks/console_sink.h"
#include "sinks/file_io.h"
#include "sinks/jsonl_sink.h"
#include "sinks/ledger_writer.h"
#include "sinks/sink_thread.h"
#include "sinks/sqlite_sink.h"
#include "telemetry/logger.h"

namespace tocsin {
namespace {

constexpr std::size_t kDecisionRingCapacity = 1024;
constexpr std::int64_t kProgressIntervalNs = 50'000'000;
constexpr std::uint64_t kRecordsBetweenProgress = 64;
constexpr std::string_view kCpuKey = "runtime.cpu";
constexpr std::string_view kSinkCpuKey = "runtime.sink_cpu";
constexpr std::string_view kFolderLine = "# paths are relative to ";

// Everything that lives as long as the run; built in open(), used by both threads.
struct RunState {
  std::unique_ptr<Source> source;
  std::unique_ptr<Scorer> scorer;
  std::optional<DecisionPolicy> policy;
  std::optional<AlertIdHasher> ids;
  std::optional<FailureCapsuleFolder> failures;
  LedgerRunStart start;
  std::unique_ptr<LedgerWriter> ledger;
  std::optional<ConsoleSink> console;
  std::optional<JsonlSink> jsonl;
  std::optional<SqliteSink> sqlite;
  SpscRing<DecisionRecord> decisions{kDecisionRingCapacity};
  SymbolTable symbols;
};

struct PipelineOutcome {
  RunEnd end = RunEnd::kComplete;
  ErrorCode error_code = ErrorCode::kOk;
  std::string error;
};

// What the main thread reads while the pipeline works.
struct SharedProgress {
  std::atomic<std::uint64_t> events{0};
  std::atomic<double> share{0.0};
  std::atomic<bool> done{false};
  std::atomic<bool> give_up{false};
};

DecisionPolicyOptions policy_options(const RunConfig& config, const ModelPackage& package) {
  DecisionPolicyOptions options;
  const DecisionConfig& decision = config.decision;
  options.threshold =
      decision.threshold > 0 ? static_cast<float>(decision.threshold) : package.threshold;
  options.release_threshold = package.release_threshold;
  if (decision.threshold > 0) options.release_threshold = 0.9F * options.threshold;
  if (decision.release_threshold > 0)
    options.release_threshold = static_cast<float>(decision.release_threshold);
  options.cooldown_duration_ns = decision.cooldown_ms * 1'000'000;
  options.untrusted = decision.untrusted_book;
  return options;
}

std::vector<LedgerFeature> ledger_features(const LoadedModel& model) {
  std::vector<LedgerFeature> features;
  for (std::size_t i = 0; i < model.schema.size(); ++i) {
    const FeatureDescription& description = feature_catalogue()[model.schema.indices()[i]];
    features.push_back({.name = std::string(description.name),
                        .unit = std::string(description.unit),
                        .mean = model.package.normalisation_mean[i],
                        .scale = model.package.normalisation_scale[i]});
  }
  return features;
}

LedgerRunStart run_start(const RunConfig& config, const RunHooks& hooks, const LoadedModel& model,
                         const Clock& clock) {
  LedgerRunStart start;
  const std::filesystem::path path(config.source.file.path);
  std::error_code ignored;
  start.unix_time_ns = clock.unix_time_ns();
  start.config = recorded_config(config);
  start.tocsin_version = hooks.program_version;
  start.tocsin_commit = hooks.program_commit;
  if (config.source.is_live()) {
    // A live feed never comes a second time: each run of it is one of its own, and so are its ids.
    start.source_name = fmt::format("{}@{}", config.source.file.path, start.unix_time_ns);
    start.source_path = config.source.file.path;
  } else {
    start.source_name = source_name_of(config.source.file.path);
    start.source_path = std::filesystem::absolute(path, ignored).string();
    start.source_size_bytes = std::filesystem::file_size(path, ignored);
  }
  start.model_name = model.package.name;
  start.model_version = model.package.version;
  start.model_sha256 = model.package.model_sha256;
  start.schema_hash = model.schema.hash();
  start.features = ledger_features(model);
  start.rules = {config.decision.rule};
  start.engine = model.engine.name;
  start.engine_version = model.engine.version;
  start.isa = selected_isa();
  start.determinism = model.engine.determinism;
  return start;
}

Status open_sinks(const RunConfig& config, const RunHooks& hooks, RunState& state) {
  const std::string& folder = config.output.folder;
  TOCSIN_RETURN_IF_ERROR(create_folders(folder));
  TOCSIN_ASSIGN_OR_RETURN(
      state.ledger,
      LedgerWriter::open(
          {.folder = folder + "/ledger",
           .segment_bytes_max = static_cast<std::uint64_t>(config.output.segment_bytes)},
          state.start));
  const LedgerOpening& opening = state.ledger->opening();
  if (opening.torn_bytes > 0)
    log_warning(fmt::format("{}/ledger: an unfinished record of {} bytes was cut off", folder,
                            opening.torn_bytes));
  if (opening.resumed)
    log_info(
        fmt::format("{}: going on with an unfinished run; {} decisions in its ledger are "
                    "derived again and compared",
                    folder, opening.durable_decision_count));
  if (hooks.alert_line)
    state.console.emplace(hooks.alert_line, ConsoleSinkOptions{.colours = hooks.colours});
  if (config.output.jsonl) {
    TOCSIN_ASSIGN_OR_RETURN(state.jsonl, JsonlSink::open(folder + "/alerts.jsonl"));
  }
  if (config.output.sqlite) {
    TOCSIN_ASSIGN_OR_RETURN(state.sqlite, SqliteSink::open(folder + "/history.sqlite"));
    TOCSIN_RETURN_IF_ERROR(state.sqlite->begin_run(state.start, opening.resumed));
  }
  return {};
}

std::string machine_text(const RuntimeConfig& runtime) {
  const auto place = [](std::int64_t cpu) {
    return cpu < 0 ? std::string("any CPU") : fmt::format("CPU {}", cpu);
  };
  return fmt::format("pipeline on {}, outputs on {} ({} when idle), memory {}", place(runtime.cpu),
                     place(runtime.sink_cpu), runtime.idle == IdlePolicy::kSpin ? "spin" : "sleep",
                     runtime.lock_memory ? "locked" : "not locked");
}

std::string pace_text(const Pace& pace) {
  if (pace.speed > 0) return fmt::format("at {} times its recorded pace", pace.speed);
  if (pace.records_per_s > 0) return fmt::format("at {} records a second", pace.records_per_s);
  return "as fast as possible";
}

void log_choices(const RunConfig& config, const RunState& state) {
  const LoadedModel& model = state.scorer->model();
  const DecisionPolicyOptions& policy = state.policy->options();
  std::error_code ignored;
  const SourceConfig& source = config.source;
  if (source.is_live())
    log_info(fmt::format("source {}, live, until ctrl-C", source.file.path));
  else
    log_info("source " + std::filesystem::proximate(source.file.path, ignored).string() + ", " +
             pace_text(source.pace));
  log_info(fmt::format("model {} on engine {} {} ({}), kernels {}, window {} steps of {} features",
                       model.title(), model.engine.name, model.engine.version,
                       determinism_name(model.engine.determinism), selected_isa(), model.steps(),
                       model.feature_count()));
  if (model.whole_reason.empty())
    log_info("windows are worked ahead: a frame waits for the last step alone");
  else
    log_info("windows are run whole: " + model.whole_reason);
  if (model.precision != Precision::kFloat32) {
    const GuardBand& band = model.package.precision->band;
    log_info(fmt::format(
        "scores in {}; those within {:.3g} of a threshold again in float32, {}: {:.4f} of windows "
        "differ by no more than {:.3g}, with confidence {}",
        precision_name(model.precision), band.width,
        config.model.full_ahead ? "from windows worked ahead" : "over the whole window",
        band.quantile, band.worst_error, band.confidence));
  }
  log_info(machine_text(config.runtime));
  log_info(fmt::format(
      "alert at {:.4f} or above, released below {:.4f}, cooldown {} ms; {} samples of the package "
      "checked, worst error {:.2g}",
      policy.threshold, policy.release_threshold, config.decision.cooldown_ms, model.sample_count,
      model.worst_sample_error));
}

// A thread inherits the CPUs of the one that starts it, whose own are put back.
template <typename Start>
Status start_on_cpu(std::int64_t cpu, std::string_view key, const Start& start) {
  if (cpu < 0) {
    start();
    return {};
  }
  const CpuList before = usable_cpus();
  const Status bound = run_on_cpus({static_cast<int>(cpu)});
  if (!bound.ok()) return bound.error().within(key);
  start();
  return run_on_cpus(before);
}

// Whether the machine gives what is asked of it, before anything is written.
Status take_machine(const RuntimeConfig& runtime) {
  TOCSIN_RETURN_IF_ERROR(start_on_cpu(runtime.cpu, kCpuKey, [] {}));
  TOCSIN_RETURN_IF_ERROR(start_on_cpu(runtime.sink_cpu, kSinkCpuKey, [] {}));
  if (!runtime.lock_memory) return {};
  const Status locked = lock_memory();
  return locked.ok() ? locked : locked.error().within("runtime.lock_memory");
}

Result<std::unique_ptr<RunState>> open(const RunConfig& config, const RunHooks& hooks,
                                       Clock& clock) {
  if (const Result<Isa> isa = requested_isa(); !isa.ok()) return isa.error();
  auto state = std::make_unique<RunState>();
  TOCSIN_ASSIGN_OR_RETURN(ModelPackage package, load_model_package(config.model.package));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(config.model.engine));
  TOCSIN_ASSIGN_OR_RETURN(LoadedModel model,
                          load_model(std::move(package), *engine,
                                     {.steps = config.model.steps,
                                      .full_precision = config.model.full_precision,
                                      .full_ahead = config.model.full_ahead}));
  TOCSIN_ASSIGN_OR_RETURN(state->source, open_source(config.source, clock));
  TOCSIN_ASSIGN_OR_RETURN(state->policy,
                          DecisionPolicy::create(policy_options(config, model.package)));
  state->start = run_start(config, hooks, model, clock);
  state->ids.emplace(AlertOrigin{.source = state->start.source_name,
                                 .rule = config.decision.rule,
                                 .model = model.package.name,
                                 .model_version = model.package.version});
  state->scorer =
      make_scorer(std::move(model), {.alert = state->policy->options().threshold,
                                     .release = state->policy->options().release_threshold});
  state->failures.emplace(config.output.folder);
  TOCSIN_RETURN_IF_ERROR(take_machine(config.runtime));
  TOCSIN_RETURN_IF_ERROR(open_sinks(config, hooks, *state));
  log_choices(config, *state);
  return state;
}

PipelineOutcome drive(Pipeline& pipeline, const RunState& state, const std::atomic<bool>* stop,
                      SharedProgress& progress) {
  PipelineOutcome outcome;
  for (std::uint64_t record = 0;; ++record) {
    if (progress.give_up.load(std::memory_order_relaxed)) {
      outcome.end = RunEnd::kOutputFailed;
      break;
    }
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      // A live feed has no other end.
      outcome.end = state.source->is_live() ? RunEnd::kComplete : RunEnd::kInterrupted;
      break;
    }
    const Pipeline::Step step = pipeline.step(progress.give_up);
    if (step == Pipeline::Step::kFailed) {
      outcome.end = RunEnd::kBadInput;
      outcome.error_code = state.source->error().code();
      outcome.error = state.source->error().message();
    }
    if (step != Pipeline::Step::kWorked) break;
    if (record % kRecordsBetweenProgress == 0) {
      progress.events.store(state.source->counters().events, std::memory_order_relaxed);
      progress.share.store(state.source->progress(), std::memory_order_relaxed);
    }
  }
  pipeline.finish();
  progress.done.store(true, std::memory_order_release);
  return outcome;
}

LedgerRunEnd run_end(const RunState& state, const Pipeline& pipeline, RunEnd end,
                     const Clock& clock) {
  LedgerRunEnd record;
  record.reason = end == RunEnd::kComplete      ? RunEndReason::kComplete
                  : end == RunEnd::kInterrupted ? RunEndReason::kInterrupted
                                                : RunEndReason::kFailed;
  record.unix_time_ns = clock.unix_time_ns();
  record.last_position = pipeline.last_position();
  const DecisionPolicyCounters& policy = state.policy->counters();
  record.counters = {.events = state.source->counters().events,
                     .gaps = state.source->counters().gaps,
                     .frames = pipeline.counters().frames,
                     .windows_scored = pipeline.counters().windows_scored,
                     .rescored = state.scorer->counters().rescored,
                     .alerts = policy.alerts,
                     .held = policy.held,
                     .suppressed_cooldown = policy.suppressed_cooldown,
                     .suppressed_untrusted = policy.suppressed_untrusted,
                     .not_finite = policy.not_finite,
                     .held_back_remainder = state.policy->remainder()};
  return record;
}

void fill_pipeline_part(const RunState& state, const Pipeline& pipeline, RunSummary& summary) {
  summary.input = state.source->counters();
  summary.faults.assign(state.source->faults().begin(), state.source->faults().end());
  summary.by_type = state.source->counts_by_type();
  summary.books = pipeline.builder().counters();
  summary.oracle = pipeline.builder().oracle_counters();
  summary.memory = pipeline.builder().memory();
  summary.frames = pipeline.counters().frames;
  summary.windows_scored = pipeline.counters().windows_scored;
  summary.failed_inferences = pipeline.counters().failed_inferences;
  summary.allocations_after_warmup = pipeline.counters().allocations_after_warmup;
  summary.ring_full_waits = pipeline.counters().ring_full_waits;
  for (std::size_t part = 0; part < kSeenPartCount; ++part)
    summary.outcomes[part] = pipeline.outcomes(static_cast<SeenPart>(part));
  for (std::size_t i = 0; i < kStageCount; ++i)
    summary.stages_ns[i] = pipeline.stage(static_cast<Stage>(i)).distribution();
  summary.series.assign(pipeline.series().points().begin(), pipeline.series().points().end());
  summary.alert_lines = pipeline.alert_lines();
  for (const Instrument& instrument : state.source->instruments())
    summary.symbols.push_back(instrument.symbol);
}

RunSummary summarise(const RunConfig& config, const RunState& state, const Pipeline& pipeline,
                     const SinkThread& sinks) {
  RunSummary summary;
  const LoadedModel& model = state.scorer->model();
  const DecisionPolicyCounters& policy = state.policy->counters();
  summary.name = config.name;
  summary.source = state.start.source_name;
  summary.model = model.title();
  summary.engine = model.engine.name;
  summary.precision = precision_name(model.precision);
  summary.rescored = state.scorer->counters().rescored;
  summary.whole_windows = state.scorer->counters().whole_windows;
  summary.caught_up = state.scorer->counters().caught_up;
  summary.isa = state.start.isa;
  summary.determinism = model.engine.determinism;
  summary.steps = model.options.steps;
  summary.threshold = state.policy->options().threshold;
  summary.release_threshold = state.policy->options().release_threshold;
  summary.burst_move_ticks = model.package.target.move_ticks;
  summary.burst_horizon_frames = model.package.target.horizon_frames;
  fill_pipeline_part(state, pipeline, summary);
  summary.alerts = policy.alerts;
  summary.held = policy.held;
  summary.suppressed_cooldown = policy.suppressed_cooldown;
  summary.suppressed_untrusted = policy.suppressed_untrusted;
  summary.already_durable = sinks.counters().already_durable;
  summary.stages_ns[static_cast<std::size_t>(Stage::kHandoff)] = sinks.handoff().distribution();
  summary.event_to_alert_ns = sinks.event_to_alert().distribution();
  summary.event_to_decision_ns = pipeline.event_to_decision().distribution();
  for (const HistogramBucket& bucket : pipeline.event_to_decision().buckets())
    summary.event_to_decision_buckets.emplace_back(bucket.upper_ns, bucket.count);
  summary.folder = config.output.folder;
  summary.ledger_path = config.output.folder + "/ledger";
  summary.ledger_records = state.ledger->records();
  summary.ledger_head = to_hex(state.ledger->head());
  return summary;
}

// Whether everything that is to last is where it belongs. Lines on the console are not.
Status check_delivery(const RunState& state, const SinkThread& sinks) {
  if (sinks.last_flush_error()) return *sinks.last_flush_error();
  for (const AlertOutbox& outbox : sinks.outboxes()) {
    const std::uint64_t count = outbox.counters().undelivered;
    if (count == 0 || (state.console && &outbox.sink() == &*state.console)) continue;
    return outbox.last_error()->within(
        fmt::format("{} alerts are in the ledger alone, the same command delivers them", count));
  }
  return {};
}

// Closes what the sinks' thread leaves to the run; the first failure is the run's. A run whose
// alerts did not all arrive is not complete: it is gone on with, which delivers them.
Status close_outputs(RunState& state, const Pipeline& pipeline, SinkThread& sinks,
                     PipelineOutcome& outcome, const Clock& clock) {
  TOCSIN_RETURN_IF_ERROR(sinks.stop());
  const Status delivered = check_delivery(state, sinks);
  if (!delivered.ok() && outcome.end == RunEnd::kComplete) outcome.end = RunEnd::kOutputFailed;
  const LedgerRunEnd end = run_end(state, pipeline, outcome.end, clock);
  TOCSIN_RETURN_IF_ERROR(state.ledger->finish(end));
  if (state.sqlite) {
    const Status noted = state.sqlite->end_run(end);
    if (delivered.ok()) return noted;
  }
  return delivered;
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const SourceConfig& config, Clock& clock) {
  if (config.websocket.has_value()) return WebSocketSource::create(*config.websocket, clock);
  if (config.udp.has_value()) return UdpSource::open(*config.udp, clock);
  TOCSIN_ASSIGN_OR_RETURN(std::unique_ptr<Source> source, open_file_source(config.file));
  if (config.pace.is_set())
    source = std::make_unique<PacedSource>(std::move(source), clock, config.pace);
  return source;
}

void warn_of_absent_symbols(const FileSourceOptions& file, const SourceCounters& counters) {
  if (counters.events > 0 || counters.filtered == 0) return;
  log_warning(
      fmt::format("{}: all {} records were left out: none of the symbols asked for is in "
                  "it: {}",
                  file.path, counters.filtered, fmt::join(file.symbols, ", ")));
}

std::string recorded_config(const RunConfig& config) {
  return std::string(kFolderLine) + config.folder + "\n" + config.effective_yaml;
}

Result<RunConfig> config_from_record(const std::string& text) {
  const std::size_t line_end = text.find('\n');
  if (!text.starts_with(kFolderLine) || line_end == std::string::npos)
    return Error(ErrorCode::kDataLoss, "the run's configuration does not say its folder");
  return parse_run_config(text, "configuration in the ledger",
                          text.substr(kFolderLine.size(), line_end - kFolderLine.size()));
}

Result<RunSummary> run(const RunConfig& config, const RunHooks& hooks, Clock& clock) {
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<RunState> state, open(config, hooks, clock));
  std::vector<Sink*> sink_list;
  if (state->jsonl) sink_list.push_back(&*state->jsonl);
  if (state->sqlite) sink_list.push_back(&*state->sqlite);
  if (state->console) sink_list.push_back(&*state->console);
  SinkThread sinks({.decisions = state->decisions,
                    .symbols = state->symbols,
                    .clock = clock,
                    .ledger = *state->ledger,
                    .run = state->start,
                    .sinks = sink_list},
                   {.flush_interval_ns = config.output.sync_interval_ms * 1'000'000,
                    .outbox = {},
                    .idle = config.runtime.idle});
  Pipeline pipeline({.source = *state->source,
                     .scorer = *state->scorer,
                     .policy = *state->policy,
                     .ids = *state->ids,
                     .failures = *state->failures,
                     .decisions = state->decisions,
                     .symbols = state->symbols,
                     .clock = clock},
                    {.source_name = state->start.source_name,
                     .sample_every = static_cast<std::uint64_t>(config.output.sample_every),
                     .idle = config.runtime.idle,
                     .leaders = config.source.leaders});
  SharedProgress progress;
  PipelineOutcome outcome;
  TOCSIN_RETURN_IF_ERROR(
      start_on_cpu(config.runtime.sink_cpu, kSinkCpuKey, [&] { sinks.start(); }));
  const std::int64_t start_ns = clock.monotonic_time_ns();
  {
    std::jthread worker;
    TOCSIN_RETURN_IF_ERROR(start_on_cpu(config.runtime.cpu, kCpuKey, [&] {
      worker = std::jthread([&] { outcome = drive(pipeline, *state, hooks.stop, progress); });
    }));
    while (!progress.done.load(std::memory_order_acquire)) {
      clock.sleep_until(clock.monotonic_time_ns() + kProgressIntervalNs);
      if (sinks.failed()) progress.give_up.store(true, std::memory_order_release);
      if (hooks.on_progress)
        hooks.on_progress({.share = progress.share.load(std::memory_order_relaxed),
                           .event_count = progress.events.load(std::memory_order_relaxed)});
    }
  }
  const Status closed = close_outputs(*state, pipeline, sinks, outcome, clock);
  const std::int64_t wall_ns = clock.monotonic_time_ns() - start_ns;
  RunSummary summary = summarise(config, *state, pipeline, sinks);
  warn_of_absent_symbols(config.source.file, summary.input);
  warn_of_absent_leaders(config.source.leaders, state->source->instruments());
  summary.end = outcome.end;
  summary.error_code = outcome.error_code;
  summary.error = outcome.error;
  summary.wall_duration_ns = wall_ns;
  if (!closed.ok()) {
    summary.end = RunEnd::kOutputFailed;
    summary.error = closed.error().message();
    return summary;
  }
  const Status written =
      replace_file(config.output.folder + "/summary.json", run_summary_json(summary) + "\n");
  if (!written.ok()) {
    summary.end = RunEnd::kOutputFailed;
    summary.error = written.error().message();
  }
  return summary;
}

}  // namespace tocsin
