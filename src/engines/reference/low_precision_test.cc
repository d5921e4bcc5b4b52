// Sessions in low precision: which products are changed, and by how much.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/half_float.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::int64_t kBatch = 5;
constexpr std::int64_t kSteps = 6;
constexpr std::int64_t kFeatures = 9;
constexpr std::int64_t kUnits = 18;

using Rounding = std::function<float(float)>;

std::size_t elements(const Shape& shape) { return *checked_element_count(shape); }

// Multiples of 1/128 up to 127/128 in magnitude, the largest in each row of `row` values: INT8 per
// output holds them exactly.
std::vector<float> grid(RandomFloats& random, std::size_t count, std::size_t row) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        i % row == 0 ? 127.0F / 128.0F : (static_cast<float>(random.below(255)) - 127.0F) / 128.0F;
  return values;
}

// Weights [outputs, ...] of products, rounded before the session sees them; [inputs, outputs] if
// transposed.
ValueIndex weights(GraphBuilder& builder, const std::string& name, Shape shape,
                   const Rounding& rounding, bool transposed = false) {
  RandomFloats random(kSeed + name.size());
  const std::size_t count = elements(shape);
  const std::size_t outputs = static_cast<std::size_t>(transposed ? shape[1] : shape[0]);
  std::vector<float> values = grid(random, count, count / outputs);
  if (transposed) {
    const std::vector<float> rows = values;
    for (std::size_t i = 0; i < count; ++i)
      values[i] = rows[i % outputs * (count / outputs) + i / outputs];
  }
  for (float& value : values) value = rounding(value);
  return builder.floats(name, std::move(shape), values);
}

ValueIndex bias(GraphBuilder& builder, const std::string& name, Shape shape) {
  RandomFloats random(kSeed + 100 + name.size());
  const std::vector<float> values = random.vector(elements(shape), 0.5F);
  return builder.floats(name, std::move(shape), values);
}

Graph gemm_model(const Rounding& rounding) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kFreeDimension, kFeatures});
  builder.output(builder.node("Gemm",
                              {x, weights(builder, "w", {kUnits, kFeatures}, rounding),
                               bias(builder, "c", {kUnits})},
                              {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}),
                 {kFreeDimension, kUnits});
  return builder.finish();
}

Graph matmul_model(const Rounding& rounding) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kFreeDimension, kSteps, kFeatures});
  builder.output(
      builder.node("MatMul", {x, weights(builder, "w", {kFeatures, kUnits}, rounding, true)}),
      {kFreeDimension, kSteps, kUnits});
  return builder.finish();
}

Graph conv_model(const Rounding& rounding) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kFreeDimension, 6, 70});
  builder.output(builder.node("Conv",
                              {x, weights(builder, "w", {kUnits, 3, 3}, rounding),
                               bias(builder, "b", {kUnits})},
                              {{"group", std::int64_t{2}},
                               {"kernel_shape", std::vector<std::int64_t>{3}},
                               {"pads", std::vector<std::int64_t>{1, 1}}}),
                 {kFreeDimension, kUnits, 70});
  return builder.finish();
}

Graph recurrent_model(const std::string& type, std::int64_t gates, std::int64_t linear,
                      std::int64_t steps, const Rounding& rounding,
                      const std::vector<std::string>& activations = {}) {
  GraphBuilder builder;
  ValueIndex x = builder.input("x", {kFreeDimension, steps, kFeatures});
  const std::vector<std::int64_t> swap{1, 0, 2};
  x = builder.node("Transpose", {x}, {{"perm", swap}});
  const std::int64_t width = gates * kUnits;
  std::vector<Attribute> attributes = {{"hidden_size", kUnits},
                                       {"direction", std::string("bidirectional")}};
  if (type == "GRU") attributes.push_back({"linear_before_reset", linear});
  if (!activations.empty()) attributes.push_back({"activations", activations});
  // [2, width, n] holds 2 * width outputs: the grid's rows are those of the flat matrix.
  const auto both = [&](const std::string& name, std::int64_t inputs) {
    RandomFloats random(kSeed + name.size());
    std::vector<float> values = grid(random, static_cast<std::size_t>(2 * width * inputs),
                                     static_cast<std::size_t>(inputs));
    for (float& value : values) value = rounding(0.25F * value);
    return builder.floats(name, {2, width, inputs}, values);
  };
  const ValueIndex w = both("ww", kFeatures);
  const ValueIndex r = both("rrr", kUnits);
  const ValueIndex y =
      builder.node(type, {x, w, r, bias(builder, "b", {2, 2 * width})}, attributes);
  builder.output(y, {steps, 2, kFreeDimension, kUnits});
  return builder.finish();
}

struct Case {
  std::string name;
  std::function<Graph(const Rounding&)> make;
  bool is_recurrent = false;
};

const std::vector<Case>& cases() {
  const auto recurrent = [](std::string type, std::int64_t gates, std::int64_t linear) {
    return [type = std::move(type), gates, linear](const Rounding& rounding) {
      return recurrent_model(type, gates, linear, kSteps, rounding);
    };
  };
  static const std::vector<Case> all = {{"Gemm", gemm_model},
                                        {"MatMul", matmul_model},
                                        {"Conv", conv_model},
                                        {"LSTM", recurrent("LSTM", 4, 0), true},
                                        {"GRU", recurrent("GRU", 3, 1), true},
                                        {"ResetFirstGRU", recurrent("GRU", 3, 0), true},
                                        {"RNN", recurrent("RNN", 1, 0), true}};
  return all;
}

float as_it_is(float value) { return value; }

// The outputs of a batch of formula inputs, scaled; recurrent models give [steps, 2, batch, units].
std::vector<float> run(Graph graph, const SessionOptions& options, float input_scale,
                       bool on_grid = false) {
  auto session = ReferenceSession::load(std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  if (!session.ok()) return {};
  Shape in = (*session)->signature().inputs[0].shape;
  Shape out = (*session)->signature().outputs[0].shape;
  std::replace(in.begin(), in.end(), kFreeDimension, options.batch_max);
  std::replace(out.begin(), out.end(), kFreeDimension, options.batch_max);
  std::vector<float> x = formula_input(elements(in));
  for (float& value : x) {
    value *= input_scale;
    if (on_grid) value = std::nearbyint(value * 64.0F) / 64.0F;
  }
  std::vector<float> y(elements(out));
  const TensorView input{DataType::kFloat32, in, x.data(), x.size() * sizeof(float)};
  const TensorView output{DataType::kFloat32, out, y.data(), y.size() * sizeof(float)};
  EXPECT_TRUE((*session)->run({&input, 1}, {&output, 1})) << (*session)->error().message();
  return y;
}

SessionOptions options_of(Precision precision, const ActivationScales& scales = {}) {
  SessionOptions options;
  options.batch_max = kBatch;
  options.precision = precision;
  options.activation_scales = std::make_shared<const ActivationScales>(scales);
  return options;
}

// For both names that X has: before and after the transposition.
ActivationScales input_scales(float scale) { return {{"x", scale}, {"Transpose_0_0", scale}}; }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

class LowPrecision : public testing::TestWithParam<std::size_t> {
 protected:
  const Case& current() const { return cases()[GetParam()]; }
};

TEST_P(LowPrecision, SixteenBitsAreFloat32OfTheRoundedWeights) {
  const Rounding third_bfloat16 = [](float w) { return from_bfloat16(to_bfloat16(w / 3)); };
  const Rounding third_float16 = [](float w) { return from_float16(to_float16(w / 3)); };
  const Rounding third = [](float w) { return w / 3; };
  const std::vector<float> exact =
      run(current().make(third), options_of(Precision::kFloat32), 1.0F);
  for (const Precision precision : {Precision::kBfloat16, Precision::kFloat16}) {
    const bool is_bfloat16 = precision == Precision::kBfloat16;
    const std::vector<float> low = run(current().make(third), options_of(precision), 1.0F);
    EXPECT_EQ(low, run(current().make(is_bfloat16 ? third_bfloat16 : third_float16),
                       options_of(Precision::kFloat32), 1.0F))
        << precision_name(precision);
    EXPECT_NE(low, exact) << precision_name(precision);
  }
}

TEST_P(LowPrecision, Int8IsExactWhereItsGridHoldsEverything) {
  if (current().is_recurrent) {
    // Without a state that is not on the grid: one step.
    const Graph one = recurrent_model("LSTM", 4, 0, 1, as_it_is);
    EXPECT_EQ(run(one, options_of(Precision::kInt8, input_scales(1.0F / 64.0F)), 0.5F, true),
              run(one, options_of(Precision::kFloat32), 0.5F, true));
    return;
  }
  EXPECT_EQ(run(current().make(as_it_is), options_of(Precision::kInt8, input_scales(1.0F / 64.0F)),
                0.5F, true),
            run(current().make(as_it_is), options_of(Precision::kFloat32), 0.5F, true));
}

TEST_P(LowPrecision, TheErrorOfInt8IsThatOfItsSteps) {
  const std::vector<float> exact =
      run(current().make(as_it_is), options_of(Precision::kFloat32), 1.0F);
  const std::vector<float> low = run(
      current().make(as_it_is), options_of(Precision::kInt8, input_scales(2.002F / 127.0F)), 1.0F);
  // Up to 18 inputs of a product, each wrong by half a step of 2 / 127 at most.
  const double difference = largest_difference(exact, low);
  EXPECT_GT(difference, 1e-4);
  EXPECT_LT(difference, 0.15);
}

TEST_P(LowPrecision, AProductWithoutAScaleStaysInFloat32) {
  const std::vector<float> exact =
      run(current().make(as_it_is), options_of(Precision::kFloat32), 1.0F);
  const std::vector<float> low =
      run(current().make(as_it_is), options_of(Precision::kInt8, {{"another", 0.1F}}), 1.0F);
  if (current().is_recurrent)
    EXPECT_NE(low, exact);  // the states have a scale by themselves
  else
    EXPECT_EQ(low, exact);
}

TEST_P(LowPrecision, TheBatchChangesNoBit) {
  for (const Precision precision : {Precision::kBfloat16, Precision::kFloat16, Precision::kInt8}) {
    SessionOptions options = options_of(precision, input_scales(0.01F));
    const std::vector<float> five = run(current().make(as_it_is), options, 1.0F);
    options.batch_max = 1;
    const std::vector<float> one = run(current().make(as_it_is), options, 1.0F);
    const std::size_t part = current().is_recurrent ? kUnits : one.size();
    for (std::size_t i = 0; i < one.size(); ++i)
      ASSERT_EQ(one[i], five[i / part * part * kBatch + i % part])
          << precision_name(precision) << " output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, LowPrecision, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name; });

TEST(LowPrecisionSession, ConstantsAreFoldedInFloat32) {
  const auto make = [] {
    GraphBuilder builder;
    RandomFloats random(kSeed);
    const ValueIndex x = builder.input("x", {kFreeDimension, kFeatures});
    const ValueIndex a = builder.floats("a", {kFeatures, 4}, random.vector(kFeatures * 4, 1.0F));
    const ValueIndex b = builder.floats("b", {4, kFeatures}, random.vector(kFeatures * 4, 1.0F));
    const ValueIndex product = builder.node("MatMul", {a, b});
    const ValueIndex row = builder.node("ReduceSum", {product, builder.ints("axes", {0})});
    builder.output(builder.node("Add", {x, row}), {kFreeDimension, kFeatures});
    return builder.finish();
  };
  const std::vector<float> exact = run(make(), options_of(Precision::kFloat32), 1.0F);
  EXPECT_EQ(run(make(), options_of(Precision::kBfloat16), 1.0F), exact);
  EXPECT_EQ(run(make(), options_of(Precision::kInt8, {{"a", 0.01F}, {"x", 0.01F}}), 1.0F), exact);
}

TEST(LowPrecisionSession, WeightsScaledPerTensorAreCoarser) {
  GraphBuilder builder;
  RandomFloats random(kSeed);
  std::vector<float> values = random.vector(kFeatures * kUnits, 0.01F);
  for (std::size_t i = 0; i < kFeatures; ++i) values[i] *= 1'000.0F;  // the first output
  const ValueIndex x = builder.input("x", {kFreeDimension, kFeatures});
  builder.output(builder.node("Gemm", {x, builder.floats("w", {kUnits, kFeatures}, values)},
                              {{"transB", std::int64_t{1}}}),
                 {kFreeDimension, kUnits});
  const Graph graph = builder.finish();
  const std::vector<float> exact = run(graph, options_of(Precision::kFloat32), 1.0F);
  SessionOptions options = options_of(Precision::kInt8, {{"x", 2.002F / 127.0F}});
  // Of the small outputs.
  const auto error = [&graph, &options, &exact] {
    std::vector<float> low = run(graph, options, 1.0F);
    for (std::size_t i = 0; i < low.size(); i += kUnits) low[i] = exact[i];
    return largest_difference(exact, low);
  };
  const double per_output = error();
  options.weight_scale_per_output = false;
  EXPECT_GT(error(), 4 * per_output);
}

TEST(LowPrecisionSession, AWeightThatThePrecisionCannotHoldIsNamedWithItsNode) {
  const Rounding large = [](float w) { return w * 1e5F; };
  const auto session = ReferenceSession::load(gemm_model(large), options_of(Precision::kFloat16));
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.error().message().find("Gemm_0"), std::string::npos)
      << session.error().message();
  EXPECT_NE(session.error().message().find("float16 cannot hold"), std::string::npos)
      << session.error().message();
}

// Tanh and sigmoid bound a state, so it has a scale by itself; a state that Relu makes has none.
TEST(LowPrecisionSession, AStateWithoutBoundsStaysInFloat32) {
  using Names = std::vector<std::string>;
  struct Cell {
    std::string type;
    std::int64_t gates;
    Names usual, unbounded;  // of both directions
  };
  const std::vector<Cell> cells = {
      {"RNN", 1, {"Tanh", "Tanh"}, {"Relu", "Relu"}},
      {"GRU", 3, {"Sigmoid", "Tanh", "Sigmoid", "Tanh"}, {"Sigmoid", "Relu", "Sigmoid", "Relu"}},
      {"LSTM",
       4,
       {"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"},
       {"Sigmoid", "Tanh", "Relu", "Sigmoid", "Tanh", "Relu"}}};
  for (const Cell& cell : cells) {
    for (const bool is_bounded : {true, false}) {
      const Graph graph = recurrent_model(cell.type, cell.gates, 0, kSteps, as_it_is,
                                          is_bounded ? cell.usual : cell.unbounded);
      const std::vector<float> exact = run(graph, options_of(Precision::kFloat32), 1.0F);
      const std::vector<float> low =
          run(graph, options_of(Precision::kInt8, {{"another", 0.1F}}), 1.0F);
      EXPECT_EQ(low == exact, !is_bounded) << cell.type;
    }
  }
}

// h' = tanh(x_t W + h R) over the steps: W is captured from around the body, R stands in it.
Graph scanned_model(const Rounding& rounding) {
  GraphBuilder body;
  const ValueIndex h = body.input("h", {});
  const ValueIndex x = body.input("x_t", {});
  const ValueIndex w = body.input("w", {});  // captured below
  const ValueIndex r = weights(body, "rr", {kUnits, kUnits}, rounding, true);
  const ValueIndex next = body.node(
      "Tanh", {body.node("Add", {body.node("MatMul", {x, w}), body.node("MatMul", {h, r})})});
  body.output(next, {});
  GraphBuilder builder;
  const ValueIndex frames = builder.input("x", {kSteps, kBatch, kFeatures});
  const ValueIndex captured = weights(builder, "w", {kFeatures, kUnits}, rounding, true);
  const ValueIndex start =
      builder.floats("start", {kBatch, kUnits}, std::vector<float>(kBatch * kUnits, 0.125F));
  Graph inner = body.finish();
  inner.signature.inputs.pop_back();
  inner.captured_values = {captured};
  const ValueIndex y = builder.node("Scan", {start, frames},
                                    {{"body", std::make_shared<const Graph>(std::move(inner))},
                                     {"num_scan_inputs", std::int64_t{1}}});
  builder.output(y, {kBatch, kUnits});
  Graph graph = builder.finish();
  graph.nodes[0].captured = {captured};
  return graph;
}

// What holds in a body: 16-bit weights as anywhere else; INT8 for the products whose input has a
// scale under its name in the body, and FP32 for all others.
TEST(LowPrecisionSession, BodiesHaveTheSessionsPrecision) {
  const auto scanned = [](const Rounding& rounding, SessionOptions options) {
    options.batch_max = 1;  // the model's own
    return run(scanned_model(rounding), options, 1.0F);
  };
  const Rounding third = [](float w) { return w / 3; };
  const Rounding rounded = [](float w) { return from_bfloat16(to_bfloat16(w / 3)); };
  const std::vector<float> exact = scanned(third, options_of(Precision::kFloat32));
  const std::vector<float> low = scanned(third, options_of(Precision::kBfloat16));
  EXPECT_EQ(low, scanned(rounded, options_of(Precision::kFloat32)));
  EXPECT_NE(low, exact);
  EXPECT_EQ(scanned(third, options_of(Precision::kInt8, {{"x", 0.02F}})), exact);
  for (const char* name : {"x_t", "h"}) {
    const std::vector<float> int8 =
        scanned(third, options_of(Precision::kInt8, {{name, 2.002F / 127.0F}}));
    EXPECT_GT(largest_difference(exact, int8), 1e-5) << name;
    EXPECT_LT(largest_difference(exact, int8), 0.1) << name;
  }
}

}  // namespace
}  // namespace tocsin
