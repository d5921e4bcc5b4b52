// Every engine of ours against ONNX's own node tests. A test counts as unsupported if the engine
// says that it lacks something; whatever it does run must agree with the stored outputs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/node_test_case.h"
#include "conformance/tested_engines.h"
#include "engines/engine.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

enum class Outcome { kPassed, kUnsupported, kFailed };

struct Verdict {
  Outcome outcome = Outcome::kFailed;
  std::string reason;
};

Verdict verdict_of(const Error& error) {
  const bool lacks = error.code() == ErrorCode::kUnimplemented;
  return {lacks ? Outcome::kUnsupported : Outcome::kFailed, error.message()};
}

std::vector<TensorView> views_of(std::vector<Tensor>& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (Tensor& tensor : tensors)
    views.push_back({tensor.type(), tensor.shape(), tensor.mutable_data(), tensor.size_bytes()});
  return views;
}

struct Row {
  int passed = 0, unsupported = 0, failed = 0;
  void add(Outcome outcome) {
    ++(outcome == Outcome::kPassed ? passed : outcome == Outcome::kFailed ? failed : unsupported);
  }
};

class OnnxNodeTests : public ::testing::TestWithParam<TestedEngine> {
 protected:
  void SetUp() override {
    auto engine = make_engine(GetParam().name);
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    engine_ = std::move(*engine);
    model_path_ = std::filesystem::temp_directory_path() /
                  ("tocsin_node_test_" + std::to_string(::getpid()) + ".onnx");
  }
  void TearDown() override { std::filesystem::remove(model_path_); }

  // Runs the test with all inputs as inputs, and with all but the first as weights: whatever the
  // engine supports must pass, and it passes if one of the two is supported.
  Verdict judge(const NodeTestCase& test) const {
    if (test.has_other_values) return {Outcome::kUnsupported, "a value that is not a tensor"};
    const Verdict as_inputs = run(test, test.inputs.size());
    const Verdict as_weights = run(test, 1);
    if (as_inputs.outcome == Outcome::kFailed) return as_inputs;
    if (as_weights.outcome == Outcome::kFailed) return as_weights;
    return as_inputs.outcome == Outcome::kPassed ? as_inputs : as_weights;
  }

  static void print(const std::map<std::string, Row>& table, const Row& total) {
    std::printf("%-24s %7s %12s %7s\n", "operator", "passed", "unsupported", "failed");
    Row others;
    for (const auto& [name, row] : table) {
      if (row.passed + row.failed == 0)
        others.unsupported += row.unsupported;
      else
        std::printf("%-24s %7d %12d %7d\n", name.c_str(), row.passed, row.unsupported, row.failed);
    }
    std::printf("%-24s %7d %12d %7d\n", "(other operators)", 0, others.unsupported, 0);
    std::printf("%-24s %7d %12d %7d\n", "all", total.passed, total.unsupported, total.failed);
  }

 private:
  Verdict run(const NodeTestCase& test, std::size_t constants_from) const {
    Result<std::vector<Tensor>> inputs = read_tensors(test.inputs);
    const Result<std::vector<Tensor>> expected = read_tensors(test.outputs);
    if (!inputs.ok()) return verdict_of(inputs.error());
    if (!expected.ok()) return verdict_of(expected.error());
    std::ofstream(model_path_, std::ios::binary)
        << bound_model(test, constants_from).SerializeAsString();
    auto session = engine_->load(model_path_, {});
    if (!session.ok()) return verdict_of(session.error());
    if (inputs->size() > constants_from) inputs->resize(constants_from);
    std::vector<Tensor> outputs;
    for (const Tensor& output : *expected) outputs.emplace_back(output.type(), output.shape());
    if (!(*session)->run(views_of(*inputs), views_of(outputs)))
      return verdict_of((*session)->error());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (const auto found = difference(outputs[i], (*expected)[i]))
        return {Outcome::kFailed, "output " + std::to_string(i) + ": " + *found};
    }
    return {Outcome::kPassed, ""};
  }

  std::unique_ptr<Engine> engine_;
  std::filesystem::path model_path_;
};

TEST_P(OnnxNodeTests, EveryTestOfASupportedOperatorPasses) {
  const std::string path = tocsin_data_path("onnx_node_tests.tar.zst");
  if (path.empty()) GTEST_SKIP() << "onnx_node_tests.tar.zst is not there: set TOCSIN_DATA";
  const auto tests = read_node_tests(path);
  ASSERT_TRUE(tests.ok()) << tests.error().message();
  std::map<std::string, Row> table;
  Row total;
  const bool shows_reasons = std::getenv("TOCSIN_SHOW_UNSUPPORTED") != nullptr;
  for (const NodeTestCase& test : *tests) {
    const Verdict verdict = judge(test);
    total.add(verdict.outcome);
    table[test.operator_name].add(verdict.outcome);
    EXPECT_NE(verdict.outcome, Outcome::kFailed) << test.name << ": " << verdict.reason;
    if (shows_reasons && verdict.outcome == Outcome::kUnsupported)
      std::printf("%s: %s\n", test.name.c_str(), verdict.reason.c_str());
  }
  print(table, total);
  EXPECT_EQ(total.passed, GetParam().node_tests_passed) << "see tested_engines.h";
}

INSTANTIATE_TEST_SUITE_P(Engines, OnnxNodeTests, ::testing::ValuesIn(kTestedEngines),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tocsin
