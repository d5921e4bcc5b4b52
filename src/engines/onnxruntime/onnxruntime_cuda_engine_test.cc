#include "engines/onnxruntime/onnxruntime_cuda_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engines/cuda/cuda_library.h"
#include "support/batch_trial.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

TEST(OnnxRuntimeCudaEngine, MissingLibraryIsTheReason) {
  OnnxRuntimeCudaEngine engine({.configured_path = "/no/such/library.so", .folders = {}});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason,
              HasSubstr("TOCSIN_ONNXRUNTIME_CUDA names /no/such/library.so: no such file"));
  const auto session = engine.load(model_fixture("double_plus_one.onnx"), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::kUnavailable);
}

TEST(OnnxRuntimeCudaEngine, ALibraryForTheCpuIsTheReason) {
  const auto library = OnnxRuntimeLibrary::open();
  ASSERT_TRUE(library.ok()) << library.error().message();
  const OnnxRuntimeCudaEngine engine({.configured_path = (*library)->path(), .folders = {}});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr("was built without the CUDA provider"));
}

TEST(CudaMemory, SaysThatThereIsNoDriver) {
  if (read_gpu_facts().ok()) GTEST_SKIP() << "this machine has a GPU";
  const auto memory = CudaMemory::open();
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(memory.error().message(),
            "no NVIDIA driver is installed (libcuda.so.1 is not to be found)");
}

// Of a machine with a GPU and ONNX Runtime's build for it (TOCSIN_ONNXRUNTIME_CUDA).
class CudaOnnxRuntime : public testing::Test {
 protected:
  void SetUp() override {
    if (!engine_.info().found) GTEST_SKIP() << "not set up: " << engine_.info().reason;
  }

  OnnxRuntimeCudaEngine engine_;
};

TEST_F(CudaOnnxRuntime, EveryBatchGivesTheReferenceEnginesAnswer) {
  expect_reference_answers(engine_, 1, 2e-6F);
  const auto session = load_burst_lstm(engine_, {.batch_max = 4, .steps = 60});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->remark(), "");  // a graph was captured
}

TEST_F(CudaOnnxRuntime, NamesAnOperatorThatItLacks) {
  const auto unknown = engine_.load(model_fixture("unknown_operator.onnx"), {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(), HasSubstr("Frobnicate"));
}

}  // namespace
}  // namespace tocsin
