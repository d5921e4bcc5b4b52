#include "runtime/pipeline.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "engines/engine.h"
#include "runtime/run.h"
#include "scoring/window_scorer.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// The second bundled job, driven on this thread: no sinks, the ring is read by the test.
class PipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<RunConfig> config = read_run_config(tocsin_source_path("config/aapl.yaml"));
    ASSERT_TRUE(config.ok()) << config.error().message();
    Result<ModelPackage> package = load_model_package(config->model.package);
    ASSERT_TRUE(package.ok()) << package.error().message();
    Result<std::unique_ptr<Engine>> engine = make_engine("reference");
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    Result<LoadedModel> model = load_model(*package, **engine, {});
    ASSERT_TRUE(model.ok()) << model.error().message();
    scorer_ = std::make_unique<WindowScorer>(std::move(*model));
    Result<std::unique_ptr<Source>> source = open_source(config->source, clock_);
    ASSERT_TRUE(source.ok()) << source.error().message();
    source_ = std::move(*source);
    Result<DecisionPolicy> policy =
        DecisionPolicy::create({.threshold = package->threshold,
                                .release_threshold = package->release_threshold,
                                .cooldown_duration_ns = 2'000'000'000});
    ASSERT_TRUE(policy.ok()) << policy.error().message();
    policy_.emplace(*policy);
  }

  Pipeline make_pipeline(const PipelineOptions& options) {
    return Pipeline({.source = *source_,
                     .scorer = *scorer_,
                     .policy = *policy_,
                     .ids = ids_,
                     .failures = failures_,
                     .decisions = decisions_,
                     .symbols = symbols_,
                     .clock = clock_},
                    options);
  }

  SystemClock clock_;
  std::unique_ptr<WindowScorer> scorer_;
  std::unique_ptr<Source> source_;
  std::optional<DecisionPolicy> policy_;
  AlertIdHasher ids_{{.source = "aapl", .rule = "burst", .model = "m", .model_version = "1"}};
  FailureCapsuleFolder failures_{testing::TempDir() + "/pipeline_test"};
  SpscRing<DecisionRecord> decisions_{4096};
  SymbolTable symbols_;
  std::atomic<bool> give_up_{false};
};

TEST_F(PipelineTest, RecordsEveryDecisionThatWasAskedForWithoutAllocating) {
  Pipeline pipeline =
      make_pipeline({.source_name = "aapl", .sample_every = 1, .warmup_windows = 100});
  Pipeline::Step step = Pipeline::Step::kWorked;
  while ((step = pipeline.step(give_up_)) == Pipeline::Step::kWorked) {
  }
  pipeline.finish();
  EXPECT_EQ(step, Pipeline::Step::kEnd);
  EXPECT_GT(pipeline.counters().windows_scored, 900U);
  EXPECT_EQ(pipeline.counters().allocations_after_warmup, 0U);
  EXPECT_EQ(pipeline.counters().failed_inferences, 0U);

  std::uint64_t records = 0;
  std::uint64_t alerts = 0;
  DecisionRecord record;
  std::uint64_t last_position = 0;
  while (decisions_.try_pop(record)) {
    ++records;
    alerts += record.verdict == Verdict::kAlert ? 1 : 0;
    EXPECT_GT(record.frame.position.record, last_position);
    last_position = record.frame.position.record;
    EXPECT_LT(record.first_frame_record, last_position);
    EXPECT_EQ(record.durations[Stage::kHandoff], 0);  // the sinks' thread measures it
    EXPECT_GT(record.durations[Stage::kScore], 0);
  }
  EXPECT_EQ(records, pipeline.counters().windows_scored);
  EXPECT_EQ(alerts, policy_->counters().alerts);
  EXPECT_EQ(alerts, pipeline.alert_lines().size());
  EXPECT_GT(alerts, 0U);
}

TEST_F(PipelineTest, SamplesEveryNthDecisionThatDoesNotAlert) {
  Pipeline pipeline = make_pipeline({.source_name = "aapl", .sample_every = 10});
  while (pipeline.step(give_up_) == Pipeline::Step::kWorked) {
  }
  std::uint64_t sampled = 0;
  DecisionRecord record;
  while (decisions_.try_pop(record)) sampled += record.sampled ? 1 : 0;
  const std::uint64_t quiet = pipeline.counters().windows_scored - policy_->counters().alerts;
  EXPECT_EQ(sampled, quiet / 10);
}

TEST_F(PipelineTest, GivesUpOnAFullRingWhenTheSinksHaveFailed) {
  DecisionRecord filler;
  while (decisions_.try_push(filler)) {
  }
  give_up_.store(true);
  Pipeline pipeline = make_pipeline({.source_name = "aapl", .sample_every = 1});
  while (pipeline.step(give_up_) == Pipeline::Step::kWorked) {
  }
  EXPECT_GT(pipeline.counters().ring_full_waits, 0U);
}

}  // namespace
}  // namespace tocsin
