// Models from the field, in every engine of ours, against ONNX Runtime
// (make_real_model_outputs.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/tested_engines.h"
#include "engines/engine.h"
#include "engines/graph/tensor.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// Roundings on the longest path from an input to an output: as many for each sum as it has
// products, 10 for a step of a recurrent cell. Errors of either sign add up like a random walk, and
// the values on the way are of the order of the largest output, or of 1. So two engines that sum in
// different orders differ by kMargin * sqrt(roundings) * 2^-24 * magnitude at most.
constexpr double kMargin = 4;
const std::map<std::string, double>& roundings() {
  static const std::map<std::string, double> kRoundings = {
      {"deeplob_b1_1x100x40", 14 * 160 + 100 * (10 + 64 + 128)},
      {"fraud_tree_14f", 92},
      {"neustack_anomaly_detector", 3 * (8 + 32 + 64)},
      {"neustack_bandwidth_predictor", 2 * 30 * (10 + 64) + 64},
      {"quant_sentinel_attention", 16 * 64},
      {"quant_sentinel_lstm", 60 * (3 * 10 + 128 + 64 + 32)},
      {"quant_sentinel_xgb", 170},
      {"silero_vad_16k_op15", 256 + 3 * 129 + 3 * 128 + 3 * 64 + 3 * 64 + 10 + 256 + 128},
      {"reference/gru60", 60 * (10 + 128)},
      {"reference/lstm_attn", 128 * (10 + 128) + 128},
      {"reference/transformer60", 6 * 256},
  };
  return kRoundings;
}

struct NamedOutput {
  std::string name;
  Shape shape;
  std::vector<double> values;
};

struct ModelRun {
  std::string path;
  std::int64_t batch = 0, steps = 0;
  std::uint64_t seed = 0;
  double scale = 1;
  std::vector<NamedOutput> outputs;
};

Shape parse_shape(const std::string& text) {
  Shape shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

std::vector<ModelRun> read_runs() {
  std::ifstream file(tocsin_source_path("tests/data/engines/real_model_outputs.txt"));
  std::vector<ModelRun> runs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    ModelRun run;
    std::size_t output_count = 0;
    fields >> run.path >> run.batch >> run.seed >> run.scale >> run.steps >> output_count;
    for (std::size_t i = 0; i < output_count; ++i) {
      NamedOutput output;
      std::string shape;
      fields >> output.name >> shape;
      output.shape = parse_shape(shape);
      output.values.resize(*checked_element_count(output.shape));
      for (double& value : output.values) fields >> value;
      run.outputs.push_back(std::move(output));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// SplitMix64, as in make_real_model_outputs.py.
void fill_random(Tensor& tensor, std::uint64_t seed, double scale) {
  std::uint64_t state = seed * 0xD1342543DE82EF95U;
  for (float& value : tensor.mutable_values<float>()) {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t z = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    value = static_cast<float>((static_cast<double>(z >> 40U) / 8388608.0 - 1.0) * scale);
  }
}

std::vector<Tensor> make_inputs(const ModelRun& run, const ModelSignature& signature) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const TensorSpec& spec = signature.inputs[i];
    Shape shape = spec.shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      // Silero's state is [2, batch, 128].
      const bool is_batch = d == 0 || spec.name == "state";
      if (shape[d] == kFreeDimension) shape[d] = is_batch ? run.batch : run.steps;
    }
    Tensor tensor(spec.type, shape);
    if (spec.type == DataType::kFloat32)
      fill_random(tensor, run.seed * 100 + i, run.scale);
    else
      tensor.mutable_values<std::int64_t>()[0] = 16'000;  // silero's sampling rate
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<TensorView> views_of(std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  for (Tensor& tensor : tensors)
    views.push_back({tensor.type(), tensor.shape(), tensor.mutable_data(), tensor.size_bytes()});
  return views;
}

double value_of(const Tensor& tensor, std::size_t i) {
  return tensor.type() == DataType::kInt64 ? static_cast<double>(tensor.values<std::int64_t>()[i])
                                           : static_cast<double>(tensor.values<float>()[i]);
}

// The largest difference, as a share of the tolerance.
double compare(const ModelRun& run, std::size_t index, const Tensor& output) {
  const NamedOutput& expected = run.outputs[index];
  const std::string name = run.path.substr(12, run.path.size() - 12 - 5);  // onnx_models/….onnx
  double magnitude = 1;
  for (const double value : expected.values) magnitude = std::max(magnitude, std::fabs(value));
  const double tolerance = kMargin * std::sqrt(roundings().at(name)) * 0x1p-24 * magnitude;
  double worst = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    worst = std::max(worst, std::fabs(value_of(output, i) - expected.values[i]));
  EXPECT_LE(worst, tolerance) << run.path << " batch " << run.batch << " seed " << run.seed
                              << " output " << expected.name;
  return worst / tolerance;
}

class RealModels : public ::testing::TestWithParam<TestedEngine> {
 protected:
  void expect_outputs(const ModelRun& run, const std::string& path) {
    auto engine = make_engine(GetParam().name);
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    SessionOptions options;
    options.batch_max = run.batch;
    options.steps = run.steps;
    auto session = (*engine)->load(path, options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    std::vector<Tensor> inputs = make_inputs(run, (*session)->signature());
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      outputs.emplace_back((*session)->signature().outputs.at(i).type, run.outputs[i].shape);
    ASSERT_TRUE((*session)->run(views_of(inputs), views_of(outputs)))
        << run.path << ": " << (*session)->error().message();
    double worst = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      worst = std::max(worst, compare(run, i, outputs[i]));
    std::printf("%-44s batch %lld seed %llu: %.3f of the tolerance\n", run.path.c_str(),
                static_cast<long long>(run.batch), static_cast<unsigned long long>(run.seed),
                worst);
  }
};

TEST_P(RealModels, AgreeWithOnnxRuntime) {
  const std::vector<ModelRun> runs = read_runs();
  ASSERT_EQ(runs.size(), 57U);
  for (const ModelRun& run : runs) {
    const std::string path = tocsin_data_path(run.path);
    if (path.empty()) GTEST_SKIP() << run.path << " is not there: set TOCSIN_DATA";
    expect_outputs(run, path);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, RealModels, ::testing::ValuesIn(kTestedEngines),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tocsin
