#include "engines/onnxruntime/onnxruntime_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "base/allocation_counter.h"
#include "support/data_path.h"
#include "support/float_tensor.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

// The engine of this machine. Set-up brings the library, so that its absence is a failure.
class OnnxRuntimeEngineTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_.info().found) << engine_.info().reason; }

  std::unique_ptr<Session> load(const std::string& path, const SessionOptions& options = {}) {
    Result<std::unique_ptr<Session>> session = engine_.load(path, options);
    EXPECT_TRUE(session.ok()) << session.error().message();
    return session.ok() ? std::move(*session) : nullptr;
  }

  OnnxRuntimeEngine engine_;
};

TEST_F(OnnxRuntimeEngineTest, SaysWhatItFoundAndWhere) {
  const EngineInfo info = engine_.info();
  EXPECT_EQ(info.name, "onnxruntime");
  EXPECT_EQ(info.version, "1.32.0");
  EXPECT_TRUE(std::filesystem::is_regular_file(info.path)) << info.path;
  EXPECT_TRUE(info.reason.empty());
  EXPECT_EQ(info.determinism, DeterminismClass::kTolerance);
}

TEST(OnnxRuntimeEngine, ConfiguredPathThatIsNotThereIsTheReason) {
  OnnxRuntimeEngine engine({.configured_path = "/no/such/library.so", .folders = {}});
  const EngineInfo info = engine.info();
  EXPECT_FALSE(info.found);
  EXPECT_THAT(info.reason, HasSubstr("TOCSIN_ONNXRUNTIME names /no/such/library.so: no such file"));
  EXPECT_THAT(info.reason, HasSubstr("run scripts/setup"));
  const auto session = engine.load(model_fixture("double_plus_one.onnx"), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(session.error().message(), HasSubstr("/no/such/library.so"));
}

TEST(OnnxRuntimeEngine, MissingLibraryNamesAllPlacesTried) {
  OnnxRuntimeEngine engine(
      {.configured_path = "", .folders = {"/no/such/folder"}, .system_path = false});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr(".deps/onnxruntime/lib"));
}

TEST(OnnxRuntimeEngine, FileThatIsNoLibraryIsTheReason) {
  const std::string path = testing::TempDir() + "not_a_library.so";
  std::ofstream(path) << "plain text";
  OnnxRuntimeEngine engine({.configured_path = path, .folders = {}});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr(path));
  std::filesystem::remove(path);
}

TEST(OnnxRuntimeEngine, LibraryWithoutTheEntryPointIsRefused) {
  OnnxRuntimeEngine engine({.configured_path = "/lib/x86_64-linux-gnu/libm.so.6", .folders = {}});
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr("OrtGetApiBase"));
}

TEST(OnnxRuntimeEngine, EnvironmentVariableComesFirst) {
  const char* before = std::getenv("TOCSIN_ONNXRUNTIME");
  const std::string kept = before != nullptr ? before : "";
  ASSERT_EQ(setenv("TOCSIN_ONNXRUNTIME", "/nowhere/at/all", 1), 0);
  const OnnxRuntimeEngine engine;
  if (before != nullptr) {
    setenv("TOCSIN_ONNXRUNTIME", kept.c_str(), 1);
  } else {
    unsetenv("TOCSIN_ONNXRUNTIME");
  }
  EXPECT_FALSE(engine.info().found);
  EXPECT_THAT(engine.info().reason, HasSubstr("/nowhere/at/all"));
}

TEST_F(OnnxRuntimeEngineTest, FolderOfTheLibraryWillDo) {
  const std::string folder = std::filesystem::path(engine_.info().path).parent_path().string();
  EXPECT_TRUE(OnnxRuntimeEngine({.configured_path = folder, .folders = {}}).info().found);
}

TEST_F(OnnxRuntimeEngineTest, SignatureKeepsNamesTypesAndFreeDimensions) {
  const auto session = load(model_fixture("burst_lstm/model.onnx"));
  ASSERT_NE(session, nullptr);
  const ModelSignature& signature = session->signature();
  ASSERT_EQ(signature.inputs.size(), 1U);
  ASSERT_EQ(signature.outputs.size(), 1U);
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.inputs[0].type, DataType::kFloat32);
  EXPECT_EQ(signature.inputs[0].shape, (std::vector<std::int64_t>{-1, -1, 3}));
  EXPECT_EQ(signature.outputs[0].name, "p");
  EXPECT_EQ(signature.outputs[0].shape, (std::vector<std::int64_t>{-1, 1}));
}

// More shapes than bindings are kept, in random order: each run must see its own buffers.
TEST_F(OnnxRuntimeEngineTest, EveryShapeGetsItsOwnValuesBack) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto session = load(model_fixture("double_plus_one.onnx"), {.batch_max = 8, .steps = 30});
  ASSERT_NE(session, nullptr);
  for (int i = 0; i < 500; ++i) {
    const auto batch = static_cast<std::int64_t>(random() % 8 + 1);
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

TEST_F(OnnxRuntimeEngineTest, AllElementTypesPassThrough) {
  const auto session = load(model_fixture("all_types.onnx"));
  ASSERT_NE(session, nullptr);
  const std::vector<std::int64_t> shape = {2};
  std::array<float, 2> f = {1.5F, -2.5F}, f_out{};
  std::array<double, 2> d = {1e300, -1e-300}, d_out{};
  std::array<std::int64_t, 2> l = {INT64_MAX, INT64_MIN}, l_out{};
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
  EXPECT_EQ(d, d_out);
  EXPECT_EQ(l, l_out);
  EXPECT_EQ(i, i_out);
  EXPECT_EQ(b, b_out);
}

TEST_F(OnnxRuntimeEngineTest, TensorsThatDoNotFitAreRefusedByName) {
  const auto session = load(model_fixture("burst_lstm/model.onnx"));
  ASSERT_NE(session, nullptr);
  FloatTensor x({1, 30, 3}), narrow({1, 30, 2}), flat({30, 3}), y({1, 1});
  const auto refused = [&](TensorView input, TensorView output) {
    EXPECT_FALSE(session->run(std::array{input}, std::array{output}));
    EXPECT_EQ(session->error().code(), ErrorCode::kInvalidArgument);
    return session->error().message();
  };
  EXPECT_THAT(refused(narrow.view(), y.view()),
              HasSubstr("input 'x': expected shape [?,?,3], found [1,30,2]"));
  EXPECT_THAT(refused(flat.view(), y.view()), HasSubstr("found [30,3]"));
  TensorView wrong_type = x.view();
  wrong_type.type = DataType::kInt32;
  EXPECT_THAT(refused(wrong_type, y.view()), HasSubstr("expected float32, found int32"));
  TensorView small = y.view();
  small.size_bytes = 3;
  EXPECT_THAT(refused(x.view(), small), HasSubstr("output 'p': shape [1,1] needs 4 bytes"));
  EXPECT_FALSE(session->run({}, std::array{y.view()}));
  EXPECT_THAT(session->error().message(), HasSubstr("the model has 1 inputs, found 0"));
  EXPECT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}));
}

TEST_F(OnnxRuntimeEngineTest, OutputOfAnotherShapeThanTheModelsFails) {
  const auto session = load(model_fixture("burst_lstm/model.onnx"));
  ASSERT_NE(session, nullptr);
  FloatTensor x({2, 30, 3}), y({1, 1});
  EXPECT_FALSE(session->run(std::array{x.view()}, std::array{y.view()}));
  EXPECT_FALSE(session->error().message().empty());
}

TEST_F(OnnxRuntimeEngineTest, FailureInsideARunIsToldAndTheNextRunWorks) {
  const auto session = load(model_fixture("gather.onnx"));
  ASSERT_NE(session, nullptr);
  FloatTensor x({4}), y({1});
  std::iota(x.values.begin(), x.values.end(), 10.0F);
  std::int64_t index = 99;
  const std::vector<std::int64_t> one = {1};
  const auto run = [&] {
    return session->run(
        std::array{x.view(), TensorView{DataType::kInt64, one, &index, sizeof(index)}},
        std::array{y.view()});
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(session->error().message(), HasSubstr("99"));
  index = 2;
  ASSERT_TRUE(run()) << session->error().message();
  EXPECT_EQ(y.values[0], 12.0F);
}

TEST_F(OnnxRuntimeEngineTest, ModelsItCannotTakeAreRefusedWithTheReason) {
  const auto reason = [&](const std::string& path) {
    const auto session = engine_.load(path, {});
    return session.ok() ? std::string("loaded") : session.error().message();
  };
  EXPECT_THAT(reason(model_fixture("unknown_operator.onnx")), HasSubstr("Frobnicate"));
  EXPECT_THAT(reason(model_fixture("half_input.onnx")), HasSubstr("input 'x': element type"));
  EXPECT_THAT(reason(model_fixture("sequence_output.onnx")),
              HasSubstr("output 'y': expected a tensor"));
  EXPECT_THAT(reason(model_fixture("no_such_model.onnx")), HasSubstr("no_such_model.onnx"));
  EXPECT_THAT(reason(model_fixture("burst_lstm/samples.npz")), HasSubstr("samples.npz"));
  EXPECT_FALSE(engine_.load(model_fixture("gather.onnx"), {.thread_count = 0}).ok());
}

TEST_F(OnnxRuntimeEngineTest, SessionOutlivesItsEngine) {
  std::unique_ptr<Session> session;
  {
    OnnxRuntimeEngine engine;
    auto loaded = engine.load(model_fixture("double_plus_one.onnx"), {});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    session = std::move(*loaded);
  }
  FloatTensor x({1, 1, 2}), y({1, 1, 2});
  EXPECT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}));
  EXPECT_EQ(y.values[0], 1.0F);
}

struct ReferenceModel {
  const char* name;
  std::int64_t steps;
  std::int64_t classes;
};

class OnnxRuntimeReferenceModel : public testing::TestWithParam<ReferenceModel> {};

// The reference models are softmax classifiers: rows sum to one, and a row's result is the same,
// within tolerance, whatever batch it travels in.
TEST_P(OnnxRuntimeReferenceModel, RowsDoNotDependOnTheirBatch) {
  const auto [name, steps, classes] = GetParam();
  const std::string path = tocsin_data_path(std::string("onnx_models/reference/") + name);
  if (path.empty())
    GTEST_SKIP() << name << " is not on this machine (see tests/support/data_path.h)";
  OnnxRuntimeEngine engine;
  auto session = engine.load(path, {.batch_max = 7, .steps = steps});
  ASSERT_TRUE(session.ok()) << session.error().message();

  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  FloatTensor x({7, steps, 64}), y({7, classes});
  x.fill(random);
  ASSERT_TRUE((*session)->run(std::array{x.view()}, std::array{y.view()}));
  const auto row_floats = static_cast<std::size_t>(steps) * 64;
  for (std::size_t row = 0; row < 7; ++row) {
    FloatTensor one({1, steps, 64}), alone({1, classes});
    std::copy_n(x.values.begin() + static_cast<std::ptrdiff_t>(row * row_floats), row_floats,
                one.values.begin());
    ASSERT_TRUE((*session)->run(std::array{one.view()}, std::array{alone.view()}));
    float sum = 0;
    for (std::size_t c = 0; c < alone.values.size(); ++c) {
      EXPECT_NEAR(alone.values[c], y.values[row * alone.values.size() + c], 1e-5) << "row " << row;
      sum += alone.values[c];
    }
    EXPECT_NEAR(sum, 1.0F, 1e-5F);
  }
}

// What README.md says of allocations in run(): some hundreds, and no growth with the windows run.
TEST_P(OnnxRuntimeReferenceModel, AllocationsOfARunStayFew) {
  const auto [name, steps, classes] = GetParam();
  const std::string path = tocsin_data_path(std::string("onnx_models/reference/") + name);
  if (path.empty())
    GTEST_SKIP() << name << " is not on this machine (see tests/support/data_path.h)";
  OnnxRuntimeEngine engine;
  auto session = engine.load(path, {.steps = steps});
  ASSERT_TRUE(session.ok()) << session.error().message();
  FloatTensor x({1, steps, 64}), y({1, classes});
  const auto allocations_of_a_run = [&] {
    const std::uint64_t before = allocation_count();
    EXPECT_TRUE((*session)->run(std::array{x.view()}, std::array{y.view()}));
    return allocation_count() - before;
  };
  for (int i = 0; i < 3; ++i) allocations_of_a_run();
  const std::uint64_t steady = allocations_of_a_run();
  RecordProperty("allocations_a_run", std::to_string(steady));
  for (int i = 0; i < 10; ++i) EXPECT_LE(allocations_of_a_run(), steady);
  EXPECT_LE(steady, 2000U);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxRuntimeReferenceModel,
                         testing::Values(ReferenceModel{"gru60.onnx", 60, 2},
                                         ReferenceModel{"lstm_attn.onnx", 128, 3},
                                         ReferenceModel{"transformer60.onnx", 60, 2}),
                         [](const auto& model) {
                           const std::string name = model.param.name;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace tocsin
