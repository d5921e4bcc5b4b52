// Answers, then the schedule, then back to back, then the empty loop.
#include "runtime/last_step_bench.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <vector>

#include "kernels/isa.h"
#include "runtime/distribution_fields.h"

namespace tocsin {
namespace {

// Frames in a ring, drawn beforehand.
constexpr std::size_t kFrameCount = 512;

class LastStepBench {
 public:
  LastStepBench(const BenchModel& model, const LastStepBenchOptions& options, const Clock& clock)
      : model_(model), options_(options), clock_(clock) {}

  Result<LastStepBenchReport> run() {
    TOCSIN_RETURN_IF_ERROR(load());
    TOCSIN_RETURN_IF_ERROR(check_answers());
    for (std::uint32_t key = 1; key < options_.key_count && !is_stopped(); ++key) warm(key);
    if (is_stopped())
      return Error(ErrorCode::kCancelled, "interrupted before anything was measured");
    measure_schedule();
    measure_sustained();
    measure_jitter();
    return report();
  }

 private:
  Status load() {
    TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(options_.engine));
    SessionOptions session_options;
    session_options.precision = options_.precision;
    session_options.activation_scales = model_.activation_scales;
    session_options.steps = model_.steps;
    TOCSIN_ASSIGN_OR_RETURN(session_, engine->load(model_.onnx_path, session_options));
    TOCSIN_ASSIGN_OR_RETURN(stream_, engine->load_stream(model_.onnx_path, session_options));
    TOCSIN_ASSIGN_OR_RETURN(tensors_, BatchTensors::make(session_->signature(), 1, model_.steps));
    features_ = static_cast<std::size_t>(session_->signature().inputs[0].shape.back());
    output_.resize(tensors_->outputs()[0].size_bytes / sizeof(float));
    for (std::uint32_t key = 0; key < options_.key_count; ++key)
      TOCSIN_RETURN_IF_ERROR(stream_->add_key(key));
    std::mt19937_64 random(options_.seed);
    std::normal_distribution<float> normal;
    frames_.resize(kFrameCount * features_);
    for (float& value : frames_) value = normal(random);
    return {};
  }

  std::span<const float> next_frame() noexcept {
    const std::size_t frame = next_frame_++ % kFrameCount;
    return std::span(frames_).subspan(frame * features_, features_);
  }

  void catch_up() noexcept {
    while (stream_->work_ahead()) {
    }
  }

  bool is_stopped() const noexcept {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }

  void warm(std::uint32_t key) noexcept {
    for (std::int64_t i = 0; i < model_.steps; ++i) {
      stream_->push(key, next_frame());
      catch_up();
    }
  }

  Status check_answers() {
    const auto steps = static_cast<std::size_t>(model_.steps);
    const TensorView& input = tensors_->inputs()[0];
    std::vector<float> window;
    for (std::size_t event = 0; event < 2 * steps; ++event) {
      const std::span<const float> frame = next_frame();
      window.insert(window.end(), frame.begin(), frame.end());
      stream_->push(0, frame);
      const bool scored = stream_->score(0, output_);
      catch_up();
      if (event + 1 < steps) continue;
      window.erase(window.begin(), window.end() - static_cast<std::ptrdiff_t>(steps * features_));
      std::copy(window.begin(), window.end(), static_cast<float*>(input.data));
      if (!session_->run(tensors_->inputs(), tensors_->outputs())) return session_->error();
      const auto* whole = static_cast<const float*>(tensors_->outputs()[0].data);
      for (std::size_t i = 0; i < output_.size(); ++i) {
        if (scored &&
            std::bit_cast<std::uint32_t>(whole[i]) == std::bit_cast<std::uint32_t>(output_[i]))
          continue;
        return Error(
            ErrorCode::kInternal,
            fmt::format("event {}: output {} is {} when worked ahead, {} as a whole window", event,
                        i, output_[i], whole[i]));
      }
    }
    return {};
  }

  // Calls `event` at each scheduled time, and `idle` while it waits; the first tenth is warm-up.
  template <typename Event, typename Idle>
  void follow_schedule(Event event, Idle idle) {
    const auto interval_ns = static_cast<std::int64_t>(1e9 / options_.events_per_s);
    const std::int64_t start_ns = clock_.monotonic_time_ns() + interval_ns;
    const std::int64_t count = options_.duration_ns / interval_ns;
    for (std::int64_t i = 0; i < count && !is_stopped(); ++i) {
      const std::int64_t due_ns = start_ns + i * interval_ns;
      while (clock_.monotonic_time_ns() < due_ns) idle();
      event(due_ns, i >= count / 10);
    }
  }

  void measure_schedule() {
    std::uint32_t key = 0;
    follow_schedule(
        [&](std::int64_t due_ns, bool is_warm) {
          stream_->push(key, next_frame());
          stream_->score(key, output_);
          if (is_warm) latency_.record(clock_.monotonic_time_ns() - due_ns);
          key = (key + 1) % options_.key_count;
        },
        [&] {
          const std::int64_t before_ns = clock_.monotonic_time_ns();
          if (stream_->work_ahead()) background_.record(clock_.monotonic_time_ns() - before_ns);
        });
  }

  void measure_sustained() {
    std::uint32_t key = 0;
    std::uint64_t events = 0;
    const std::int64_t start_ns = clock_.monotonic_time_ns();
    std::int64_t now_ns = start_ns;
    for (; now_ns - start_ns < options_.duration_ns / 4 && !is_stopped();
         now_ns = clock_.monotonic_time_ns()) {
      for (int i = 0; i < 16; ++i, ++events) {
        stream_->push(key, next_frame());
        stream_->score(key, output_);
        catch_up();
        key = (key + 1) % options_.key_count;
      }
    }
    if (events > 0)
      sustained_ = static_cast<double>(events) * 1e9 / static_cast<double>(now_ns - start_ns);
  }

  void measure_jitter() {
    follow_schedule(
        [&](std::int64_t due_ns, bool is_warm) {
          if (is_warm) jitter_.record(clock_.monotonic_time_ns() - due_ns);
        },
        [] {});
  }

  LastStepBenchReport report() const {
    LastStepBenchReport report;
    report.model = model_.name;
    report.engine = options_.engine;
    report.precision = options_.precision;
    report.steps = model_.steps;
    report.key_count = options_.key_count;
    report.last_step_share = stream_->last_step_share();
    report.bytes_per_key = stream_->bytes_per_key();
    report.events_per_s_offered = options_.events_per_s;
    report.latency_ns = latency_.distribution();
    report.background_ns = background_.distribution();
    report.events_per_s_sustained = sustained_;
    report.jitter_ns = jitter_.distribution();
    report.isa = selected_isa();
    report.interrupted = is_stopped();
    return report;
  }

  const BenchModel& model_;
  const LastStepBenchOptions& options_;
  const Clock& clock_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<WindowStream> stream_;
  std::optional<BatchTensors> tensors_;
  std::size_t features_ = 0;
  std::vector<float> frames_;  // [kFrameCount, features]
  std::size_t next_frame_ = 0;
  std::vector<float> output_;
  LatencyHistogram latency_, background_, jitter_;
  double sustained_ = 0;
};

}  // namespace

Result<LastStepBenchReport> bench_last_step(const BenchModel& model,
                                            const LastStepBenchOptions& options,
                                            const Clock& clock) {
  return LastStepBench(model, options, clock).run();
}

std::string last_step_bench_json(const LastStepBenchReport& report) {
  const nlohmann::json root = {
      {"model", report.model},
      {"engine", report.engine},
      {"precision", precision_name(report.precision)},
      {"isa", report.isa},
      {"steps", report.steps},
      {"keys", report.key_count},
      {"last_step_share", report.last_step_share},
      {"bytes_per_key", report.bytes_per_key},
      {"events_per_s_offered", report.events_per_s_offered},
      {"latency_ns", distribution_fields(report.latency_ns)},
      {"background_ns", distribution_fields(report.background_ns)},
      {"events_per_s_sustained", report.events_per_s_sustained},
      {"jitter_ns", distribution_fields(report.jitter_ns)},
      {"interrupted", report.interrupted},
  };
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
