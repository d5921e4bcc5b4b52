// Sessions of the reference engine: rows, plans, memory, and what they refuse.
#include "engines/reference/reference_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "engines/graph/onnx_import.h"
#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_engine.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const std::vector<std::string> kModels = {"lstm_2x16", "gru_1x20", "lstm_both_ways",
                                          "rnn_1x10",  "encoder",  "convolutional"};

FloatModel load_model(const std::string& name, std::int64_t batch_max, std::int64_t steps) {
  SessionOptions options;
  options.batch_max = batch_max;
  options.steps = steps;
  auto session =
      ReferenceEngine().load(tocsin_source_path("tests/data/engines/" + name + ".onnx"), options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  return {std::move(*session), steps};
}

std::vector<float> run_batch(FloatModel& model, std::vector<float> rows, std::size_t batch) {
  model.set_batch(static_cast<std::int64_t>(batch));
  std::vector<float> outputs(batch * model.output_width());
  EXPECT_TRUE(model.run(rows, outputs)) << model.session().error().message();
  return outputs;
}

std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

TEST(ReferenceSession, ARowDependsOnItselfAlone) {
  constexpr std::size_t kBatchMax = 16;
  for (const std::string& name : kModels) {
    FloatModel model = load_model(name, kBatchMax, 14);
    const std::size_t width = model.input_width();
    const std::vector<float> row = formula_input(width);
    const std::vector<std::uint32_t> alone = bits(run_batch(model, row, 1));
    for (std::size_t batch = 1; batch <= kBatchMax; ++batch) {
      for (const std::size_t place : {std::size_t{0}, batch / 2, batch - 1}) {
        std::vector<float> rows(batch * width, kNan);
        for (std::size_t i = 0; i < rows.size(); i += 3)
          rows[i] = i % 2 == 0 ? kInfinity : -kInfinity;
        std::copy(row.begin(), row.end(),
                  rows.begin() + static_cast<std::ptrdiff_t>(place * width));
        const std::vector<float> outputs = run_batch(model, rows, batch);
        const std::size_t output_width = model.output_width();
        ASSERT_EQ(bits(std::span(outputs).subspan(place * output_width, output_width)), alone)
            << name << " at " << place << " of " << batch;
      }
    }
  }
}

TEST(ReferenceSession, ARunOfAPlannedBatchAllocatesNothing) {
  for (const std::string& name : kModels) {
    FloatModel model = load_model(name, 5, 14);
    for (std::size_t batch = 1; batch <= 5; ++batch) {
      model.set_batch(static_cast<std::int64_t>(batch));
      std::vector<float> rows = formula_input(batch * model.input_width());
      std::vector<float> outputs(batch * model.output_width());
      const std::uint64_t before = allocation_count();
      const bool ran = model.run(rows, outputs);
      const std::uint64_t after = allocation_count();
      EXPECT_TRUE(ran);
      EXPECT_EQ(after, before) << name << " batch " << batch;
    }
  }
}

TEST(ReferenceSession, APlanThatWasEvictedIsMadeAgain) {
  const std::string path = tocsin_source_path("tests/data/engines/gru_1x20.onnx");
  SessionOptions options;
  options.batch_max = 6;
  options.steps = 10;
  ReferenceLimits limits;
  limits.plan_count_max = 2;
  auto graph = import_onnx_file(path);
  ASSERT_TRUE(graph.ok());
  auto session = ReferenceSession::load(std::move(*graph), options, limits);
  ASSERT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), 10);
  const std::vector<float> rows = formula_input(6 * model.input_width());
  const std::vector<std::uint32_t> expected = bits(run_batch(model, rows, 6));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t batch = 1; batch <= 6; ++batch) {
      const std::vector<float> some(
          rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(batch * model.input_width()));
      const std::vector<std::uint32_t> actual = bits(run_batch(model, some, batch));
      EXPECT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin())) << batch;
    }
  }
}

TEST(ReferenceSession, NanComesOutAsTheOneQuietNan) {
  FloatModel model = load_model("lstm_2x16", 1, 5);
  const float negative_nan = std::bit_cast<float>(0xffc12345U);
  std::vector<float> row = formula_input(model.input_width());
  row[3] = negative_nan;
  EXPECT_EQ(bits(run_batch(model, row, 1)), (std::vector<std::uint32_t>{0x7fc00000U}));
}

TEST(ReferenceSession, InputsThatDoNotFitAreRefusedByName) {
  FloatModel model = load_model("gru_1x20", 2, 5);
  std::vector<float> rows = formula_input(3 * model.input_width());
  std::vector<float> outputs(3);
  model.set_batch(3);
  EXPECT_FALSE(model.run(rows, outputs));
  EXPECT_THAT(model.session().error().message(), HasSubstr("input 'x' is float32[3,5,8]"));
  EXPECT_THAT(model.session().error().message(), HasSubstr("batches of 1 to 2"));
  model.set_batch(2);
  EXPECT_FALSE(model.run(rows, outputs));
  EXPECT_THAT(model.session().error().message(), HasSubstr("it needs 320 bytes"));
  rows.resize(2 * model.input_width());
  EXPECT_FALSE(model.run(rows, outputs));
  EXPECT_THAT(model.session().error().message(), HasSubstr("output 'y'"));
  outputs.resize(2);
  EXPECT_TRUE(model.run(rows, outputs));
}

TEST(ReferenceSession, StepsOtherThanTheSessionsAreRefused) {
  FloatModel model = load_model("gru_1x20", 1, 5);
  std::vector<float> rows = formula_input(48);
  std::vector<float> outputs(1);
  const Shape in{1, 6, 8};
  const Shape out{1, 1};
  const TensorView input{DataType::kFloat32, in, rows.data(), rows.size() * sizeof(float)};
  const TensorView output{DataType::kFloat32, out, outputs.data(), sizeof(float)};
  EXPECT_FALSE(model.session().run({&input, 1}, {&output, 1}));
  EXPECT_THAT(model.session().error().message(), HasSubstr("bound to 5 steps"));
  EXPECT_FALSE(model.session().run({}, {&output, 1}));
  EXPECT_THAT(model.session().error().message(), HasSubstr("1 inputs and 1 outputs, given are 0"));
}

void expect_load_error(Graph graph, const SessionOptions& options, const std::string& reason) {
  const auto session = ReferenceSession::load(std::move(graph), options);
  ASSERT_FALSE(session.ok()) << reason;
  EXPECT_THAT(session.error().message(), HasSubstr(reason));
}

TEST(ReferenceSession, FreeTimeAxisNeedsSteps) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kFreeDimension, kFreeDimension, 3});
  builder.output(builder.node("Relu", {x}), {kFreeDimension, kFreeDimension, 3});
  expect_load_error(builder.finish(), {}, "input 'x' leaves dimension 1 open");
}

TEST(ReferenceSession, FixedBatchCannotBeRaised) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 3});
  builder.output(builder.node("Relu", {x}), {1, 3});
  SessionOptions options;
  options.batch_max = 4;
  expect_load_error(builder.finish(), options, "the model's batch is fixed");
}

TEST(ReferenceSession, UnknownOperatorIsNamedWithItsNodeAndTheEnginesToTurnTo) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 3});
  builder.output(builder.node("Det", {x}), {1, 3});
  Graph graph = builder.finish();
  expect_load_error(graph, {},
                    "node 'Det_0' (Det): the reference engine has no operator Det; engines that "
                    "can run it: onnxruntime");
  graph.nodes[0].domain = "example.tocsin";
  expect_load_error(graph, {},
                    "node 'Det_0' (example.tocsin.Det): the reference engine has no operator Det; "
                    "engines that can run it: none, it is of no standard domain");
}

TEST(ReferenceSession, UnknownAttributeIsRefused) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 3});
  builder.output(builder.node("Relu", {x}, {{"leak", 0.5F}}), {1, 3});
  expect_load_error(builder.finish(), {}, "attribute 'leak' is not supported");
}

TEST(ReferenceSession, OpsetThatIsNotKnownIsRefused) {
  GraphBuilder builder(6);
  const ValueIndex x = builder.input("x", {1, 3});
  builder.output(builder.node("Relu", {x}), {1, 3});
  expect_load_error(builder.finish(), {}, "the model uses opset 6");
}

TEST(ReferenceSession, OutputUnlikeItsDeclarationIsRefused) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 3});
  builder.output(builder.node("Relu", {x}), {1, 4});
  expect_load_error(builder.finish(), {},
                    "is declared float32[1,4], but comes out as float32[1,3]");
}

TEST(ReferenceSession, MemoryLimitIsNamed) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 1});
  const ValueIndex shape = builder.ints("shape", {1 << 20, 1 << 19});
  builder.output(builder.node("Expand", {x, shape}), {1 << 20, 1 << 19});
  expect_load_error(builder.finish(), {}, "memory_bytes_max");
}

TEST(ReferenceSession, IndexOutOfRangeFailsTheRunNotTheProgram) {
  GraphBuilder builder;
  const ValueIndex table = builder.floats("table", {3}, {10, 20, 30});
  const ValueIndex index = builder.input("index", {2}, DataType::kInt64);
  builder.output(builder.node("Gather", {table, index}), {2});
  auto session = ReferenceSession::load(builder.finish(), {});
  ASSERT_TRUE(session.ok()) << session.error().message();
  std::vector<std::int64_t> indices = {-1, 1};
  std::vector<float> values(2);
  const Shape shape{2};
  const TensorView in{DataType::kInt64, shape, indices.data(), 16};
  const TensorView out{DataType::kFloat32, shape, values.data(), 8};
  EXPECT_TRUE((*session)->run({&in, 1}, {&out, 1}));
  EXPECT_EQ(values, (std::vector<float>{30, 20}));
  indices[1] = 3;
  EXPECT_FALSE((*session)->run({&in, 1}, {&out, 1}));
  EXPECT_THAT((*session)->error().message(),
              HasSubstr("node 'Gather_0' (Gather): an index is out"));
}

TEST(ReferenceSession, OutputsMayBeInputsAndConstants) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {1, 2});
  builder.output(builder.node("Identity", {x}), {1, 2});
  builder.output(builder.node("Shape", {x}), {2}, DataType::kInt64);
  auto session = ReferenceSession::load(builder.finish(), {});
  ASSERT_TRUE(session.ok()) << session.error().message();
  std::vector<float> values = {1.5F, 2.5F};
  std::vector<float> copy(2);
  std::vector<std::int64_t> sizes(2);
  const Shape matrix{1, 2};
  const Shape vector{2};
  const TensorView in{DataType::kFloat32, matrix, values.data(), 8};
  const TensorView out[2] = {{DataType::kFloat32, matrix, copy.data(), 8},
                             {DataType::kInt64, vector, sizes.data(), 16}};
  EXPECT_TRUE((*session)->run({&in, 1}, out));
  EXPECT_EQ(copy, values);
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{1, 2}));
}

TEST(ReferenceEngine, SaysWhatItIs) {
  const EngineInfo info = ReferenceEngine().info();
  EXPECT_EQ(info.name, "reference");
  EXPECT_TRUE(info.found);
  EXPECT_EQ(info.path, "built in");
  EXPECT_EQ(info.determinism, DeterminismClass::kExact);
  EXPECT_TRUE(make_engine("reference").ok());
}

}  // namespace
}  // namespace tocsin
