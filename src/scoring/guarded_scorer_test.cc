// Decisions in guarded low precision against FP32's, where they are nearest to tipping over.
#include "scoring/guarded_scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/allocation_counter.h"
#include "engines/calibration.h"
#include "scoring/guard_calibration.h"
#include "scoring/window_batch.h"
#include "support/catalogue_package.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 1205;
constexpr std::int64_t kSteps = 60;
constexpr std::size_t kFeatures = 3;
constexpr std::size_t kWindowFloats = kSteps * kFeatures;

std::vector<float> random_windows(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> windows(count * kWindowFloats);
  for (std::size_t window = 0; window < count; ++window) {
    const float level = normal(random);  // windows differ as a whole, so that scores spread
    for (std::size_t i = 0; i < kWindowFloats; ++i)
      windows[window * kWindowFloats + i] = level + normal(random);
  }
  return windows;
}

class GuardedScorerTest : public testing::Test {
 protected:
  GuardedScorerTest() : package_(load_test_package(files_)) {
    auto engine = make_engine("native");
    if (!engine.ok()) throw std::runtime_error(engine.error().message());
    engine_ = std::move(*engine);
    // Thresholds where scores are.
    auto full = WindowBatch::load(package_, *engine_, kSteps, nullptr);
    scores_ = *full->score(windows_);
    std::vector<float> sorted = scores_;
    std::ranges::sort(sorted);
    package_.threshold = sorted[sorted.size() * 9 / 10];
    package_.release_threshold = sorted[sorted.size() * 8 / 10];
    thresholds_ = {package_.threshold, package_.release_threshold};
  }

  // The package in that precision, calibrated and with its band.
  ModelPackage package_in(const std::string& name) {
    ModelPackage package = package_;
    PackagePrecision precision;
    precision.name = name;
    if (name == "int8")
      precision.activation_scales =
          *calibrate(package.onnx_path, windows_,
                     {.steps = kSteps, .feature_count = static_cast<std::int64_t>(kFeatures)});
    precision.band = *measure_guard_band(package, precision, *engine_, windows_);
    package.precision = precision;
    return package;
  }
  std::unique_ptr<Scorer> scorer_with(const ModelPackage& package, LoadOptions options) {
    options.steps = kSteps;
    auto model = load_model(package, *engine_, options);
    if (!model.ok()) throw std::runtime_error(model.error().message());
    return make_scorer(std::move(*model), thresholds_);
  }
  std::unique_ptr<Scorer> scorer_in(const ModelPackage& package, bool full_precision,
                                    bool ahead = true) {
    return scorer_with(package, {.ahead = ahead, .full_precision = full_precision});
  }
  // Frames that the normaliser turns into the window's rows, as nearly as floats allow.
  FeatureFrame frame_of(std::span<const float> row) const {
    FeatureFrame frame;
    frame.feature_count = kFeatures;
    for (std::size_t i = 0; i < kFeatures; ++i)
      frame.values[i] = row[i] / package_.normalisation_scale[i] + package_.normalisation_mean[i];
    return frame;
  }
  float score_of(Scorer& scorer, std::span<const float> window) const {
    scorer.reset(0);
    for (std::size_t at = 0; at < window.size(); at += kFeatures)
      scorer.push(0, frame_of(window.subspan(at, kFeatures)));
    float score = -1;
    EXPECT_EQ(scorer.score(0, score), ScoreStatus::kScored);
    return score;
  }
  static std::size_t flips(float a, float b, const DecisionThresholds& thresholds) {
    return static_cast<std::size_t>((a >= thresholds.alert) != (b >= thresholds.alert)) +
           static_cast<std::size_t>((a >= thresholds.release) != (b >= thresholds.release));
  }

  const TestPackage files_{with_catalogue_features({})};
  ModelPackage package_;
  std::unique_ptr<Engine> engine_;
  const std::vector<float> windows_ = random_windows(1'500, kSeed);
  std::vector<float> scores_;
  DecisionThresholds thresholds_;
};

TEST(GuardBandTest, IsClosedAndAroundBothThresholds) {
  const DecisionThresholds thresholds{.alert = 0.5F, .release = 0.25F};
  EXPECT_TRUE(is_within_band(0.5F, 0.125F, thresholds));
  EXPECT_TRUE(is_within_band(0.625F, 0.125F, thresholds));
  EXPECT_TRUE(is_within_band(0.125F, 0.125F, thresholds));
  EXPECT_FALSE(is_within_band(0.6251F, 0.125F, thresholds));
  EXPECT_FALSE(is_within_band(0.1249F, 0.125F, thresholds));
}

TEST_F(GuardedScorerTest, DecidesLikeFp32OnInputsSearchedToLieAtTheThresholds) {
  auto full_batch = WindowBatch::load(package_, *engine_, kSteps, nullptr);
  ASSERT_TRUE(full_batch.ok());
  for (const std::string name : {"bfloat16", "float16", "int8"}) {
    const ModelPackage package = package_in(name);
    auto full = scorer_in(package, true);
    auto guarded = scorer_in(package, false);
    auto low_batch = WindowBatch::load(package, *engine_, kSteps, &*package.precision);
    ASSERT_TRUE(low_batch.ok());
    for (Scorer* scorer : {full.get(), guarded.get()}) ASSERT_TRUE(scorer->add_key(0).ok());
    std::size_t without = 0;
    std::size_t count = 0;
    for (const float threshold : {thresholds_.alert, thresholds_.release}) {
      // Other pairs than those that the band was measured with.
      const auto searched = windows_at_threshold(*full_batch, windows_, scores_, threshold,
                                                 {.pair_count = 400, .seed = kSeed});
      ASSERT_TRUE(searched.ok());
      ASSERT_EQ(searched->size(), 400 * kWindowFloats);
      const std::vector<float> low = *low_batch->score(*searched);
      const std::vector<float> exact = *full_batch->score(*searched);
      for (std::size_t i = 0; i < low.size(); ++i, ++count) {
        ASSERT_NEAR(exact[i], threshold, 1e-3F);
        without += flips(low[i], exact[i], thresholds_);
        const auto window = std::span(*searched).subspan(i * kWindowFloats, kWindowFloats);
        ASSERT_EQ(flips(score_of(*guarded, window), score_of(*full, window), thresholds_), 0U)
            << name << ", window " << i << " of seed " << kSeed;
      }
    }
    std::printf("%s: band %g, %zu of %zu searched windows flip without it, %llu scored again\n",
                name.c_str(), static_cast<double>(package.precision->band.width), without, count,
                static_cast<unsigned long long>(guarded->counters().rescored));
    EXPECT_GT(without, 0U) << name;
    EXPECT_GE(guarded->counters().rescored, without);
    EXPECT_EQ(guarded->counters().windows_scored, count);
  }
}

TEST_F(GuardedScorerTest, WholeWindowsGiveTheBitsOfWindowsWorkedAhead) {
  const ModelPackage package = package_in("int8");
  auto ahead = scorer_in(package, false);
  auto whole = scorer_in(package, false, false);
  auto full = scorer_in(package, true, false);
  for (Scorer* scorer : {ahead.get(), whole.get(), full.get()})
    ASSERT_TRUE(scorer->add_key(0).ok());
  std::size_t low_count = 0;
  for (std::size_t at = 0; at < 3'000 * kFeatures; at += kFeatures) {
    const FeatureFrame frame = frame_of(std::span(windows_).subspan(at, kFeatures));
    float a = -1, w = -1, f = -1;
    for (Scorer* scorer : {ahead.get(), whole.get(), full.get()}) scorer->push(0, frame);
    const ScoreStatus status = ahead->score(0, a);
    ASSERT_EQ(status, whole->score(0, w));
    ASSERT_EQ(status, full->score(0, f));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(w)) << at;
    ASSERT_TRUE(!is_within_band(f, 0, thresholds_) || a == f);
    low_count += a != f ? 1 : 0;
    while (ahead->work_ahead()) {
    }
  }
  EXPECT_GT(low_count, 1'000U);  // most scores are of low precision
  EXPECT_GT(ahead->counters().rescored, 0U);
  EXPECT_EQ(ahead->counters().rescored, whole->counters().rescored);
}

// Frames of two keys with gaps, resets, frames that nobody asks the score of and idle time that is
// now long and now short.
TEST_F(GuardedScorerTest, AnFp32StreamBesideGivesTheBitsOfWholeWindows) {
  const ModelPackage package = package_in("int8");
  auto whole = scorer_in(package, false, false);
  auto stream = scorer_with(package, {.full_ahead = true});
  std::array<std::size_t, 2> at{0, kWindowFloats};
  for (Scorer* scorer : {whole.get(), stream.get()})
    for (InstrumentId key = 0; key < 2; ++key) ASSERT_TRUE(scorer->add_key(key).ok());
  std::mt19937_64 random(kSeed);
  const auto one_in = [&random](std::uint64_t count) { return random() % count == 0; };
  for (int event = 0; event < 12'000; ++event) {
    const auto key = static_cast<InstrumentId>(random() % 2);
    if (one_in(2'000)) {
      whole->reset(key);
      stream->reset(key);
    }
    FeatureFrame frame = frame_of(std::span(windows_).subspan(at[key], kFeatures));
    at[key] = (at[key] + kFeatures) % (windows_.size() - kFeatures);
    if (one_in(1'000)) frame.quality |= Quality::kGap;
    whole->push(key, frame);
    stream->push(key, frame);
    if (!one_in(10)) {
      float w = -1, s = -1;
      ASSERT_EQ(whole->score(key, w), stream->score(key, s));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(w), std::bit_cast<std::uint32_t>(s))
          << "event " << event << " of seed " << kSeed;
    }
    if (!one_in(10)) stream->settle(key);
    for (std::uint64_t i = random() % 5; i > 0; --i) stream->work_ahead();
  }
  EXPECT_GT(stream->counters().rescored, 100U);
  EXPECT_EQ(stream->counters().rescored, whole->counters().rescored);
  EXPECT_EQ(stream->counters().windows_scored, whole->counters().windows_scored);
}

TEST_F(GuardedScorerTest, AnFp32StreamIsRefusedWhereThereIsNone) {
  const ModelPackage package = package_in("int8");
  const auto reference = make_engine("reference");
  ASSERT_TRUE(reference.ok());
  const auto model = load_model(package, **reference, {.steps = kSteps, .full_ahead = true});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code(), ErrorCode::kUnimplemented);
  EXPECT_NE(model.error().message().find("float32 windows cannot be worked ahead: "),
            std::string::npos)
      << model.error().message();
}

TEST_F(GuardedScorerTest, AllocatesNothing) {
  const ModelPackage package = package_in("int8");
  for (const bool full_ahead : {false, true}) {
    auto scorer = scorer_with(package, {.full_ahead = full_ahead});
    ASSERT_TRUE(scorer->add_key(0).ok());
    for (std::size_t at = 0; at < kWindowFloats; at += kFeatures)
      scorer->push(0, frame_of(std::span(windows_).subspan(at, kFeatures)));
    const std::uint64_t before = allocation_count();
    float score = 0;
    for (std::size_t at = 0; at < 2'000 * kFeatures; at += kFeatures) {
      scorer->push(0, frame_of(std::span(windows_).subspan(at, kFeatures)));
      ASSERT_EQ(scorer->score(0, score), ScoreStatus::kScored);
      scorer->settle(0);
    }
    EXPECT_EQ(allocation_count(), before);
    EXPECT_GT(scorer->counters().rescored, 0U);
  }
}

TEST_F(GuardedScorerTest, APackageInLowPrecisionCanBeRunInFp32) {
  const ModelPackage package = package_in("int8");
  const auto low = load_model(package, *engine_, {.steps = kSteps});
  const auto full = load_model(package, *engine_, {.steps = kSteps, .full_precision = true});
  ASSERT_TRUE(low.ok() && full.ok());
  EXPECT_EQ(low->precision, Precision::kInt8);
  EXPECT_NE(low->full_session, nullptr);
  EXPECT_GT(low->session->weight_bytes(), 0U);
  EXPECT_EQ(full->precision, Precision::kFloat32);
  EXPECT_EQ(full->full_session, nullptr);
  EXPECT_LT(full->worst_sample_error, low->worst_sample_error);
}

TEST_F(GuardedScorerTest, SamplesOutsideTheBandAreRefused) {
  ModelPackage package = package_in("int8");
  package.precision->band.width = 1e-7F;
  const auto model = load_model(package, *engine_, {.steps = kSteps});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message().find("int8: sample"), std::string::npos)
      << model.error().message();
}

}  // namespace
}  // namespace tocsin
