// The loop that a pipeline without idle time would run: no event waits for work on the one before.
#include "runtime/stream_probe.h"

#include <memory>
#include <random>
#include <span>
#include <vector>

namespace tocsin {
namespace {

constexpr std::uint32_t kKey = 0;
// Frames differ for longer than any window, and are made before the clock runs.
constexpr std::size_t kFrameCount = 4096;
constexpr std::size_t kEventsBetweenReadings = 16;

std::vector<float> random_frames(std::size_t features, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> frames(kFrameCount * features);
  for (float& value : frames) value = normal(random);
  return frames;
}

class StreamLoop {
 public:
  StreamLoop(WindowStream& stream, std::size_t features, std::size_t outputs, std::uint64_t seed)
      : stream_(stream),
        features_(features),
        frames_(random_frames(features, seed)),
        output_(outputs) {}

  // False: the event's window was not scored, as there were too few frames before it.
  bool event() noexcept {
    const std::size_t at = frame_++ % kFrameCount * features_;
    stream_.push(kKey, std::span(frames_).subspan(at, features_));
    const bool scored = stream_.score(kKey, output_);
    while (stream_.work_ahead()) {
    }
    return scored;
  }

 private:
  WindowStream& stream_;
  std::size_t features_;
  std::vector<float> frames_;
  std::vector<float> output_;
  std::size_t frame_ = 0;
};

}  // namespace

Result<StreamProbe> probe_stream(Engine& engine, const BenchModel& model,
                                 const StreamProbeOptions& options, const Clock& clock) {
  const SessionOptions session{.activation_scales = model.activation_scales, .steps = model.steps};
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<WindowStream> stream,
                          engine.load_stream(model.onnx_path, session));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Session> whole,
                          engine.load(model.onnx_path, session));
  TOCSIN_ASSIGN_OR_RETURN(const BatchTensors tensors,
                          BatchTensors::make(whole->signature(), 1, model.steps));
  const TensorView& window = tensors.inputs().front();
  const auto features = static_cast<std::size_t>(window.shape.back());
  const auto steps = static_cast<std::size_t>(window.shape[window.shape.size() - 2]);
  TOCSIN_RETURN_IF_ERROR(stream->add_key(kKey));
  StreamLoop loop(*stream, features, tensors.outputs().front().size_bytes / sizeof(float),
                  options.seed);
  for (std::size_t i = 1; i < steps; ++i) loop.event();
  if (!loop.event())
    return Error(ErrorCode::kInternal, "a whole window of frames was taken in and not scored");
  StreamProbe probe{stream->last_step_share(), stream->bytes_per_key(), 0};
  const std::int64_t start_ns = clock.monotonic_time_ns();
  std::int64_t elapsed_ns = 0;
  std::size_t count = 0;
  do {
    for (std::size_t i = 0; i < kEventsBetweenReadings; ++i) loop.event();
    count += kEventsBetweenReadings;
    elapsed_ns = clock.monotonic_time_ns() - start_ns;
  } while (elapsed_ns < options.duration_ns);
  probe.events_per_s_max = static_cast<double>(count) * 1e9 / static_cast<double>(elapsed_ns);
  return probe;
}

}  // namespace tocsin
