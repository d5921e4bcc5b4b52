// First each row in a process of its own (memory, cold start), then all sessions in this one, in
// turns of random order: a slow moment of the machine is spread over all of them.
#include "runtime/engine_bench.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>

namespace tocsin {
namespace {

constexpr std::int64_t kTurnNsMin = 100'000'000;
constexpr std::int64_t kTurnNsMax = 5'000'000'000;
constexpr std::int64_t kTurnsWanted = 60;  // of a held load, where it is long enough
constexpr int kWarmUpRuns = 2;             // of each turn: caches hold the row before
// Of the bar: what comes before the first turn.
constexpr double kProbeShare = 0.1;

// How far a row may be from the FP32 reference, for outputs of up to 1. A check that the answer is
// an answer, not an audit: `tocsin precision audit` counts what low precision does to decisions.
double error_allowed(const EngineBenchRow& row, const BenchModel& model) {
  switch (row.precision) {
    case Precision::kFloat32:
      return row.determinism == DeterminismClass::kExact ? 0 : model.tolerance;
    case Precision::kFloat16:
      return 0.01;
    case Precision::kBfloat16:
      return 0.05;
    case Precision::kInt8:
      break;
  }
  return 0.1;
}

// A row that is measured, with what it needs for that.
struct Contender {
  EngineBenchRow* row = nullptr;
  std::unique_ptr<Session> session;
  BatchTensors tensors;
  const BatchTensors* expected = nullptr;  // of the same inputs
  LatencyHistogram histogram;
  std::int64_t busy_ns = 0;
};

class EngineBench {
 public:
  EngineBench(const BenchModel& model, const EngineBenchOptions& options,
              const EngineBenchHooks& hooks, const Clock& clock)
      : model_(model), options_(options), hooks_(hooks), clock_(clock) {}

  Result<EngineBenchReport> run() {
    report_.model = model_.name;
    report_.steps = model_.steps;
    report_.scales_origin = model_.scales_origin;
    report_.machine = read_machine_facts();
    list_rows();
    probe_rows();
    if (!stopped()) TOCSIN_RETURN_IF_ERROR(compute_expected());
    load_contenders();
    take_turns();
    finish();
    return std::move(report_);
  }

 private:
  bool stopped() const {
    return hooks_.stop != nullptr && hooks_.stop->load(std::memory_order_relaxed);
  }

  void show(double share) const {
    if (hooks_.on_progress) hooks_.on_progress({.share = share});
  }

  void list_rows() {
    std::vector<std::string> names = options_.engines;
    if (names.empty())
      for (const std::string_view name : engine_names()) names.emplace_back(name);
    for (const std::string& name : names) {
      const Result<EngineSummary> summary = summarise_engine(name, options_.make);
      for (const Precision precision :
           {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16, Precision::kInt8}) {
        EngineBenchRow row;
        row.engine = name;
        row.precision = precision;
        if (!summary.ok()) {
          row.skipped = summary.error().message();
        } else {
          row.version = summary->version;
          row.determinism = summary->determinism;
        }
        if (is_wanted(summary, precision)) add_rows(row, summary);
      }
    }
  }

  // An engine that is missing has a row of FP32 that says why, or of what was asked for.
  bool is_wanted(const Result<EngineSummary>& summary, Precision precision) const {
    const auto& asked = options_.precisions;
    if (!asked.empty()) return std::ranges::find(asked, precision) != asked.end();
    return summary.ok() ? summary->has(precision) : precision == Precision::kFloat32;
  }

  void add_rows(EngineBenchRow row, const Result<EngineSummary>& summary) {
    for (const std::int64_t batch : options_.batches) {
      for (const int threads : options_.thread_counts) {
        row.batch = batch;
        row.threads = threads;
        report_.rows.push_back(row);
        const int most = summary.ok() ? summary->thread_count_max : 0;
        if (row.skipped.empty() && most > 0 && threads > most)
          report_.rows.back().skipped = "makes use of " + std::to_string(most) + " thread" +
                                        (most > 1 ? "s" : "") + " at most";
      }
    }
  }

  SessionOptions session_options(const EngineBenchRow& row) const {
    return {.precision = row.precision,
            .activation_scales = model_.activation_scales,
            .thread_count = row.threads,
            .batch_max = row.batch,
            .steps = model_.steps,
            .batch_varies = false};
  }

  void probe_rows() {
    for (std::size_t i = 0; i < report_.rows.size() && !stopped(); ++i) {
      EngineBenchRow& row = report_.rows[i];
      show(kProbeShare * static_cast<double>(i) / static_cast<double>(report_.rows.size()));
      if (!row.skipped.empty()) continue;
      const Result<EngineProbe> probe =
          probe_engine({row.engine, &model_, session_options(row), options_.seed, hooks_.stop},
                       options_.make, clock_);
      if (probe.ok())
        row.cold = *probe;
      else
        row.skipped = probe.error().message();
    }
  }

  // The answers of `reference`, one set a batch that some row wants and the model allows.
  Status compute_expected() {
    TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> reference, make_engine("reference"));
    for (const std::int64_t batch : options_.batches) {
      const auto wants = [&](const EngineBenchRow& row) {
        return row.batch == batch && row.skipped.empty();
      };
      if (std::ranges::none_of(report_.rows, wants)) continue;
      TOCSIN_ASSIGN_OR_RETURN(
          const std::unique_ptr<Session> session,
          reference->load(model_.onnx_path, {.batch_max = batch, .steps = model_.steps}));
      TOCSIN_ASSIGN_OR_RETURN(BatchTensors tensors,
                              BatchTensors::make(session->signature(), batch, model_.steps));
      tensors.fill_inputs(options_.seed);
      if (!session->run(tensors.inputs(), tensors.outputs())) return session->error();
      expected_.emplace(batch, std::move(tensors));
    }
    return {};
  }

  void load_contenders() {
    for (EngineBenchRow& row : report_.rows) {
      if (stopped() || !row.skipped.empty()) continue;
      if (const Status status = load_contender(row); !status.ok())
        row.skipped = status.error().message();
    }
  }

  Status load_contender(EngineBenchRow& row) {
    std::unique_ptr<Engine>& engine = engines_[row.engine];
    if (engine == nullptr) {
      TOCSIN_ASSIGN_OR_RETURN(engine, options_.make(row.engine));
    }
    auto contender = std::make_unique<Contender>();
    contender->row = &row;
    TOCSIN_ASSIGN_OR_RETURN(contender->session,
                            engine->load(model_.onnx_path, session_options(row)));
    row.remark = contender->session->remark();
    TOCSIN_ASSIGN_OR_RETURN(contender->tensors, BatchTensors::make(contender->session->signature(),
                                                                   row.batch, model_.steps));
    contender->tensors.fill_inputs(options_.seed);
    contender->expected = &expected_.at(row.batch);
    if (contender->tensors.outputs().size() != contender->expected->outputs().size())
      return Error(ErrorCode::kInternal, "the engine sees other outputs than 'reference' does");
    row.error_allowed = error_allowed(row, model_);
    row.agrees = true;
    TOCSIN_RETURN_IF_ERROR(check_answer(*contender));
    // A row whose answer is wrong is not worth a time.
    if (row.agrees) contenders_.push_back(std::move(contender));
    return {};
  }

  static Status check_answer(Contender& contender) {
    EngineBenchRow& row = *contender.row;
    if (!contender.session->run(contender.tensors.inputs(), contender.tensors.outputs()))
      return contender.session->error();
    const AnswerDifference found =
        difference(contender.tensors.outputs(), contender.expected->outputs());
    row.max_abs_error = std::max(row.max_abs_error, found.max_abs_error);
    row.agrees =
        row.agrees && found.max_abs_error <= row.error_allowed * std::max(1.0, found.largest);
    return {};
  }

  void take_turns() {
    if (contenders_.empty()) return;
    const auto count = static_cast<std::int64_t>(contenders_.size());
    const bool holds_load = options_.load_duration_ns > 0;
    const std::int64_t total_ns =
        holds_load ? options_.load_duration_ns : options_.row_duration_ns * count;
    const std::int64_t turn_ns =
        holds_load ? std::clamp(total_ns / (count * kTurnsWanted), kTurnNsMin, kTurnNsMax)
                   : std::min(kTurnNsMin, std::max<std::int64_t>(options_.row_duration_ns / 4, 1));
    std::mt19937_64 random(options_.seed);
    std::vector<Contender*> order;
    for (const auto& contender : contenders_) order.push_back(contender.get());
    start_ns_ = clock_.monotonic_time_ns();
    while (!stopped() && clock_.monotonic_time_ns() - start_ns_ < total_ns) {
      std::ranges::shuffle(order, random);
      for (Contender* contender : order) {
        if (stopped()) break;
        if (!contender->row->skipped.empty()) continue;
        take_turn(*contender, turn_ns);
        const auto done_ns = static_cast<double>(clock_.monotonic_time_ns() - start_ns_);
        show(std::min(1.0,
                      kProbeShare + (1 - kProbeShare) * done_ns / static_cast<double>(total_ns)));
      }
      measure_jitter(turn_ns);
    }
  }

  void take_turn(Contender& contender, std::int64_t turn_ns) {
    const std::vector<TensorView>& inputs = contender.tensors.inputs();
    const std::vector<TensorView>& outputs = contender.tensors.outputs();
    Session& session = *contender.session;
    bool good = true;
    for (int i = 0; i < kWarmUpRuns; ++i) good = good && session.run(inputs, outputs);
    turn_.clear();
    const std::int64_t offset_ns = clock_.monotonic_time_ns() - start_ns_;
    std::int64_t before_ns = clock_.monotonic_time_ns();
    const std::int64_t end_ns = before_ns + turn_ns;
    while (good && before_ns < end_ns) {
      good = session.run(inputs, outputs);
      const std::int64_t after_ns = clock_.monotonic_time_ns();
      turn_.push_back(after_ns - before_ns);
      // Bookkeeping is not part of the next run.
      before_ns = clock_.monotonic_time_ns();
    }
    if (!good) contender.row->skipped = session.error().message();
    LatencyHistogram seen;
    for (const std::int64_t duration_ns : turn_) {
      seen.record(duration_ns);
      contender.busy_ns += duration_ns;
    }
    contender.histogram.merge(seen);
    if (options_.load_duration_ns > 0)
      contender.row->series.push_back({offset_ns, seen.count(), seen.mean_ns(),
                                       seen.quantile_ns(0.5), seen.quantile_ns(0.99),
                                       seen.max_ns()});
  }

  // Time between two readings of the clock: what the machine adds to everything measured here.
  void measure_jitter(std::int64_t turn_ns) {
    std::int64_t before_ns = clock_.monotonic_time_ns();
    const std::int64_t end_ns = before_ns + turn_ns;
    while (before_ns < end_ns) {
      const std::int64_t after_ns = clock_.monotonic_time_ns();
      jitter_.record(after_ns - before_ns);
      before_ns = after_ns;
    }
  }

  void finish() {
    for (const auto& contender : contenders_) {
      EngineBenchRow& row = *contender->row;
      if (contender->histogram.count() > 0 && row.skipped.empty()) {
        row.latency_ns = contender->histogram.distribution();
        row.windows_per_s = static_cast<double>(row.batch) *
                            static_cast<double>(row.latency_ns.count) * 1e9 /
                            static_cast<double>(std::max<std::int64_t>(1, contender->busy_ns));
        if (const Status status = check_answer(*contender); !status.ok())
          row.skipped = status.error().message();
      }
    }
    report_.interrupted = stopped();
    for (EngineBenchRow& row : report_.rows)
      if (report_.interrupted && row.skipped.empty() && row.latency_ns.count == 0)
        row.skipped = "interrupted";
    report_.jitter_ns = jitter_.distribution();
  }

  const BenchModel& model_;
  const EngineBenchOptions& options_;
  const EngineBenchHooks& hooks_;
  const Clock& clock_;
  EngineBenchReport report_;
  std::map<std::int64_t, BatchTensors> expected_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  std::vector<std::int64_t> turn_;
  LatencyHistogram jitter_;
  std::int64_t start_ns_ = 0;
};

}  // namespace

bool EngineBenchReport::all_agree() const noexcept {
  return std::ranges::all_of(
      rows, [](const EngineBenchRow& row) { return row.agrees || !row.skipped.empty(); });
}

bool EngineBenchReport::any_measured() const noexcept {
  return std::ranges::any_of(rows, [](const EngineBenchRow& row) { return row.skipped.empty(); });
}

Result<EngineBenchReport> bench_engines(const BenchModel& model, const EngineBenchOptions& options,
                                        const EngineBenchHooks& hooks, const Clock& clock) {
  return EngineBench(model, options, hooks, clock).run();
}

}  // namespace tocsin
