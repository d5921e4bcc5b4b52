#include "engines/onnxruntime/onnxruntime_openvino_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <random>

#include "engines/reference/reference_engine.h"
#include "support/data_path.h"
#include "support/float_tensor.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

std::unique_ptr<Session> load(Engine& engine, const SessionOptions& options) {
  auto session = engine.load(model_fixture("burst_lstm/model.onnx"), options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  return session.ok() ? std::move(*session) : nullptr;
}

// The engine of this machine. Set-up brings the plug-in on machines that can have it.
class OnnxRuntimeOpenVinoEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!engine_.info().found) GTEST_SKIP() << "not set up: " << engine_.info().reason;
  }

  OnnxRuntimeOpenVinoEngine engine_;
};

TEST_F(OnnxRuntimeOpenVinoEngineTest, SaysWhatItFoundAndWhere) {
  const EngineInfo info = engine_.info();
  EXPECT_EQ(info.name, "onnxruntime-openvino");
  EXPECT_TRUE(std::filesystem::is_regular_file(info.path)) << info.path;
  EXPECT_THAT(info.path, HasSubstr("openvino_plugin"));
  EXPECT_EQ(info.determinism, DeterminismClass::kTolerance);
  // The plug-in is registered once in a process, whoever asks.
  EXPECT_TRUE(OnnxRuntimeOpenVinoEngine().info().found);
}

TEST(OnnxRuntimeOpenVinoEngine, MissingLibraryIsTheReason) {
  const LibraryLocations nowhere{.configured_path = "/no/such/library.so", .folders = {}};
  const LibraryLocations runtime = OnnxRuntimeLibrary::vendor().locations();
  OnnxRuntimeOpenVinoEngine no_plugin(runtime, nowhere);
  EXPECT_FALSE(no_plugin.info().found);
  EXPECT_THAT(no_plugin.info().reason,
              HasSubstr("TOCSIN_ONNXRUNTIME_OPENVINO names /no/such/library.so: no such file"));
  const auto session = no_plugin.load(model_fixture("double_plus_one.onnx"), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::kUnavailable);
  const OnnxRuntimeOpenVinoEngine no_runtime(nowhere, nowhere);
  EXPECT_THAT(no_runtime.info().reason, HasSubstr("TOCSIN_ONNXRUNTIME names"));
  const OnnxRuntimeOpenVinoEngine no_provider(
      runtime, {.configured_path = "/lib/x86_64-linux-gnu/libm.so.6", .folders = {}});
  EXPECT_THAT(no_provider.info().reason, HasSubstr("CreateEpFactories"));
}

// In FP32 on machines whose default is BF16 too; on one thread and on two.
TEST_F(OnnxRuntimeOpenVinoEngineTest, EveryBatchGivesTheReferenceEnginesAnswer) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  ReferenceEngine reference_engine;
  const auto reference = load(reference_engine, {.batch_max = 7, .steps = 60});
  for (const int threads : {1, 2}) {
    const auto session = load(engine_, {.thread_count = threads, .batch_max = 6, .steps = 60});
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->signature().inputs[0].shape, (std::vector<std::int64_t>{-1, -1, 3}));
    for (const std::int64_t batch : {3, 1, 6, 2, 7, 5, 4}) {
      const auto rows = static_cast<std::size_t>(batch);
      FloatTensor x({batch, 60, 3});
      for (float& value : x.values) value = normal(random);
      FloatTensor y({batch, 1});
      FloatTensor expected = y;
      ASSERT_TRUE(reference->run(std::array{x.view()}, std::array{expected.view()}));
      ASSERT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}))
          << session->error().message();
      for (std::size_t i = 0; i < rows; ++i)
        EXPECT_NEAR(y.values[i], expected.values[i], 2e-6F) << "batch " << batch;
    }
  }
}

TEST_F(OnnxRuntimeOpenVinoEngineTest, RefusesWhatItCannotTake) {
  const auto unknown = engine_.load(model_fixture("unknown_operator.onnx"), {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(), HasSubstr("Frobnicate"));
  EXPECT_FALSE(engine_.load(model_fixture("gather.onnx"), {.precision = Precision::kInt8}).ok());
  EXPECT_FALSE(engine_.load(model_fixture("gather.onnx"), {.thread_count = 0}).ok());
}

TEST_F(OnnxRuntimeOpenVinoEngineTest, SessionOutlivesItsEngine) {
  std::unique_ptr<Session> session;
  {
    OnnxRuntimeOpenVinoEngine engine;
    session = load(engine, {.steps = 60});
  }
  ASSERT_NE(session, nullptr);
  FloatTensor x({1, 60, 3});
  x.values.assign(180, 0.5F);
  FloatTensor y({1, 1});
  EXPECT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}));
  EXPECT_GT(y.values[0], 0.0F);
}

}  // namespace
}  // namespace tocsin
