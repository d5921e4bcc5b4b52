#include "engines/onnxruntime/onnxruntime_openvino_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "support/batch_trial.h"
#include "support/data_path.h"
#include "support/float_tensor.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

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
  for (const int threads : {1, 2}) expect_reference_answers(engine_, threads, 2e-6F);
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
    session = load_burst_lstm(engine, {.steps = 60});
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
