// Models that ask for more than there is: refused with the reason, soon, and without taking memory
// for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/graph/onnx_import.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kAbsurd = std::int64_t{1} << 62U;

// Checks the processor time and the memory that a refusal took.
class Thrift {
 public:
  Thrift() { getrusage(RUSAGE_SELF, &start_); }
  ~Thrift() {
    rusage end{};
    getrusage(RUSAGE_SELF, &end);
    EXPECT_LT(end.ru_utime.tv_sec + end.ru_stime.tv_sec,
              start_.ru_utime.tv_sec + start_.ru_stime.tv_sec + 10);
    EXPECT_LT(end.ru_maxrss - start_.ru_maxrss, 200 * 1024);  // KiB
  }
  Thrift(const Thrift&) = delete;
  Thrift& operator=(const Thrift&) = delete;

 private:
  rusage start_{};
};

void expect_refused(Graph graph, const std::string& reason, const ReferenceLimits& limits = {}) {
  const Thrift thrift;
  const auto session = ReferenceSession::load(std::move(graph), {}, limits);
  ASSERT_FALSE(session.ok()) << reason;
  EXPECT_THAT(session.error().message(), HasSubstr(reason));
}

// One node on input x[1, 4] and a list of integers.
Graph sized_by(const std::string& op_type, const std::vector<std::int64_t>& sizes) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 4});
  const ValueIndex list = builder.ints("list", sizes);
  const bool takes_x = op_type != "ConstantOfShape";
  std::vector<ValueIndex> inputs;
  if (takes_x) inputs.push_back(x);
  inputs.push_back(list);
  ValueIndex y = builder.node(op_type, inputs);
  if (!takes_x) y = builder.node("Add", {x, y});
  builder.output(y, {1, 4});
  return builder.finish();
}

TEST(BadModel, SizesBeyondMemoryAreRefused) {
  const std::int64_t large = std::int64_t{1} << 33U;  // of floats: 32 GiB
  expect_refused(sized_by("ConstantOfShape", {large}), "memory_bytes_max");
  expect_refused(sized_by("ConstantOfShape", {kAbsurd}), "too large");
  expect_refused(sized_by("Expand", {large, 4}), "memory_bytes_max");
  expect_refused(sized_by("Expand", {kAbsurd, 4}), "too large");
  expect_refused(sized_by("Tile", {large, 1}), "memory_bytes_max");
  expect_refused(sized_by("Tile", {kAbsurd, kAbsurd}), "too large");
  expect_refused(sized_by("Pad", {large, 0, 0, 0}), "a pad is 8589934592");
  expect_refused(sized_by("Reshape", {kAbsurd, -1}), "too large");
}

TEST(BadModel, ARangeWithoutAnEndIsRefused) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1});
  const auto number = [&builder](const std::string& name, std::int64_t value) {
    return builder.weight(name, Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{value}));
  };
  const ValueIndex range = builder.node(
      "Range", {number("start", INT64_MIN), number("limit", INT64_MAX), number("delta", 1)});
  builder.output(
      builder.node("Gather", {range, builder.node("Cast", {x}, {{"to", std::int64_t{7}}})}), {1});
  expect_refused(builder.finish(), "it is too long");
}

// `count` loops in each other, `trip_count` steps each, around y = x + 1. With `scans` each hands
// on what it made of each step, and goes on while its number is below the trip count.
std::shared_ptr<const Graph> nested_body(int count, std::int64_t trip_count, bool scans) {
  GraphBuilder body;
  const ValueIndex step = body.input("step", {}, DataType::kInt64);
  const ValueIndex condition = body.input("condition", {}, DataType::kBool);
  ValueIndex x = body.input("x", {1});
  const ValueIndex trips =
      body.weight("trips", Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{trip_count}));
  const ValueIndex goes_on = scans ? body.node("Less", {step, trips}) : condition;
  if (count > 1) {
    const auto made =
        body.nodes("Loop", {trips, condition, x},
                   {{"body", nested_body(count - 1, trip_count, scans)}}, scans ? 2 : 1);
    x = made[0];
  } else {
    x = body.node("Add", {x, body.floats("one", {1}, {1})});
  }
  body.output(body.node("Identity", {goes_on}), {}, DataType::kBool);
  body.output(x, {1});
  if (scans) body.output(body.node("Identity", {x}), {1});
  return std::make_shared<const Graph>(body.finish());
}

Graph nested_loops(int count, std::int64_t trip_count, bool scans = false) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1});
  const ValueIndex trips =
      builder.weight("trips", Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{trip_count}));
  const bool yes[] = {true};
  const ValueIndex condition = builder.weight("yes", Tensor::of<bool>({}, yes));
  const auto made = builder.nodes("Loop", {trips, condition, x},
                                  {{"body", nested_body(count, trip_count, scans)}}, scans ? 2 : 1);
  builder.output(made[0], {1});
  return builder.finish();
}

std::string run(Graph graph, const ReferenceLimits& limits, float& y) {
  const Thrift thrift;
  auto session = ReferenceSession::load(std::move(graph), {}, limits);
  EXPECT_TRUE(session.ok()) << session.error().message();
  if (!session.ok()) return {};
  float x = 0;
  const Shape shape{1};
  const TensorView input{DataType::kFloat32, shape, &x, sizeof(x)};
  const TensorView output{DataType::kFloat32, shape, &y, sizeof(y)};
  return (*session)->run({&input, 1}, {&output, 1}) ? "" : (*session)->error().message();
}

TEST(BadModel, ALoopOfAnAbsurdTripCountIsRefused) {
  expect_refused(nested_loops(1, kAbsurd), "its trip count 4611686018427387904 is over the limit");
}

TEST(BadModel, LoopsShareTheStepsOfARun) {
  ReferenceLimits limits;
  limits.loop_steps_max = 5'000;
  float y = 0;
  EXPECT_EQ(run(nested_loops(3, 10), limits, y), "");  // 10 + 10^2 + 10^3 steps
  EXPECT_EQ(y, 1'000.0F);
  EXPECT_THAT(run(nested_loops(4, 10), limits, y), HasSubstr("loop_steps_max"));
  EXPECT_EQ(run(nested_loops(2, 50), limits, y), "");  // and each run has all of them again
}

TEST(BadModel, BodiesThatAreTriedForEachStepHaveALimit) {
  ReferenceLimits limits;
  limits.node_plans_max = 1'000;
  expect_refused(nested_loops(1, 4'000, true), "node_plans_max", limits);
  float y = 0;
  EXPECT_EQ(run(nested_loops(1, 10, true), limits, y), "");
}

// The bytes of a model whose only initialiser claims to be [2^28], 1 GiB, external or not.
std::string claiming(bool is_external) {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  onnx::TensorProto* w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(std::int64_t{1} << 28U);
  if (is_external) {
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = w->add_external_data();
    entry->set_key("location");
    entry->set_value("README.md");
  } else {
    w->set_raw_data("few");
  }
  return model.SerializeAsString();
}

TEST(BadModel, AClaimOfGigabytesTakesNoMemory) {
  const std::string folder = tocsin_source_path("tests/data/engines");
  for (const bool is_external : {false, true}) {
    const Thrift thrift;
    const std::string text = claiming(is_external);
    const auto graph = import_onnx(std::as_bytes(std::span(text)), folder);
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.error().message(), HasSubstr("initialiser 'w'"));
    EXPECT_THAT(graph.error().message(),
                HasSubstr(is_external ? "is too short" : "need more data than the tensor has"));
  }
}

// `depth` If nodes in each other.
std::string nested_ifs(int depth) {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  onnx::GraphProto* graph = model.mutable_graph();
  for (int i = 0; i < depth; ++i) {
    onnx::NodeProto* node = graph->add_node();
    node->set_op_type("If");
    node->add_output("y" + std::to_string(i));
    graph->add_output()->set_name("y" + std::to_string(i));
    onnx::AttributeProto* branch = node->add_attribute();
    branch->set_name("then_branch");
    branch->set_type(onnx::AttributeProto::GRAPH);
    graph = branch->mutable_g();
  }
  return model.SerializeAsString();
}

TEST(BadModel, SubgraphsTooDeepInEachOtherAreRefused) {
  const Thrift thrift;
  for (const auto& [depth, reason] : {std::pair(9, "subgraphs stand in each other 9 deep"),
                                      std::pair(500, "not an ONNX model")}) {
    const std::string text = nested_ifs(depth);
    const auto graph = import_onnx(std::as_bytes(std::span(text)), "");
    ASSERT_FALSE(graph.ok());
    EXPECT_THAT(graph.error().message(), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace tocsin
