// Scores worked ahead against whole windows: bits, per key, over gaps, resets and busy times.
#include "scoring/ahead_scorer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <stdexcept>

#include "scoring/guarded_scorer.h"
#include "support/catalogue_package.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 1201;

class AheadScorerTest : public testing::Test {
 protected:
  LoadedModel load(bool ahead, bool carried = false) const {
    auto engine = make_engine("native");
    if (!engine.ok()) throw std::runtime_error(engine.error().message());
    ModelPackage package = package_;
    package.carried = carried;
    auto model = load_model(std::move(package), **engine, {.steps = 30, .ahead = ahead});
    if (!model.ok()) throw std::runtime_error(model.error().message());
    return std::move(*model);
  }

  const TestPackage files_{with_catalogue_features({})};
  const ModelPackage package_ = load_test_package(files_);
};

TEST_F(AheadScorerTest, AStreamIsUsedWhereTheModelHasOne) {
  EXPECT_NE(dynamic_cast<AheadScorer*>(make_scorer(load(true), {0.75F, 0.5F}).get()), nullptr);
  EXPECT_NE(dynamic_cast<WindowScorer*>(make_scorer(load(false), {0.75F, 0.5F}).get()), nullptr);
}

TEST_F(AheadScorerTest, GivesTheBitsOfWholeWindowsForEachOfManyKeys) {
  constexpr InstrumentId kKeys = 40;
  AheadScorer ahead(load(true));
  WindowScorer whole(load(false));
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  for (InstrumentId key = 0; key < kKeys; ++key) {
    ASSERT_TRUE(ahead.add_key(key).ok());
    ASSERT_TRUE(whole.add_key(key).ok());
  }
  for (std::uint64_t event = 0; event < 30'000; ++event) {
    const auto key = static_cast<InstrumentId>(random() % kKeys);
    FeatureFrame frame;
    frame.feature_count = 3;
    frame.position.record = event + 1;
    for (std::size_t i = 0; i < 3; ++i) frame.values[i] = normal(random);
    if (random() % 500 == 0) frame.values[1] = std::nanf("");
    if (random() % 400 == 0) frame.quality |= Quality::kGap;
    if (random() % 900 == 0) {
      ahead.reset(key);
      whole.reset(key);
    }
    ahead.push(key, frame);
    whole.push(key, frame);
    const bool is_rushed = event / 3'000 % 3 == 2;
    if (!is_rushed || random() % 6 == 0) {
      float a = -1;
      float w = -1;
      const ScoreStatus status = ahead.score(key, a);
      ASSERT_EQ(status, whole.score(key, w));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(w))
          << "event " << event << " of seed " << kSeed;
      EXPECT_EQ(ahead.first_position(key).record, whole.first_position(key).record);
    }
    for (std::uint64_t turns = is_rushed ? 0 : random() % 4; turns > 0; --turns) ahead.work_ahead();
  }
  EXPECT_EQ(ahead.counters().windows_scored, whole.counters().windows_scored);
  EXPECT_GT(ahead.counters().windows_scored, 5'000U);
  EXPECT_GT(ahead.counters().caught_up, 1'000U);
  EXPECT_EQ(ahead.counters().whole_windows, 0U);
}

// What they are afterwards: CarriedStatesAreThoseOfAllFramesSinceTheReset, of the engine.
TEST_F(AheadScorerTest, CarriedStatesBeginLikeAWindow) {
  const std::unique_ptr<Scorer> carried = make_scorer(load(false, true), {0.75F, 0.5F});
  WindowScorer whole(load(false));
  ASSERT_TRUE(carried->add_key(0).ok());
  ASSERT_TRUE(whole.add_key(0).ok());
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  for (std::uint64_t event = 1; event <= 200; ++event) {
    FeatureFrame frame;
    frame.feature_count = 3;
    frame.position.record = event;
    for (std::size_t i = 0; i < 3; ++i) frame.values[i] = normal(random);
    if (event == 101) frame.quality |= Quality::kGap;
    carried->push(0, frame);
    whole.push(0, frame);
    float c = -1;
    float w = -1;
    const ScoreStatus status = carried->score(0, c);
    ASSERT_EQ(status, whole.score(0, w)) << "event " << event;
    // The first score after a beginning is that of a whole window.
    if (event == 30 || event == 130) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(c), std::bit_cast<std::uint32_t>(w));
    }
  }
}

TEST_F(AheadScorerTest, AnEngineThatCannotCarryStatesIsRefused) {
  auto engine = make_engine("reference");
  ASSERT_TRUE(engine.ok());
  ModelPackage package = package_;
  package.carried = true;
  const auto model = load_model(std::move(package), **engine, {.steps = 30});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message().find("window.carried"), std::string::npos)
      << model.error().message();
}

}  // namespace
}  // namespace tocsin
