// Small models as exporters in use write them (tests/data/make_exports.py), in every engine of
// ours, against ONNX Runtime: scikit-learn pipelines, and PyTorch's both exporters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/tested_engines.h"
#include "engines/engine.h"
#include "engines/graph/tensor.h"
#include "engines/reference/float_model.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// As in real_model_test.cc; the sums of these models have some 50 roundings.
const double kTolerance = 4 * std::sqrt(50.0) * 0x1p-24;
// FP16 products are FP32 here: the other side rounds each of them to 11 bits.
constexpr double kHalvesTolerance = 0x1p-13;

struct ExportRun {
  std::string model;
  std::int64_t batch = 0, steps = 0;
  std::vector<Shape> shapes;
  std::vector<std::vector<double>> outputs;
};

Shape parse_shape(const std::string& text) {
  Shape shape;
  if (text == "-") return shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

std::vector<ExportRun> read_runs(const std::string& kind) {
  std::ifstream file(tocsin_source_path("tests/data/engines/exports/outputs_" + kind + ".txt"));
  std::vector<ExportRun> runs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    ExportRun run;
    std::size_t output_count = 0;
    fields >> run.model >> run.batch >> run.steps >> output_count;
    for (std::size_t i = 0; i < output_count; ++i) {
      std::string shape;
      fields >> shape;
      run.shapes.push_back(parse_shape(shape));
      std::vector<double> values(*checked_element_count(run.shapes.back()));
      for (double& value : values) fields >> value;
      run.outputs.push_back(std::move(values));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// The script's formulas.
Tensor input_of(const TensorSpec& spec, const ExportRun& run) {
  Shape shape = spec.shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == kFreeDimension) shape[d] = d == 0 ? run.batch : run.steps;
  Tensor tensor(spec.type, shape);
  if (spec.type == DataType::kFloat32)
    std::ranges::copy(formula_input(tensor.element_count()),
                      tensor.mutable_values<float>().begin());
  else
    for (std::int64_t i = 0; i < run.batch * run.steps; ++i)
      tensor.mutable_values<bool>()[static_cast<std::size_t>(i)] =
          i % run.steps >= run.steps - i / run.steps;
  return tensor;
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

class Exporters : public ::testing::TestWithParam<TestedEngine> {
 protected:
  // The largest difference of a run's outputs from the expected ones, as a share of the tolerance.
  static double run_model(Engine& engine, const ExportRun& run) {
    SessionOptions options;
    options.batch_max = run.batch;
    options.steps = run.steps;
    auto session = engine.load(
        tocsin_source_path("tests/data/engines/exports/" + run.model + ".onnx"), options);
    EXPECT_TRUE(session.ok()) << session.error().message();
    if (!session.ok()) return INFINITY;
    const ModelSignature& signature = (*session)->signature();
    EXPECT_EQ(signature.outputs.size(), run.outputs.size());
    std::vector<Tensor> inputs;
    for (const TensorSpec& spec : signature.inputs) inputs.push_back(input_of(spec, run));
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      outputs.emplace_back(signature.outputs[i].type, run.shapes[i]);
    const bool ran = (*session)->run(views_of(inputs), views_of(outputs));
    EXPECT_TRUE(ran) << run.model << ": " << (*session)->error().message();
    if (!ran) return INFINITY;
    const bool has_halves = run.model.find("halves") != std::string::npos;
    double worst = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (std::size_t k = 0; k < run.outputs[i].size(); ++k) {
        const double expected = run.outputs[i][k];
        const double allowed =
            (has_halves ? kHalvesTolerance : kTolerance) * std::max(1.0, std::fabs(expected));
        worst = std::max(worst, std::fabs(value_of(outputs[i], k) - expected) / allowed);
      }
    }
    return worst;
  }

  static void expect_all(const std::string& kind, std::size_t count) {
    auto engine = make_engine(GetParam().name);
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    const std::vector<ExportRun> runs = read_runs(kind);
    EXPECT_EQ(runs.size(), count);
    for (const ExportRun& run : runs) {
      const double worst = run_model(**engine, run);
      EXPECT_LE(worst, 1.0) << run.model << " batch " << run.batch;
      std::printf("%-32s batch %lld: %.3f of the tolerance\n", run.model.c_str(),
                  static_cast<long long>(run.batch), worst);
    }
  }
};

TEST_P(Exporters, ScikitLearnPipelinesAgreeWithOnnxRuntime) { expect_all("sklearn", 32); }

TEST_P(Exporters, BothOfPyTorchAgreeWithOnnxRuntime) { expect_all("torch", 54); }

INSTANTIATE_TEST_SUITE_P(Engines, Exporters, ::testing::ValuesIn(kTestedEngines),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tocsin
