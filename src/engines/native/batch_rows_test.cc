// Which graphs keep the rows of a batch apart.
#include "engines/native/batch_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engines/graph/onnx_import.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

constexpr std::int64_t kSteps = 14;
constexpr std::int64_t kFeatures = 6;
const Shape kWindow = {kFreeDimension, kFreeDimension, kFeatures};

bool are_apart(Graph graph) {
  SessionOptions options;
  options.steps = kSteps;
  auto session = ReferenceSession::load(std::move(graph), options);
  EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().message());
  if (!session.ok()) return false;
  const auto facts = (*session)->infer(7);
  const auto other = (*session)->infer(11);
  EXPECT_TRUE(facts.ok() && other.ok());
  return facts.ok() && other.ok() && rows_are_apart((*session)->graph(), {7, *facts}, {11, *other});
}

// A graph of what `body` makes of the window, reduced to [batch, 1] along the other dimensions.
Graph graph_of(const std::function<ValueIndex(GraphBuilder&, ValueIndex)>& body, Shape output) {
  GraphBuilder builder(13);
  const ValueIndex x = builder.input("x", kWindow);
  builder.output(body(builder, x), std::move(output));
  return builder.finish();
}

TEST(BatchRows, ModelsOfEveryKindKeepTheirRowsApart) {
  for (const char* name :
       {"lstm_2x16", "gru_1x20", "lstm_both_ways", "rnn_1x10", "encoder", "convolutional"}) {
    auto graph = import_onnx_file(tocsin_source_path("tests/data/engines/") + name + ".onnx");
    ASSERT_TRUE(graph.ok());
    EXPECT_TRUE(are_apart(std::move(*graph))) << name;
  }
}

TEST(BatchRows, AMeanOverTimeKeepsRowsApartAndOneOverTheBatchDoesNot) {
  const auto mean_over = [](std::int64_t axis) {
    return graph_of(
        [axis](GraphBuilder& builder, ValueIndex x) {
          return builder.node(
              "ReduceMean", {x},
              {{"axes", std::vector<std::int64_t>{axis}}, {"keepdims", std::int64_t{1}}});
        },
        axis == 0 ? Shape{1, kFreeDimension, kFeatures} : Shape{kFreeDimension, 1, kFeatures});
  };
  EXPECT_TRUE(are_apart(mean_over(1)));
  EXPECT_FALSE(are_apart(mean_over(0)));
}

TEST(BatchRows, ASoftmaxOverTheBatchMixesRows) {
  const auto softmax_over = [](std::int64_t axis) {
    return graph_of(
        [axis](GraphBuilder& builder, ValueIndex x) {
          return builder.node("Softmax", {x}, {{"axis", axis}});
        },
        kWindow);
  };
  EXPECT_TRUE(are_apart(softmax_over(2)));
  EXPECT_TRUE(are_apart(softmax_over(1)));
  EXPECT_FALSE(are_apart(softmax_over(0)));
}

TEST(BatchRows, ARowMinusTheNextOneMixesRows) {
  const Graph graph = graph_of(
      [](GraphBuilder& builder, ValueIndex x) {
        const ValueIndex first = builder.node(
            "Gather",
            {x, builder.weight("zero", Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{0}))},
            {{"axis", std::int64_t{0}}});
        return builder.node("Sub", {x, first});
      },
      kWindow);
  EXPECT_FALSE(are_apart(graph));
}

TEST(BatchRows, ABatchFoldedIntoTimeAndBackIsFollowed) {
  const Graph graph = graph_of(
      [](GraphBuilder& builder, ValueIndex x) {
        const ValueIndex rows = builder.node("Reshape", {x, builder.ints("rows", {-1, kFeatures})});
        const ValueIndex scaled = builder.node("Relu", {rows});
        return builder.node("Reshape", {scaled, builder.ints("back", {-1, kSteps, kFeatures})});
      },
      kWindow);
  EXPECT_TRUE(are_apart(graph));
}

TEST(BatchRows, AShapeThatSplitsRowsOtherwiseIsNoBatch) {
  const Graph graph = graph_of(
      [](GraphBuilder& builder, ValueIndex x) {
        return builder.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
      },
      {kFreeDimension, kFreeDimension, kFeatures});
  EXPECT_FALSE(are_apart(graph));
}

TEST(BatchRows, TheNumberOfRowsAsANumberMixesRows) {
  const Graph graph = graph_of(
      [](GraphBuilder& builder, ValueIndex x) {
        const ValueIndex shape = builder.node("Shape", {x});
        const ValueIndex batch = builder.node("Gather", {shape, builder.ints("first", {0})});
        const ValueIndex count = builder.node("Cast", {batch}, {{"to", std::int64_t{1}}});
        return builder.node("Div", {x, count});
      },
      kWindow);
  EXPECT_FALSE(are_apart(graph));
}

TEST(BatchRows, AnInitialStateAsLongAsTheBatchIsABatch) {
  const Graph graph = graph_of(
      [](GraphBuilder& builder, ValueIndex x) {
        const ValueIndex shape = builder.node("Shape", {x});
        const ValueIndex batch = builder.node("Gather", {shape, builder.ints("first", {0})});
        const ValueIndex sizes =
            builder.node("Concat", {builder.ints("one", {1}), batch, builder.ints("units", {4})},
                         {{"axis", std::int64_t{0}}});
        const ValueIndex zeros = builder.node("ConstantOfShape", {sizes});
        const ValueIndex by_time =
            builder.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
        const ValueIndex w =
            builder.floats("w", {1, 12, kFeatures}, std::vector<float>(12 * kFeatures, 0.1F));
        const ValueIndex r = builder.floats("r", {1, 12, 4}, std::vector<float>(48, 0.2F));
        const auto states = builder.nodes("GRU", {by_time, w, r, kNoValue, kNoValue, zeros},
                                          {{"hidden_size", std::int64_t{4}}}, 2);
        return builder.node("Squeeze", {states[1], builder.ints("axes", {0})});
      },
      {kFreeDimension, 4});
  EXPECT_TRUE(are_apart(graph));
}

}  // namespace
}  // namespace tocsin
