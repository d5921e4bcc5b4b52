#include "engines/openvino/openvino_engine.h"

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

std::unique_ptr<Session> load(Engine& engine, const std::string& path,
                              const SessionOptions& options = {}) {
  Result<std::unique_ptr<Session>> session = engine.load(path, options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  return session.ok() ? std::move(*session) : nullptr;
}

// The engine of this machine. Set-up brings the library on machines that can have it.
class OpenVinoEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!engine_.info().found) GTEST_SKIP() << "not set up: " << engine_.info().reason;
  }

  OpenVinoEngine engine_;
};

TEST_F(OpenVinoEngineTest, SaysWhatItFoundAndWhere) {
  const EngineInfo info = engine_.info();
  EXPECT_EQ(info.name, "openvino");
  EXPECT_EQ(info.version, "2026.4.1");
  EXPECT_TRUE(std::filesystem::is_regular_file(info.path)) << info.path;
  EXPECT_EQ(info.determinism, DeterminismClass::kTolerance);
  EXPECT_EQ(info.precisions.front(), Precision::kFloat32);
}

TEST(OpenVinoEngine, ConfiguredPathThatIsNotThereIsTheReason) {
  OpenVinoEngine engine({.configured_path = "/no/such/library.so", .folders = {}});
  const EngineInfo info = engine.info();
  EXPECT_FALSE(info.found);
  EXPECT_THAT(info.reason, HasSubstr("TOCSIN_OPENVINO names /no/such/library.so: no such file"));
  EXPECT_THAT(info.reason, HasSubstr("run scripts/setup"));
  const auto session = engine.load(model_fixture("double_plus_one.onnx"), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::kUnavailable);
}

TEST(OpenVinoEngine, LibraryWithoutItsFunctionsIsRefused) {
  OpenVinoEngine engine({.configured_path = "/lib/x86_64-linux-gnu/libm.so.6", .folders = {}});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr("ov_get_openvino_version"));
}

// More shapes than bindings are kept, in random order: each run must see its own values.
TEST_F(OpenVinoEngineTest, EveryShapeGetsItsOwnValuesBack) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto session =
      load(engine_, model_fixture("double_plus_one.onnx"), {.batch_max = 8, .steps = 30});
  ASSERT_NE(session, nullptr);
  for (int i = 0; i < 500; ++i) {
    const auto batch = static_cast<std::int64_t>(random() % 10 + 1);
    const auto steps = static_cast<std::int64_t>(random() % 5 + 28);
    FloatTensor x({batch, steps, 2});
    FloatTensor y({batch, steps, 2});
    x.fill(random);
    ASSERT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}))
        << session->error().message();
    for (std::size_t k = 0; k < x.values.size(); ++k)
      ASSERT_EQ(y.values[k], x.values[k] * 2.0F + 1.0F) << batch << " x " << steps << " at " << k;
  }
}

TEST_F(OpenVinoEngineTest, AllElementTypesPassThrough) {
  const auto session = load(engine_, model_fixture("all_types.onnx"));
  ASSERT_NE(session, nullptr);
  const std::vector<std::int64_t> shape = {2};
  std::array<float, 2> f = {1.5F, -2.5F}, f_out{};
  std::array<double, 2> d = {1e300, -1e-300}, d_out{};
  std::array<std::int64_t, 2> l = {1 << 30, -7}, l_out{};
  std::array<std::int32_t, 2> i = {INT32_MAX, INT32_MIN}, i_out{};
  std::array<bool, 2> b = {true, false}, b_out{};
  const auto view = [&](DataType type, auto& values) {
    return TensorView{type, shape, values.data(), sizeof(values)};
  };
  const std::array inputs = {view(DataType::kFloat32, f), view(DataType::kFloat64, d),
                             view(DataType::kInt64, l), view(DataType::kInt32, i),
                             view(DataType::kBool, b)};
  const std::array outputs = {view(DataType::kFloat32, f_out), view(DataType::kFloat64, d_out),
                              view(DataType::kInt64, l_out), view(DataType::kInt32, i_out),
                              view(DataType::kBool, b_out)};
  ASSERT_TRUE(session->run(inputs, outputs)) << session->error().message();
  EXPECT_EQ(f, f_out);
  EXPECT_EQ(l, l_out);
  EXPECT_EQ(i, i_out);
  EXPECT_EQ(b, b_out);
}

TEST_F(OpenVinoEngineTest, TensorsThatDoNotFitAreRefusedByName) {
  const auto session = load(engine_, model_fixture("burst_lstm/model.onnx"));
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->signature().inputs[0].name, "x");
  EXPECT_EQ(session->signature().inputs[0].shape, (std::vector<std::int64_t>{-1, -1, 3}));
  EXPECT_EQ(session->signature().outputs[0].name, "p");
  EXPECT_EQ(session->signature().outputs[0].shape, (std::vector<std::int64_t>{-1, 1}));
  FloatTensor x({1, 30, 3}), narrow({1, 30, 2}), y({1, 1}), rows({2, 1});
  EXPECT_FALSE(session->run(std::array{narrow.view()}, std::array{y.view()}));
  EXPECT_THAT(session->error().message(), HasSubstr("input 'x': expected shape [?,?,3]"));
  EXPECT_FALSE(session->run(std::array{x.view()}, std::array{rows.view()}));
  EXPECT_THAT(session->error().message(), HasSubstr("output 'p'"));
  EXPECT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}))
      << session->error().message();
}

TEST_F(OpenVinoEngineTest, ModelsItCannotTakeAreRefusedWithTheReason) {
  const auto reason = [&](const std::string& path) {
    const auto session = engine_.load(path, {});
    return session.ok() ? std::string("loaded") : session.error().message();
  };
  EXPECT_THAT(reason(model_fixture("unknown_operator.onnx")), HasSubstr("Frobnicate"));
  EXPECT_THAT(reason(model_fixture("half_input.onnx")), HasSubstr("input 'x': element type"));
  EXPECT_THAT(reason(model_fixture("no_such_model.onnx")), HasSubstr("no_such_model.onnx"));
  EXPECT_FALSE(engine_.load(model_fixture("gather.onnx"), {.thread_count = 0}).ok());
  EXPECT_FALSE(engine_.load(model_fixture("gather.onnx"), {.precision = Precision::kInt8}).ok());
}

TEST_F(OpenVinoEngineTest, SessionOutlivesItsEngine) {
  std::unique_ptr<Session> session;
  {
    OpenVinoEngine engine;
    session = load(engine, model_fixture("double_plus_one.onnx"));
    ASSERT_NE(session, nullptr);
  }
  FloatTensor x({1, 1, 2}), y({1, 1, 2});
  EXPECT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}));
  EXPECT_EQ(y.values[0], 1.0F);
}

// Every batch up to the largest, each prepared another way, and one beyond; on one and two threads.
TEST_F(OpenVinoEngineTest, EveryBatchGivesTheReferenceEnginesAnswer) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  ReferenceEngine reference_engine;
  const std::string path = model_fixture("burst_lstm/model.onnx");
  const auto reference = load(reference_engine, path, {.batch_max = 7, .steps = 60});
  for (const int threads : {1, 2}) {
    const auto session =
        load(engine_, path, {.thread_count = threads, .batch_max = 6, .steps = 60});
    ASSERT_NE(session, nullptr);
    for (const std::int64_t batch : {3, 1, 6, 2, 7, 5, 4}) {
      FloatTensor x({batch, 60, 3}), y({batch, 1}), expected({batch, 1});
      x.fill(random);
      ASSERT_TRUE(reference->run(std::array{x.view()}, std::array{expected.view()}));
      ASSERT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}))
          << session->error().message();
      for (std::size_t i = 0; i < y.values.size(); ++i)
        EXPECT_NEAR(y.values[i], expected.values[i], 1e-5F) << "batch " << batch;
    }
  }
}

// The default of machines with BF16 instructions would be BF16: asking for float32 must give it,
// and asking for less must give less.
TEST_F(OpenVinoEngineTest, PrecisionIsTheOneThatWasAskedFor) {
  const std::string path = tocsin_data_path("onnx_models/reference/lstm_attn.onnx");
  if (path.empty()) GTEST_SKIP() << "lstm_attn.onnx is not on this machine";
  std::mt19937_64 random(3);
  FloatTensor x({1, 128, 64}), expected({1, 3});
  x.fill(random);
  ReferenceEngine reference_engine;
  const auto reference = load(reference_engine, path);
  ASSERT_TRUE(reference->run(std::array{x.view()}, std::array{expected.view()}));
  for (const Precision precision : engine_.info().precisions) {
    const auto session = load(engine_, path, {.precision = precision});
    ASSERT_NE(session, nullptr);
    FloatTensor y({1, 3});
    ASSERT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}));
    float worst = 0;
    for (std::size_t i = 0; i < 3; ++i)
      worst = std::max(worst, std::abs(y.values[i] - expected.values[i]));
    if (precision == Precision::kFloat32) {
      EXPECT_LT(worst, 1e-6F);
    } else {
      EXPECT_GT(worst, 1e-6F) << precision_name(precision);
      EXPECT_LT(worst, 1e-2F) << precision_name(precision);
    }
  }
}

}  // namespace
}  // namespace tocsin
