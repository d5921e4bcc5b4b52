// Whole models in the reference engine against outputs of ONNX Runtime (make_fixtures.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/reference_engine.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// Outputs are probabilities and logits of the order of one; two engines that sum in different
// orders differ by a few units in the last place.
constexpr double kTolerance = 5e-7;

struct ExpectedRun {
  std::string model;
  std::int64_t batch = 0, steps = 0;
  std::vector<float> values;
};

std::vector<ExpectedRun> read_expected(bool bundled) {
  std::ifstream file(tocsin_source_path("tests/data/engines/expected_outputs.txt"));
  std::vector<ExpectedRun> runs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    ExpectedRun run;
    std::size_t count = 0;
    fields >> run.model >> run.batch >> run.steps >> count;
    run.values.resize(count);
    for (float& value : run.values) fields >> value;
    const bool is_bundled = !run.model.starts_with("onnx_models/");
    if (is_bundled == bundled) runs.push_back(std::move(run));
  }
  return runs;
}

void expect_outputs(const ExpectedRun& expected, const std::string& path) {
  SessionOptions options;
  options.batch_max = expected.batch;
  options.steps = expected.steps;
  auto session = ReferenceEngine().load(path, options);
  ASSERT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), expected.steps);
  model.set_batch(expected.batch);
  const auto batch = static_cast<std::size_t>(expected.batch);
  std::vector<float> input = formula_input(model.input_width() * batch);
  std::vector<float> output(expected.values.size());
  ASSERT_TRUE(model.run(input, output)) << model.session().error().message();
  double worst = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(output[i] - expected.values[i]));
    worst = std::max(worst, difference);
    EXPECT_LE(difference, kTolerance)
        << expected.model << " batch " << expected.batch << " value " << i;
  }
  std::printf("%-48s batch %lld steps %3lld: largest difference %.1e\n", expected.model.c_str(),
              static_cast<long long>(expected.batch), static_cast<long long>(expected.steps),
              worst);
}

TEST(ModelOutputs, BundledPyTorchExportsAgreeWithOnnxRuntime) {
  const std::vector<ExpectedRun> runs = read_expected(true);
  ASSERT_EQ(runs.size(), 18U);
  for (const ExpectedRun& run : runs)
    expect_outputs(run, tocsin_source_path("tests/data/engines/" + run.model));
}

TEST(ModelOutputs, PublishedModelsAgreeWithOnnxRuntime) {
  const std::vector<ExpectedRun> runs = read_expected(false);
  ASSERT_EQ(runs.size(), 12U);
  for (const ExpectedRun& run : runs) {
    const std::string path = tocsin_data_path(run.model);
    if (path.empty()) GTEST_SKIP() << run.model << " is not there: set TOCSIN_DATA";
    expect_outputs(run, path);
  }
}

}  // namespace
}  // namespace tocsin
