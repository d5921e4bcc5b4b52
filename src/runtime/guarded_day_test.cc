// A whole real day in INT8: with the guard band every decision is FP32's, and without it some are
// not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "runtime/quantizer.h"
#include "runtime/run_config.h"
#include "runtime/window_feed.h"
#include "scoring/guard_calibration.h"
#include "scoring/guarded_scorer.h"
#include "scoring/window_batch.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 2026;

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

std::size_t flips(float a, float b, const DecisionThresholds& thresholds) {
  return static_cast<std::size_t>((a >= thresholds.alert) != (b >= thresholds.alert)) +
         static_cast<std::size_t>((a < thresholds.release) != (b < thresholds.release));
}

class GuardedDayTest : public testing::Test {
 protected:
  GuardedDayTest()
      : engine_(must(make_engine("native"))),
        config_(must(read_run_config(tocsin_source_path("config/btcusdt.yaml")))),
        package_(must(load_model_package(tocsin_source_path("models/btcusdt_burst_lstm/1")))),
        thresholds_{package_.threshold, package_.release_threshold} {}

  // The package in INT8, measured over 1,000 windows of the day.
  ModelPackage quantised() {
    samples_ = must(sample_windows(config_.source, package_, 1'000, clock_, {}));
    ModelPackage package = package_;
    package.precision = must(measure_precision(package_, *engine_, samples_, {}, {}));
    return package;
  }
  std::unique_ptr<Scorer> scorer_of(const ModelPackage& package, bool full_precision) {
    return make_scorer(must(load_model(package, *engine_, {.full_precision = full_precision})),
                       thresholds_);
  }

  SystemClock clock_;
  std::unique_ptr<Engine> engine_;
  RunConfig config_;
  ModelPackage package_;
  DecisionThresholds thresholds_;
  SampleWindows samples_;
};

TEST_F(GuardedDayTest, NoDecisionOfTheDayDiffersFromFp32) {
  const ModelPackage package = quantised();
  const auto full = scorer_of(package, true);
  const auto guarded = scorer_of(package, false);
  LoadedModel low_model = must(load_model(package, *engine_, {}));
  low_model.full_session = nullptr;
  const auto low = make_scorer(std::move(low_model), thresholds_);
  std::size_t without = 0;
  std::size_t with = 0;
  std::size_t windows = 0;
  float worst = 0;
  const Status visited = visit_windows(
      config_.source, package, clock_,
      [&](const FeatureFrame& frame, const Instrument&, std::span<const float> window) {
        float scores[3] = {-1, -1, -1};
        std::size_t i = 0;
        for (Scorer* scorer : {full.get(), guarded.get(), low.get()}) {
          ASSERT_TRUE(scorer->add_key(frame.instrument).ok());
          scorer->push(frame.instrument, frame);
          ASSERT_EQ(scorer->score(frame.instrument, scores[i++]) == ScoreStatus::kScored,
                    !window.empty());
          while (scorer->work_ahead()) {
          }
        }
        if (window.empty()) return;
        ++windows;
        with += flips(scores[0], scores[1], thresholds_);
        without += flips(scores[0], scores[2], thresholds_);
        worst = std::max(worst, std::abs(scores[0] - scores[2]));
      },
      {});
  ASSERT_TRUE(visited.ok()) << visited.error().message();
  std::printf(
      "%zu windows: %zu flips with the band, %zu without; worst error %g, band %g; %.2f %% "
      "scored again\n",
      windows, with, without, static_cast<double>(worst),
      static_cast<double>(package.precision->band.width),
      100.0 * static_cast<double>(guarded->counters().rescored) / static_cast<double>(windows));
  EXPECT_GT(windows, 25'000U);
  EXPECT_EQ(with, 0U);
  EXPECT_GT(without, 0U);
  EXPECT_GE(guarded->counters().rescored, without);
  EXPECT_LT(guarded->counters().rescored, windows / 10);
}

TEST_F(GuardedDayTest, NoInputSearchedToLieAtAThresholdDecidesOtherwise) {
  const ModelPackage package = quantised();
  WindowBatch full = must(WindowBatch::load(package, *engine_, package.steps, nullptr));
  WindowBatch low = must(WindowBatch::load(package, *engine_, package.steps, &*package.precision));
  const std::vector<float> scores = must(full.score(samples_.values));
  std::size_t without = 0;
  std::size_t with = 0;
  std::size_t count = 0;
  for (const float threshold : {thresholds_.alert, thresholds_.release}) {
    const std::vector<float> searched = must(windows_at_threshold(
        full, samples_.values, scores, threshold, {.pair_count = 500, .seed = kSeed}));
    const std::vector<float> exact = must(full.score(searched));
    const std::vector<float> found = must(low.score(searched));
    for (std::size_t i = 0; i < exact.size(); ++i, ++count) {
      ASSERT_NEAR(exact[i], threshold, 1e-4F);
      without += flips(exact[i], found[i], thresholds_);
      const bool again = is_within_band(found[i], package.precision->band.width, thresholds_);
      with += flips(exact[i], again ? exact[i] : found[i], thresholds_);
    }
  }
  std::printf("%zu windows at the thresholds, seed %llu: %zu flips with the band, %zu without\n",
              count, static_cast<unsigned long long>(kSeed), with, without);
  EXPECT_EQ(count, 1'000U);
  EXPECT_EQ(with, 0U);
  EXPECT_GT(without, 100U);
}

}  // namespace
}  // namespace tocsin
