// The reference engine against ONNX's own node tests. A test counts as unsupported if the engine
// says that it lacks something; whatever it does run must agree with the stored outputs.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/archive_files.h"
#include "engines/graph/onnx_import.h"
#include "engines/graph/onnx_tensor.h"
#include "engines/reference/reference_session.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

// The stored outputs are NumPy's in float32 or float64, rounded.
constexpr double kRelativeTolerance = 1e-5;
constexpr double kAbsoluteTolerance = 2e-6;

struct NodeTest {
  std::vector<std::byte> model;
  std::vector<std::vector<std::byte>> inputs, outputs;
};

enum class Outcome { kPassed, kUnsupported, kFailed };

struct Verdict {
  Outcome outcome = Outcome::kFailed;
  std::string reason;
};

std::map<std::string, NodeTest> collect(
    const std::map<std::string, std::vector<std::byte>>& files) {
  std::map<std::string, NodeTest> tests;
  for (const auto& [path, content] : files) {
    const std::size_t name_end = path.rfind("/model.onnx");
    if (name_end != std::string::npos) tests[path.substr(0, name_end)].model = content;
  }
  for (auto& [name, test] : tests) {
    for (const bool is_input : {true, false}) {
      for (int i = 0;; ++i) {
        const auto found =
            files.find(name + "/test_data_set_0/" + (is_input ? "input_" : "output_") +
                       std::to_string(i) + ".pb");
        if (found == files.end()) break;
        (is_input ? test.inputs : test.outputs).push_back(found->second);
      }
    }
  }
  return tests;
}

Result<std::vector<Tensor>> read_tensors(const std::vector<std::vector<std::byte>>& contents) {
  std::vector<Tensor> tensors;
  for (const std::vector<std::byte>& content : contents) {
    onnx::TensorProto proto;
    if (!proto.ParseFromArray(content.data(), static_cast<int>(content.size())))
      return Error(ErrorCode::kUnimplemented, "a value that is not a tensor");
    ExternalData none;
    TOCSIN_ASSIGN_OR_RETURN(Tensor tensor, import_tensor(proto, none));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

template <typename T>
std::optional<std::string> compare_values(const Tensor& actual, const Tensor& expected) {
  for (std::size_t i = 0; i < expected.element_count(); ++i) {
    const auto a = static_cast<double>(actual.values<T>()[i]);
    const auto e = static_cast<double>(expected.values<T>()[i]);
    const bool agrees = a == e || (std::isnan(a) && std::isnan(e)) ||
                        std::fabs(a - e) <= kAbsoluteTolerance + kRelativeTolerance * std::fabs(e);
    if (!agrees)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(e);
  }
  return std::nullopt;
}

std::optional<std::string> compare(const Tensor& actual, const Tensor& expected) {
  switch (expected.type()) {
    case DataType::kFloat32:
      return compare_values<float>(actual, expected);
    case DataType::kFloat64:
      return compare_values<double>(actual, expected);
    case DataType::kInt64:
      return compare_values<std::int64_t>(actual, expected);
    case DataType::kInt32:
      return compare_values<std::int32_t>(actual, expected);
    default:
      return compare_values<bool>(actual, expected);
  }
}

TensorView view_of(Tensor& tensor) {
  return {tensor.type(), tensor.shape(), tensor.mutable_data(), tensor.size_bytes()};
}

// Fixes the free dimensions to those of the test; with `constants_from`, inputs from there on
// become initialisers, as weights are in a real model.
void bind_inputs(Graph& graph, std::vector<Tensor>& inputs, std::size_t constants_from) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    graph.signature.inputs[i].shape = inputs[i].shape();
  while (graph.inputs.size() > constants_from) {
    graph.initializers.push_back({graph.inputs.back(), inputs.back()});
    graph.inputs.pop_back();
    graph.signature.inputs.pop_back();
    inputs.pop_back();
  }
}

Verdict verdict_of(const Error& error) {
  const bool lacks = error.code() == ErrorCode::kUnimplemented;
  return {lacks ? Outcome::kUnsupported : Outcome::kFailed, error.message()};
}

Verdict run_session(Graph graph, std::vector<Tensor> inputs, const std::vector<Tensor>& expected,
                    std::size_t constants_from) {
  if (graph.inputs.size() != inputs.size() || graph.outputs.size() != expected.size())
    return {Outcome::kFailed, "the test's data do not fit its model"};
  bind_inputs(graph, inputs, constants_from);
  auto session = ReferenceSession::load(std::move(graph), {});
  if (!session.ok()) return verdict_of(session.error());
  std::vector<TensorView> input_views;
  input_views.reserve(inputs.size());
  for (Tensor& input : inputs) input_views.push_back(view_of(input));
  std::vector<Tensor> outputs;
  outputs.reserve(expected.size());
  for (const Tensor& output : expected) outputs.emplace_back(output.type(), output.shape());
  std::vector<TensorView> output_views;
  output_views.reserve(expected.size());
  for (Tensor& output : outputs) output_views.push_back(view_of(output));
  if (!(*session)->run(input_views, output_views)) return verdict_of((*session)->error());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const auto difference = compare(outputs[i], expected[i]))
      return {Outcome::kFailed, "output " + std::to_string(i) + ": " + *difference};
  }
  return {Outcome::kPassed, ""};
}

// Runs the test with all inputs as inputs, and with all but the first as weights: whatever the
// engine supports must pass, and it passes if one of the two is supported.
Verdict judge(const NodeTest& test, const Graph& graph) {
  const Result<std::vector<Tensor>> inputs = read_tensors(test.inputs);
  const Result<std::vector<Tensor>> expected = read_tensors(test.outputs);
  if (!inputs.ok()) return verdict_of(inputs.error());
  if (!expected.ok()) return verdict_of(expected.error());
  const Verdict as_inputs = run_session(graph, *inputs, *expected, inputs->size());
  const Verdict as_weights = run_session(graph, *inputs, *expected, 1);
  if (as_inputs.outcome == Outcome::kFailed) return as_inputs;
  if (as_weights.outcome == Outcome::kFailed) return as_weights;
  return as_inputs.outcome == Outcome::kPassed ? as_inputs : as_weights;
}

struct Row {
  int passed = 0, unsupported = 0, failed = 0;
  void add(Outcome outcome) {
    ++(outcome == Outcome::kPassed ? passed : outcome == Outcome::kFailed ? failed : unsupported);
  }
};

std::string group_of(const Graph& graph) {
  return graph.nodes.size() == 1 ? graph.nodes[0].op_type : "(several operators)";
}

TEST(OnnxNodeTests, EveryTestOfASupportedOperatorPasses) {
  const std::string path = tocsin_data_path("onnx_node_tests.tar.zst");
  if (path.empty()) GTEST_SKIP() << "onnx_node_tests.tar.zst is not there: set TOCSIN_DATA";
  const auto files = read_archive_files(path);
  ASSERT_TRUE(files.ok()) << files.error().message();
  std::map<std::string, Row> table;
  Row total;
  const bool shows_reasons = std::getenv("TOCSIN_SHOW_UNSUPPORTED") != nullptr;
  for (const auto& [name, test] : collect(*files)) {
    const Result<Graph> graph = import_onnx(test.model, "");
    const Verdict verdict = graph.ok() ? judge(test, *graph) : verdict_of(graph.error());
    total.add(verdict.outcome);
    table[graph.ok() ? group_of(*graph) : "(not imported)"].add(verdict.outcome);
    EXPECT_NE(verdict.outcome, Outcome::kFailed) << name << ": " << verdict.reason;
    if (shows_reasons && verdict.outcome == Outcome::kUnsupported)
      std::printf("%s: %s\n", name.c_str(), verdict.reason.c_str());
  }
  std::printf("%-24s %7s %12s %7s\n", "operator", "passed", "unsupported", "failed");
  int unknown = 0;
  for (const auto& [group, row] : table) {
    if (row.passed + row.failed == 0)
      unknown += row.unsupported;
    else
      std::printf("%-24s %7d %12d %7d\n", group.c_str(), row.passed, row.unsupported, row.failed);
  }
  std::printf("%-24s %7d %12d %7d\n", "(other operators)", 0, unknown, 0);
  std::printf("%-24s %7d %12d %7d\n", "all", total.passed, total.unsupported, total.failed);
  EXPECT_GE(total.passed, 300) << "far fewer tests ran than should";
}

}  // namespace
}  // namespace tocsin
