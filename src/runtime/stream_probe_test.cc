#include "runtime/stream_probe.h"

#include <gtest/gtest.h>

#include <string>

#include "support/data_path.h"

namespace tocsin {
namespace {

const std::string kPackage = tocsin_source_path("models/btcusdt_burst_lstm");

Result<StreamProbe> probe(std::string_view engine_name, std::int64_t steps) {
  TOCSIN_ASSIGN_OR_RETURN(const BenchModel model, open_bench_model(kPackage, steps));
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine(engine_name));
  const SystemClock clock;
  return probe_stream(*engine, model, {.duration_ns = 1'000'000}, clock);
}

TEST(StreamProbe, LeavesLessForTheLastStepOfALongerWindow) {
  const Result<StreamProbe> longer = probe("native", 120);
  const Result<StreamProbe> shorter = probe("native", 30);
  ASSERT_TRUE(longer.ok()) << longer.error().message();
  ASSERT_TRUE(shorter.ok()) << shorter.error().message();
  EXPECT_GT(longer->last_step_share, 0);
  EXPECT_LT(longer->last_step_share, shorter->last_step_share);
  EXPECT_LT(shorter->last_step_share, 0.1);
  EXPECT_GT(longer->bytes_per_key, shorter->bytes_per_key);
  EXPECT_GT(longer->events_per_s_max, 1);
}

TEST(StreamProbe, SaysOfAnEngineThatItWorksNotAhead) {
  const Result<StreamProbe> result = probe("reference", 0);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kUnimplemented);
  EXPECT_NE(result.error().message().find("reference"), std::string::npos)
      << result.error().message();
}

}  // namespace
}  // namespace tocsin
