// Errors where they matter: real windows seldom lie at a threshold, so blends of them are searched
// that do.
#include "scoring/guard_calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/assert.h"
#include "scoring/window_batch.h"

namespace tocsin {
namespace {

constexpr std::size_t kPairCount = 256;
constexpr std::uint64_t kPairSeed = 1;
constexpr int kBisectionSteps = 20;  // of a blend's share: 2^-20 of the way between two windows
constexpr std::size_t kChunkWindows = 512;  // scored between two reports of progress

struct Blend {
  std::span<const float> below;
  std::span<const float> above;
  float low = 0;  // shares of `above` whose scores lie below the threshold, and at it or above
  float high = 1;
};

void write_blend(const Blend& blend, float share, std::span<float> window) {
  for (std::size_t i = 0; i < window.size(); ++i)
    window[i] = blend.below[i] + share * (blend.above[i] - blend.below[i]);
}

// Keeps the largest difference between the two sessions.
class ErrorMeter {
 public:
  static Result<ErrorMeter> load(const ModelPackage& package, const PackagePrecision& precision,
                                 Engine& engine, std::int64_t steps) {
    TOCSIN_ASSIGN_OR_RETURN(WindowBatch low, WindowBatch::load(package, engine, steps, &precision));
    TOCSIN_ASSIGN_OR_RETURN(WindowBatch full, WindowBatch::load(package, engine, steps, nullptr));
    return ErrorMeter(std::move(low), std::move(full));
  }

  // The FP32 scores.
  Result<std::vector<float>> measure(std::span<const float> windows) {
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> low, low_.score(windows));
    TOCSIN_ASSIGN_OR_RETURN(std::vector<float> full, full_.score(windows));
    for (std::size_t i = 0; i < full.size(); ++i)
      worst_ = std::max(worst_, std::abs(low[i] - full[i]));
    return full;
  }
  WindowBatch& full() noexcept { return full_; }
  float worst() const noexcept { return worst_; }

 private:
  ErrorMeter(WindowBatch low, WindowBatch full) : low_(std::move(low)), full_(std::move(full)) {}

  WindowBatch low_;
  WindowBatch full_;
  float worst_ = 0;
};

}  // namespace

Result<std::vector<float>> windows_at_threshold(WindowBatch& full, std::span<const float> windows,
                                                std::span<const float> scores, float threshold,
                                                const BlendSearch& search) {
  const std::size_t width = full.window_floats();
  TOCSIN_ASSERT(windows.size() == scores.size() * width);
  std::vector<std::size_t> below;
  std::vector<std::size_t> above;
  for (std::size_t i = 0; i < scores.size(); ++i)
    (scores[i] < threshold ? below : above).push_back(i);
  if (below.empty() || above.empty()) return std::vector<float>();
  std::mt19937_64 random(search.seed);
  std::vector<Blend> blends(search.pair_count);
  for (Blend& blend : blends) {
    blend.below = windows.subspan(below[random() % below.size()] * width, width);
    blend.above = windows.subspan(above[random() % above.size()] * width, width);
  }
  std::vector<float> found(blends.size() * width);
  for (int step = 0; step <= kBisectionSteps; ++step) {
    for (std::size_t i = 0; i < blends.size(); ++i)
      write_blend(blends[i], 0.5F * (blends[i].low + blends[i].high),
                  std::span(found).subspan(i * width, width));
    if (step == kBisectionSteps) break;
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> middle, full.score(found));
    for (std::size_t i = 0; i < blends.size(); ++i) {
      const float share = 0.5F * (blends[i].low + blends[i].high);
      (middle[i] < threshold ? blends[i].low : blends[i].high) = share;
    }
  }
  return found;
}

Result<GuardBand> measure_guard_band(const ModelPackage& package, const PackagePrecision& precision,
                                     Engine& engine, std::span<const float> windows,
                                     const std::function<void(double share)>& on_progress) {
  TOCSIN_ASSIGN_OR_RETURN(ErrorMeter meter,
                          ErrorMeter::load(package, precision, engine, package.steps));
  const std::size_t chunk_floats = kChunkWindows * meter.full().window_floats();
  std::vector<float> scores;
  for (std::size_t first = 0; first < windows.size(); first += chunk_floats) {
    const std::size_t size = std::min(chunk_floats, windows.size() - first);
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> part,
                            meter.measure(windows.subspan(first, size)));
    scores.insert(scores.end(), part.begin(), part.end());
    if (on_progress)
      on_progress(0.5 * static_cast<double>(first + size) / static_cast<double>(windows.size()));
  }
  for (const float threshold : {package.threshold, package.release_threshold}) {
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> searched,
                            windows_at_threshold(meter.full(), windows, scores, threshold,
                                                 {.pair_count = kPairCount, .seed = kPairSeed}));
    TOCSIN_RETURN_IF_ERROR(meter.measure(searched));
  }
  float worst = meter.worst();
  for (const ModelSamples& samples : package.samples) {
    TOCSIN_ASSIGN_OR_RETURN(ErrorMeter other,
                            ErrorMeter::load(package, precision, engine, samples.steps));
    TOCSIN_RETURN_IF_ERROR(other.measure(samples.inputs.values));
    worst = std::max(worst, other.worst());
  }
  if (on_progress) on_progress(1.0);
  GuardBand band;
  // Where no difference was seen, scores are still only as fine as floats below 1.
  band.width = std::clamp(kGuardMargin * worst, std::numeric_limits<float>::epsilon(), 1.0F);
  band.worst_error = worst;
  band.confidence = kGuardConfidence;
  band.sample_count = static_cast<std::int64_t>(scores.size());
  band.quantile = std::pow(1.0 - kGuardConfidence, 1.0 / static_cast<double>(scores.size()));
  return band;
}

}  // namespace tocsin
