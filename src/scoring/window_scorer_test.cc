#include "scoring/window_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/allocation_counter.h"
#include "support/catalogue_package.h"
#include "support/scripted_engine.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSteps = 30;

class WindowScorerTest : public testing::Test {
 protected:
  static ModelSignature signature() {
    return {.inputs = {{"x", DataType::kFloat32, {-1, -1, 3}}},
            .outputs = {{"p", DataType::kFloat32, {-1, 1}}}};
  }

  // A scorer over the script; what the script says while samples are checked is not asked.
  WindowScorer scripted(const SessionScript& script, const WindowScorerOptions& options = {}) {
    ScriptedEngine engine(signature(),
                          [this, script](std::span<const float> input, std::span<float> output) {
                            if (loaded_) return script(input, output);
                            output[0] = package_.samples[0].outputs.values[sample_++];
                            return true;
                          });
    auto model = load_model(package_, engine, {.steps = static_cast<std::int64_t>(kSteps)});
    if (!model.ok()) throw std::runtime_error(model.error().message());
    loaded_ = true;
    return WindowScorer(std::move(*model), options);
  }

  WindowScorer real(std::int64_t steps) {
    auto engine = make_engine("onnxruntime");
    if (!engine.ok()) throw std::runtime_error(engine.error().message());
    auto model = load_model(package_, **engine, {.steps = steps});
    if (!model.ok()) throw std::runtime_error(model.error().message());
    return WindowScorer(std::move(*model));
  }

  FeatureFrame random_frame() {
    FeatureFrame frame;
    frame.feature_count = 3;
    frame.position.record = ++record_;
    for (std::size_t i = 0; i < 3; ++i) frame.values[i] = normal_(random_);
    return frame;
  }

  static void fill(WindowScorer& scorer, InstrumentId key, FeatureFrame frame) {
    ASSERT_TRUE(scorer.add_key(key).ok());
    for (std::size_t i = 0; i < kSteps; ++i) {
      frame.position.record = 100 + i;
      scorer.push(key, frame);
    }
  }

  const TestPackage files_{with_catalogue_features({})};
  const ModelPackage package_ = load_test_package(files_);
  bool loaded_ = false;
  std::size_t sample_ = 0;
  std::uint64_t record_ = 0;
  std::mt19937_64 random_{20261130};
  std::normal_distribution<float> normal_;
};

TEST_F(WindowScorerTest, ScoresOnlyFullWindows) {
  WindowScorer scorer = scripted([](auto, std::span<float> output) {
    output[0] = 0.5F;
    return true;
  });
  ASSERT_TRUE(scorer.add_key(0).ok());
  float score = -1;
  for (std::size_t i = 1; i < kSteps; ++i) {
    scorer.push(0, random_frame());
    ASSERT_EQ(scorer.score(0, score), ScoreStatus::kWindowNotFull);
  }
  EXPECT_EQ(score, -1.0F);
  scorer.push(0, random_frame());
  EXPECT_EQ(scorer.score(0, score), ScoreStatus::kScored);
  EXPECT_EQ(score, 0.5F);
  scorer.reset(0);
  EXPECT_EQ(scorer.score(0, score), ScoreStatus::kWindowNotFull);
  EXPECT_EQ(scorer.counters().frames, kSteps);
  EXPECT_EQ(scorer.counters().windows_scored, 1U);
}

// The whole way through normaliser, ring and engine: samples, turned back into raw values and
// pushed frame by frame, give the outputs that PyTorch computed for them.
TEST_F(WindowScorerTest, SamplesPushedFrameByFrameGiveTheirOutputs) {
  for (const ModelSamples& samples : package_.samples) {
    WindowScorer scorer = real(samples.steps);
    const auto window_floats = static_cast<std::size_t>(samples.steps) * 3;
    const std::size_t sample_count = samples.outputs.values.size();
    for (InstrumentId key = 0; key < sample_count; ++key) {
      ASSERT_TRUE(scorer.add_key(key).ok());
      // Frames of an earlier window first: the ring has gone round when the sample is complete.
      for (int i = 0; i < 17; ++i) scorer.push(key, random_frame());
      for (std::size_t at = 0; at < window_floats; at += 3) {
        FeatureFrame frame = random_frame();
        for (std::size_t i = 0; i < 3; ++i) {
          frame.values[i] = samples.inputs.values[key * window_floats + at + i] /
                                package_.normalisation_scale[i] +
                            package_.normalisation_mean[i];
        }
        scorer.push(key, frame);
      }
      float score = 0;
      ASSERT_EQ(scorer.score(key, score), ScoreStatus::kScored);
      EXPECT_NEAR(score, samples.outputs.values[key], 1e-5F) << samples.steps << " steps";
    }
  }
}

TEST_F(WindowScorerTest, KeysDoNotMeet) {
  WindowScorer scorer = scripted([](std::span<const float> input, std::span<float> output) {
    output[0] = input.back();
    return true;
  });
  for (const InstrumentId key : {7U, 2U}) ASSERT_TRUE(scorer.add_key(key).ok());
  FeatureFrame a, b;
  for (std::size_t i = 0; i < kSteps; ++i) scorer.push(2, a = random_frame());
  float score = 0;
  EXPECT_EQ(scorer.score(7, score), ScoreStatus::kWindowNotFull);
  for (std::size_t i = 0; i < kSteps; ++i) scorer.push(7, b = random_frame());
  ASSERT_EQ(scorer.score(2, score), ScoreStatus::kScored);
  EXPECT_EQ(score, (a.values[2] - 2.0F) * 0.25F);
  ASSERT_EQ(scorer.score(7, score), ScoreStatus::kScored);
  EXPECT_EQ(score, (b.values[2] - 2.0F) * 0.25F);
}

TEST_F(WindowScorerTest, AGapEmptiesTheWindowAndIsCounted) {
  WindowScorer scorer = scripted([](auto, std::span<float> output) {
    output[0] = 0.5F;
    return true;
  });
  fill(scorer, 0, random_frame());
  FeatureFrame frame = random_frame();
  frame.quality |= Quality::kGap;
  scorer.push(0, frame);
  float score = 0;
  EXPECT_EQ(scorer.score(0, score), ScoreStatus::kWindowNotFull);
  EXPECT_EQ(scorer.counters().gaps, 1U);
  EXPECT_EQ(scorer.first_position(0).record, frame.position.record);
}

TEST_F(WindowScorerTest, ValuesThatAreNoNumbersAreCounted) {
  WindowScorer scorer = scripted([](std::span<const float> input, std::span<float> output) {
    output[0] = input.back();
    return true;
  });
  FeatureFrame frame = random_frame();
  frame.values[2] = std::numeric_limits<float>::quiet_NaN();
  fill(scorer, 0, frame);
  float score = 1;
  EXPECT_EQ(scorer.score(0, score), ScoreStatus::kScored);
  EXPECT_EQ(score, 0.0F);
  EXPECT_EQ(scorer.counters().values_replaced, kSteps);
}

TEST_F(WindowScorerTest, AFailureIsCountedCapturedAndReplayed) {
  bool fails = true;
  WindowScorer scorer = scripted([&](auto, std::span<float> output) {
    output[0] = 0.25F;
    return !fails;
  });
  FeatureFrame frame = random_frame();
  frame.values[1] = std::numeric_limits<float>::infinity();
  fill(scorer, 5, frame);
  float score = -1;
  ASSERT_EQ(scorer.score(5, score), ScoreStatus::kFailed);
  EXPECT_EQ(score, -1.0F);
  EXPECT_EQ(scorer.counters().failures, 1U);

  const FailureCapsule capsule = scorer.capture_failure(5);
  EXPECT_EQ(capsule.model_name, "test_model");
  EXPECT_EQ(capsule.model_version, "3");
  EXPECT_EQ(capsule.package_seal, package_.seal);
  EXPECT_EQ(capsule.engine, "scripted");
  EXPECT_EQ(capsule.instrument, 5U);
  EXPECT_EQ(capsule.first_position.record, 100U);
  EXPECT_EQ(capsule.last_position.record, 100U + kSteps - 1);
  EXPECT_EQ(capsule.error, "the script says no");
  ASSERT_EQ(capsule.raw_window.size(), kSteps * 3);
  EXPECT_TRUE(std::isinf(capsule.raw_window[1]));

  auto replay = scorer.replay(capsule);
  ASSERT_TRUE(replay.ok()) << replay.error().message();
  EXPECT_TRUE(replay->fails);
  EXPECT_EQ(replay->error, "the script says no");
  fails = false;
  replay = scorer.replay(capsule);
  ASSERT_TRUE(replay.ok());
  EXPECT_FALSE(replay->fails);
  EXPECT_EQ(replay->score, 0.25F);
  EXPECT_EQ(scorer.counters().failures, 1U);
}

TEST_F(WindowScorerTest, OutputThatIsNoNumberIsAFailure) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    loaded_ = false;
    sample_ = 0;
    WindowScorer scorer = scripted([&](auto, std::span<float> output) {
      output[0] = bad;
      return true;
    });
    fill(scorer, 0, random_frame());
    float score = -1;
    EXPECT_EQ(scorer.score(0, score), ScoreStatus::kFailed);
    EXPECT_EQ(score, -1.0F);
    EXPECT_THAT(scorer.capture_failure(0).error, HasSubstr("output 0 is"));
  }
}

TEST_F(WindowScorerTest, ReplayNeedsTheSamePackageAndLength) {
  WindowScorer scorer = scripted([](auto, auto) { return false; });
  fill(scorer, 0, random_frame());
  float score = 0;
  ASSERT_EQ(scorer.score(0, score), ScoreStatus::kFailed);
  FailureCapsule capsule = scorer.capture_failure(0);
  capsule.package_seal[0] ^= 1;
  EXPECT_THAT(scorer.replay(capsule).error().message(), HasSubstr("loaded is test_model/3"));
  capsule = scorer.capture_failure(0);
  capsule.steps = 10;
  EXPECT_THAT(scorer.replay(capsule).error().message(), HasSubstr("loaded for 30 x 3"));
}

TEST_F(WindowScorerTest, HasRoomForAStatedNumberOfKeys) {
  WindowScorer scorer = scripted([](auto, auto) { return true; }, {.key_count_max = 2});
  EXPECT_TRUE(scorer.add_key(1).ok());
  EXPECT_TRUE(scorer.add_key(1).ok());
  EXPECT_EQ(scorer.add_key(2).error().code(), ErrorCode::kResourceExhausted);
}

TEST_F(WindowScorerTest, PushScoreAndHashAllocateNothing) {
  WindowScorer scorer = scripted([](std::span<const float> input, std::span<float> output) {
    output[0] = input[0];
    return true;
  });
  fill(scorer, 0, random_frame());
  const FeatureFrame frame = random_frame();
  float score = 0;
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 1000; ++i) {
    scorer.push(0, frame);
    ASSERT_EQ(scorer.score(0, score), ScoreStatus::kScored);
    ASSERT_NE(scorer.raw_hash(0), 0U);
  }
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
