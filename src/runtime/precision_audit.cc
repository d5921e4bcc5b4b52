// All precisions side by side over one pass, then the figures from their scores.
#include "runtime/precision_audit.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <numeric>

#include "runtime/outcome_tracker.h"
#include "runtime/quantizer.h"
#include "runtime/run_config.h"
#include "scoring/guarded_scorer.h"
#include "scoring/loaded_model.h"

namespace tocsin {
namespace {

constexpr std::string_view kEngine = "native";
constexpr std::size_t kAllSamples = std::size_t{1} << 30U;

// A precision with its scores, window by window.
struct Contender {
  PrecisionAuditRow row;
  std::unique_ptr<Scorer> scorer;
  std::vector<float> scores;
  LatencyHistogram latency;
};

// What the feed says of the windows: whether a burst followed, as far as that is known.
struct Labels {
  std::vector<bool> judged;  // by window: known, and not seen by the model
  std::vector<bool> burst;
};

struct AuditState {
  ModelPackage package;
  std::unique_ptr<Engine> engine;
  DecisionThresholds thresholds;
  bool ahead = true;
  std::vector<Contender> contenders;
  Labels labels;
};

OnProgress part_of(const OnProgress& on_progress, double first, double last) {
  return [&on_progress, first, last](const Progress& progress) {
    if (on_progress)
      on_progress(
          {.share = first + (last - first) * progress.share, .event_count = progress.event_count});
  };
}

Status add_contender(AuditState& state, Precision precision, const SampleWindows& samples,
                     const OnProgress& on_progress) {
  Contender contender;
  contender.row.precision = precision;
  ModelPackage package = state.package;
  package.precision.reset();
  if (precision != Precision::kFloat32) {
    if (state.package.precision && state.package.precision->name == precision_name(precision)) {
      package.precision = state.package.precision;
    } else {
      TOCSIN_ASSIGN_OR_RETURN(package.precision,
                              measure_precision(package, *state.engine, samples,
                                                {.precision = precision}, on_progress));
    }
    contender.row.method = package.precision->method;
    contender.row.band_width = package.precision->band.width;
  }
  TOCSIN_ASSIGN_OR_RETURN(LoadedModel model,
                          load_model(std::move(package), *state.engine, {.ahead = state.ahead}));
  contender.row.weight_bytes = model.session->weight_bytes();
  model.full_session = nullptr;  // without its guard: that is judged afterwards
  contender.scorer = make_scorer(std::move(model), state.thresholds);
  state.contenders.push_back(std::move(contender));
  return {};
}

Status score_frame(AuditState& state, const FeatureFrame& frame, bool is_full, const Clock& clock) {
  for (Contender& contender : state.contenders) {
    TOCSIN_RETURN_IF_ERROR(contender.scorer->add_key(frame.instrument));
    contender.scorer->push(frame.instrument, frame);
    if (!is_full) continue;
    float score = 0;
    const std::int64_t start_ns = clock.monotonic_time_ns();
    const ScoreStatus status = contender.scorer->score(frame.instrument, score);
    contender.latency.record(clock.monotonic_time_ns() - start_ns);
    if (status != ScoreStatus::kScored)
      return Error(ErrorCode::kAborted, contender.scorer->capture_failure(frame.instrument).error);
    contender.scores.push_back(score);
    while (contender.scorer->work_ahead()) {
    }
  }
  return {};
}

// The outcomes of one instrument's frames, by the windows that end with them.
class KeyOutcomes {
 public:
  static constexpr std::size_t kNoWindow = ~std::size_t{0};

  KeyOutcomes(const BurstTarget& target, std::int64_t tick_nanos, Labels& labels)
      : tracker_({.move_nanos = target.move_ticks * tick_nanos,
                  .horizon_frames = target.horizon_frames,
                  .on_judged = [this, &labels](bool burst) {
                    const std::size_t window = waiting_.front();
                    waiting_.pop_front();
                    if (window == kNoWindow) return;
                    labels.judged[window] = true;
                    labels.burst[window] = burst;
                  }}) {}

  void on_frame(const FeatureFrame& frame, std::size_t window) {
    waiting_.push_back(window);
    tracker_.on_frame(frame.mid_price_nanos_x2, false, 0);
  }

 private:
  std::deque<std::size_t> waiting_;
  OutcomeTracker tracker_;
};

// Takes windows that the model was trained or tuned on out of what is judged.
class SeenRecords {
 public:
  SeenRecords(const ModelPackage& package, const std::string& source) {
    for (const SeenStretch& stretch : package.seen)
      if (stretch.source == source) stretches_.push_back(stretch);
  }
  bool has(std::uint64_t record) const {
    return std::ranges::any_of(stretches_, [record](const SeenStretch& stretch) {
      return record >= stretch.first_record && record <= stretch.last_record;
    });
  }

 private:
  std::vector<SeenStretch> stretches_;
};

Status score_feed(AuditState& state, const SourceConfig& source, Clock& clock,
                  const OnProgress& on_progress) {
  const SeenRecords seen(state.package,
                         std::filesystem::path(source.file.path).filename().string());
  std::vector<std::unique_ptr<KeyOutcomes>> outcomes;
  Status status;
  TOCSIN_RETURN_IF_ERROR(visit_windows(
      source, state.package, clock,
      [&](const FeatureFrame& frame, const Instrument& instrument, std::span<const float> window) {
        if (!status.ok()) return;
        status = score_frame(state, frame, !window.empty(), clock);
        while (outcomes.size() <= frame.instrument)
          outcomes.push_back(std::make_unique<KeyOutcomes>(
              state.package.target, instrument.price_tick_nanos, state.labels));
        const bool counts = !window.empty() && !seen.has(frame.position.record);
        outcomes[frame.instrument]->on_frame(
            frame, counts ? state.labels.judged.size() : KeyOutcomes::kNoWindow);
        if (window.empty()) return;
        state.labels.judged.push_back(false);
        state.labels.burst.push_back(false);
      },
      on_progress));
  return status;
}

// Windows of a file are normalised already and do not follow each other: they are run whole.
Status score_samples(AuditState& state, const SampleWindows& samples, const Clock& clock,
                     const OnProgress& on_progress) {
  const std::size_t width = samples.values.size() / samples.count;
  for (Contender& contender : state.contenders) {
    auto* windows = dynamic_cast<WindowScorer*>(contender.scorer.get());
    TOCSIN_ASSERT(windows != nullptr);
    for (std::size_t i = 0; i < samples.count; ++i) {
      float score = 0;
      const std::int64_t start_ns = clock.monotonic_time_ns();
      const bool scored =
          windows->score_window(std::span(samples.values).subspan(i * width, width), score);
      contender.latency.record(clock.monotonic_time_ns() - start_ns);
      if (!scored) return Error(ErrorCode::kAborted, "a window could not be scored");
      contender.scores.push_back(score);
      if (on_progress)
        on_progress({.share = static_cast<double>(i) / static_cast<double>(samples.count)});
    }
  }
  state.labels.judged.resize(samples.count, false);
  state.labels.burst.resize(samples.count, false);
  return {};
}

std::optional<double> auc_of(const Contender& contender, const Labels& labels) {
  std::vector<float> scores;
  std::vector<bool> positive;
  for (std::size_t i = 0; i < contender.scores.size(); ++i) {
    if (!labels.judged[i]) continue;
    scores.push_back(contender.scores[i]);
    positive.push_back(labels.burst[i]);
  }
  return roc_auc(scores, positive);
}

void compare(Contender& contender, const Contender& full, const DecisionThresholds& thresholds) {
  PrecisionAuditRow& row = contender.row;
  double sum = 0;
  for (std::size_t i = 0; i < contender.scores.size(); ++i) {
    const float low = contender.scores[i];
    const float exact = full.scores[i];
    const double error = std::abs(static_cast<double>(low) - static_cast<double>(exact));
    sum += error;
    row.worst_error = std::max(row.worst_error, error);
    const bool alert_flips = (low >= thresholds.alert) != (exact >= thresholds.alert);
    const bool release_flips = (low < thresholds.release) != (exact < thresholds.release);
    row.alert_flips += alert_flips ? 1 : 0;
    row.release_flips += release_flips ? 1 : 0;
    if (alert_flips) ++(exact >= thresholds.alert ? row.missed : row.false_orders);
    if (row.precision == Precision::kFloat32) continue;
    if (is_within_band(low, row.band_width, thresholds))
      ++row.rescored;
    else
      row.flips_with_band += (alert_flips ? 1U : 0U) + (release_flips ? 1U : 0U);
  }
  row.mean_error = sum / static_cast<double>(std::max<std::size_t>(contender.scores.size(), 1));
}

}  // namespace

bool PrecisionAudit::ok() const noexcept {
  return std::ranges::none_of(rows, [](const PrecisionAuditRow& row) { return row.is_refused(); });
}

std::optional<double> roc_auc(std::span<const float> scores, const std::vector<bool>& positive) {
  TOCSIN_ASSERT(scores.size() == positive.size());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&scores](std::size_t i) { return scores[i]; });
  double positives = 0;
  double rank_sum = 0;  // of the positives; ties share the mean of their ranks
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    double tied = 0;
    for (; last < order.size() && scores[order[last]] == scores[order[first]]; ++last)
      tied += positive[order[last]] ? 1.0 : 0.0;
    rank_sum += tied * (static_cast<double>(first + 1 + last) / 2.0);
    positives += tied;
    first = last;
  }
  const double negatives = static_cast<double>(scores.size()) - positives;
  if (positives == 0 || negatives == 0) return {};
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

Result<PrecisionAudit> audit_precisions(const std::string& package_folder,
                                        const PrecisionAuditOptions& options, Clock& clock,
                                        const OnProgress& on_progress) {
  AuditState state;
  TOCSIN_ASSIGN_OR_RETURN(state.package, load_model_package(package_folder));
  TOCSIN_ASSIGN_OR_RETURN(state.engine, make_engine(kEngine));
  state.thresholds = {state.package.threshold, state.package.release_threshold};
  if (state.package.carried)
    return Error(ErrorCode::kFailedPrecondition,
                 state.package.folder +
                     ": carries its states (window.carried), which is run in "
                     "float32 alone");
  const bool has_feed = !options.config_path.empty();
  state.ahead = has_feed;
  RunConfig config;
  SampleWindows samples;
  if (has_feed) {
    TOCSIN_ASSIGN_OR_RETURN(config, read_run_config(options.config_path));
    TOCSIN_ASSIGN_OR_RETURN(
        samples, sample_windows(config.source, state.package, kCalibrationSamplesDefault, clock,
                                part_of(on_progress, 0, 0.2)));
  } else {
    TOCSIN_ASSIGN_OR_RETURN(samples,
                            read_sample_windows(options.samples_path, state.package, kAllSamples));
  }
  double done = 0.2;
  for (const Precision precision :
       {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16, Precision::kInt8}) {
    TOCSIN_RETURN_IF_ERROR(
        add_contender(state, precision, samples, part_of(on_progress, done, done + 0.1)));
    done += 0.1;
  }
  TOCSIN_RETURN_IF_ERROR(
      has_feed ? score_feed(state, config.source, clock, part_of(on_progress, done, 1))
               : score_samples(state, samples, clock, part_of(on_progress, done, 1)));

  PrecisionAudit audit;
  audit.model = state.package.name + "/" + state.package.version;
  audit.origin = samples.origin;
  audit.windows = state.labels.judged.size();
  for (std::size_t i = 0; i < state.labels.judged.size(); ++i) {
    audit.judged += state.labels.judged[i] ? 1 : 0;
    audit.bursts += state.labels.burst[i] ? 1 : 0;
  }
  audit.alert_threshold = state.thresholds.alert;
  audit.release_threshold = state.thresholds.release;
  const std::optional<double> full_auc = auc_of(state.contenders.front(), state.labels);
  for (Contender& contender : state.contenders) {
    compare(contender, state.contenders.front(), state.thresholds);
    contender.row.latency_ns = contender.latency.distribution();
    contender.row.auc = auc_of(contender, state.labels);
    if (contender.row.auc && full_auc && *full_auc > 0)
      contender.row.auc_change = *contender.row.auc / *full_auc - 1.0;
    audit.rows.push_back(contender.row);
  }
  return audit;
}

}  // namespace tocsin
