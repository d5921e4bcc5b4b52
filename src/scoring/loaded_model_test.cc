#include "scoring/loaded_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/catalogue_package.h"
#include "support/scripted_engine.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

// The engine, or a failure of the test that says why there is none.
std::unique_ptr<Engine> onnxruntime() {
  auto engine = make_engine("onnxruntime");
  if (!engine.ok()) throw std::runtime_error(engine.error().message());
  return std::move(*engine);
}

ModelSignature burst_signature() {
  return {.inputs = {{"x", DataType::kFloat32, {-1, -1, 3}}},
          .outputs = {{"p", DataType::kFloat32, {-1, 1}}}};
}

class LoadedModelTest : public testing::Test {
 protected:
  std::string load_error(ModelPackage package, Engine& engine, const LoadOptions& options = {}) {
    const auto model = load_model(std::move(package), engine, options);
    return model.ok() ? std::string("loaded") : model.error().message();
  }

  const TestPackage files_{with_catalogue_features({})};
  const ModelPackage package_ = load_test_package(files_);
};

// The samples hold PyTorch's outputs, so this compares two implementations.
TEST_F(LoadedModelTest, EveryAllowedLengthLoadsFromOnePackage) {
  const auto engine = onnxruntime();
  for (const std::int64_t steps : {30, 60, 120}) {
    const auto model = load_model(package_, *engine, {.steps = steps});
    ASSERT_TRUE(model.ok()) << model.error().message();
    EXPECT_EQ(model->steps(), static_cast<std::size_t>(steps));
    EXPECT_EQ(model->sample_count, 3U);
    EXPECT_LE(model->worst_sample_error, 1e-6F);
    EXPECT_EQ(model->engine.name, "onnxruntime");
    EXPECT_EQ(model->title(), "test_model/3");
    EXPECT_EQ(model->schema.hash(), package_.schema_hash);
  }
}

TEST_F(LoadedModelTest, ZeroStepsMeansThePackagesDefault) {
  const auto engine = onnxruntime();
  const auto model = load_model(package_, *engine, {.batch_max = 2});
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->steps(), 60U);
}

TEST_F(LoadedModelTest, OptionsReachTheEngine) {
  const float expected = package_.samples[0].outputs.values[0];
  ScriptedEngine engine(burst_signature(), [&](auto, std::span<float> output) {
    output[0] = expected;
    return true;
  });
  ModelPackage package = package_;
  package.samples_tolerance = 1;
  ASSERT_EQ(load_error(package, engine, {.steps = 30, .batch_max = 1, .thread_count = 2}),
            "loaded");
  EXPECT_EQ(engine.options().steps, 30);
  EXPECT_EQ(engine.options().batch_max, 1);
  EXPECT_EQ(engine.options().thread_count, 2);
}

TEST_F(LoadedModelTest, FixedTimeAxisAndClassColumnsLoad) {
  const TestPackage files(with_catalogue_features(calm_gru_parts()));
  const auto engine = onnxruntime();
  const auto model = load_model(load_test_package(files), *engine, {});
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->output_columns(), 2U);
  EXPECT_THAT(load_error(load_test_package(files), *engine, {.batch_max = 2}),
              HasSubstr("one window at a time"));
}

TEST_F(LoadedModelTest, LengthThatWasNeverCheckedIsRefused) {
  const auto engine = onnxruntime();
  EXPECT_THAT(load_error(package_, *engine, {.steps = 31}),
              HasSubstr("windows of 31 steps: the package was checked for [30, 60, 120]"));
}

TEST_F(LoadedModelTest, NanWeightsAreRefused) {
  const auto engine = onnxruntime();
  const auto error_of = [&](const char* fixture) {
    TestPackageParts parts;
    parts.fixture = fixture;
    const TestPackage files(with_catalogue_features(parts));
    return load_error(load_test_package(files), *engine);
  };
  EXPECT_THAT(error_of("nan_weights"),
              HasSubstr("model test_model/3 on engine 'onnxruntime': sample 0: output is NaN"));
  // ONNX Runtime clamps before its activations, so that a NaN inside the LSTM comes out as a
  // plausible number: only the expected outputs tell.
  EXPECT_THAT(error_of("nan_recurrent_weights"), HasSubstr("sample 0: output 0 is 0.4"));
}

TEST_F(LoadedModelTest, TheSampleThatIsWrongIsNamed) {
  std::size_t run_count = 0;
  float wrong = 0;
  const auto& expected = package_.samples[1].outputs.values;
  ScriptedEngine engine(burst_signature(), [&](auto, std::span<float> output) {
    output[0] = run_count == 2 ? wrong : expected[run_count];
    ++run_count;
    return true;
  });
  const auto error_with = [&](float value) {
    run_count = 0;
    wrong = value;
    return load_error(package_, engine);
  };
  EXPECT_EQ(error_with(expected[2] + 0.9e-5F), "loaded");
  EXPECT_THAT(error_with(expected[2] + 1e-3F), HasSubstr("sample 2: output 0 is"));
  EXPECT_THAT(error_with(expected[2] + 1e-3F), HasSubstr("the tolerance is 1e-05"));
  EXPECT_THAT(error_with(std::numeric_limits<float>::quiet_NaN()),
              HasSubstr("sample 2: output is NaN"));
  EXPECT_THAT(error_with(std::numeric_limits<float>::infinity()), HasSubstr("off by inf"));
}

TEST_F(LoadedModelTest, EngineThatFailsOnASampleIsNotLoaded) {
  ScriptedEngine engine(burst_signature(), [](auto, auto) { return false; });
  EXPECT_THAT(load_error(package_, engine), HasSubstr("sample 0: the script says no"));
}

TEST_F(LoadedModelTest, GraphThatIsNotAsDeclaredIsRefused) {
  const auto error_with = [&](const ModelSignature& signature) {
    ScriptedEngine engine(signature, [](auto, auto) { return true; });
    return load_error(package_, engine);
  };
  ModelSignature signature = burst_signature();
  signature.inputs[0].name = "windows";
  EXPECT_THAT(error_with(signature), HasSubstr("declares input 'x' float32 [-1, -1, 3], the graph "
                                               "has 'windows' float32 [-1, -1, 3]"));
  signature = burst_signature();
  signature.inputs[0].type = DataType::kFloat64;
  EXPECT_THAT(error_with(signature), HasSubstr("the graph has 'x' float64"));
  signature = burst_signature();
  signature.inputs[0].shape = {-1, 60, 3};
  EXPECT_THAT(error_with(signature), HasSubstr("[-1, 60, 3]"));
  signature = burst_signature();
  signature.outputs[0].shape = {-1, 2};
  EXPECT_THAT(error_with(signature), HasSubstr("the graph has 'p' float32 [-1, 2]"));
  signature.outputs.push_back(signature.outputs[0]);
  EXPECT_THAT(error_with(signature), HasSubstr("declares 1 outputs, the graph has 2"));
}

TEST_F(LoadedModelTest, AnotherFeatureSchemaIsRefusedWithTheFirstDifference) {
  const auto engine = onnxruntime();
  ModelPackage package = package_;
  package.schema_hash[0] ^= 1;
  package.feature_versions[1] += 1;
  const std::string message = load_error(package, *engine);
  EXPECT_THAT(message, HasSubstr("wants feature schema " + to_hex(package.schema_hash)));
  EXPECT_THAT(message, HasSubstr("this program's is " + to_hex(package_.schema_hash)));
  EXPECT_THAT(message, HasSubstr("feature 1, '" + package.features[1] + "': version " +
                                 std::to_string(package.feature_versions[1])));

  package = package_;
  package.schema_hash[0] ^= 1;
  EXPECT_THAT(load_error(package, *engine), HasSubstr("made from another list"));

  package = package_;
  package.features[2] = "no_such_feature";
  EXPECT_THAT(load_error(package, *engine), HasSubstr("no_such_feature"));

  package = package_;
  std::swap(package.features[0], package.features[1]);
  EXPECT_THAT(load_error(package, *engine), HasSubstr("wants feature schema"));
}

TEST_F(LoadedModelTest, GraphThatIsNoOnnxFileIsTheEnginesError) {
  const TestPackage files(with_catalogue_features({}));
  write_test_file(files.folder() / "model.onnx", "not a graph");
  files.write_yaml(files.yaml());
  const auto engine = onnxruntime();
  EXPECT_THAT(load_error(load_test_package(files), *engine), HasSubstr("model.onnx"));
}

}  // namespace
}  // namespace tocsin
