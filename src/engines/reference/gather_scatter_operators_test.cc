// Indices that values do not allow, and 16-bit floats within a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string op_type;
  std::string domain;
  Shape indices;
  bool has_updates = false;
};

TEST(GatherAndScatter, AnIndexOutOfRangeFailsTheRunWithItsNode) {
  const std::vector<Case> cases = {{"GatherElements", "", {2}},
                                   {"GatherND", "", {2, 1}},
                                   {"ArrayFeatureExtractor", "ai.onnx.ml", {2}},
                                   {"ScatterElements", "", {2}, true},
                                   {"ScatterND", "", {2, 1}, true}};
  for (const Case& item : cases) {
    GraphBuilder builder;
    std::vector<ValueIndex> inputs = {builder.floats("table", {3}, {10, 20, 30}),
                                      builder.input("index", item.indices, DataType::kInt64)};
    if (item.has_updates) inputs.push_back(builder.floats("updates", {2}, {1, 2}));
    builder.output(builder.node(item.op_type, inputs), {kFreeDimension});
    Graph graph = builder.finish();
    graph.nodes[0].domain = item.domain;
    const Shape out = item.has_updates                          ? Shape{3}
                      : item.op_type == "ArrayFeatureExtractor" ? Shape{1, 2}
                                                                : Shape{2};
    graph.signature.outputs[0].shape = out;
    auto session = ReferenceSession::load(std::move(graph), {});
    ASSERT_TRUE(session.ok()) << session.error().message();
    std::vector<float> values(3);
    const TensorView output{DataType::kFloat32, out, values.data(),
                            *checked_element_count(out) * sizeof(float)};
    for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, INT64_MIN, INT64_MAX}) {
      std::vector<std::int64_t> indices = {1, index};
      const TensorView input{DataType::kInt64, item.indices, indices.data(), 16};
      EXPECT_FALSE((*session)->run({&input, 1}, {&output, 1})) << item.op_type;
      EXPECT_THAT((*session)->error().message(), HasSubstr(item.op_type + "_0'"));
      EXPECT_THAT((*session)->error().message(), HasSubstr("an index is out of range"));
    }
    std::vector<std::int64_t> indices = {1, 2};
    const TensorView input{DataType::kInt64, item.indices, indices.data(), 16};
    EXPECT_TRUE((*session)->run({&input, 1}, {&output, 1})) << item.op_type;
    EXPECT_EQ(values[1], item.has_updates ? 1.0F : 30.0F) << item.op_type;
  }
}

// x cast to 16 bits and back.
std::vector<float> through_cast(std::int64_t onnx_type, std::vector<float> x) {
  GraphBuilder builder;
  const Shape shape{static_cast<std::int64_t>(x.size())};
  const ValueIndex half = builder.node("Cast", {builder.input("x", shape)}, {{"to", onnx_type}});
  builder.output(builder.node("Cast", {half}, {{"to", std::int64_t{1}}}), shape);
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  std::vector<float> y(x.size());
  const TensorView input{DataType::kFloat32, shape, x.data(), x.size() * sizeof(float)};
  const TensorView output{DataType::kFloat32, shape, y.data(), y.size() * sizeof(float)};
  EXPECT_TRUE((*session)->run({&input, 1}, {&output, 1}));
  return y;
}

TEST(Cast, To16BitsRoundsToWhatTheyHold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // 1 + 2^-11 is half way between two FP16 values and goes to the even one; 65520 is beyond.
  EXPECT_EQ(through_cast(10, {1.0F + 0x1p-11F, 1.0F + 0x1.8p-10F, 65'519.0F, 65'520.0F, 0x1p-26F}),
            (std::vector<float>{1.0F, 1.0F + 0x1p-9F, 65'504.0F, kInfinity, 0.0F}));
  EXPECT_EQ(through_cast(16, {1.0F + 0x1p-8F, 1.0F + 0x1.8p-7F, 1e38F}),
            (std::vector<float>{1.0F, 1.0F + 0x1p-6F, 0x1.2cp+126F}));
}

}  // namespace
}  // namespace tocsin
