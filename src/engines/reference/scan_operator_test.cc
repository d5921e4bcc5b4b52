// Scan: recurrences as Keras' exporters write them, along any axis and in either direction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kSteps = 5, kBatch = 2, kUnits = 3;

// h' = tanh(x + 0.5 h); hands on h' as the state and as the slice of the output.
std::shared_ptr<const Graph> cell() {
  GraphBuilder body;
  const ValueIndex h = body.input("h", {});
  const ValueIndex x = body.input("x_t", {});
  const ValueIndex half = body.floats("half", {}, {0.5F});
  const ValueIndex next = body.node("Tanh", {body.node("Add", {x, body.node("Mul", {h, half})})});
  body.output(next, {});
  body.output(body.node("Identity", {next}), {});
  return std::make_shared<const Graph>(body.finish());
}

struct Case {
  std::int64_t input_axis, output_axis;
  bool input_backward, output_backward;
};

// [kBatch, kUnits] slices along an axis of three.
Shape scanned_shape(std::int64_t axis) {
  Shape shape{kBatch, kUnits};
  shape.insert(shape.begin() + axis, kSteps);
  return shape;
}

std::size_t place(std::int64_t axis, std::int64_t step, std::int64_t row, std::int64_t unit) {
  const Shape shape = scanned_shape(axis);
  Ints index{row, unit};
  index.insert(index.begin() + axis, step);
  return static_cast<std::size_t>((index[0] * shape[1] + index[1]) * shape[2] + index[2]);
}

std::vector<float> twin(const Case& item, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (std::int64_t row = 0; row < kBatch; ++row) {
    for (std::int64_t unit = 0; unit < kUnits; ++unit) {
      double h = 0.25;
      for (std::int64_t step = 0; step < kSteps; ++step) {
        const std::int64_t from = item.input_backward ? kSteps - 1 - step : step;
        const std::int64_t to = item.output_backward ? kSteps - 1 - step : step;
        h = std::tanh(static_cast<double>(x[place(item.input_axis, from, row, unit)]) + 0.5 * h);
        y[place(item.output_axis, to, row, unit)] = static_cast<float>(h);
      }
    }
  }
  return y;
}

TEST(Scan, RunsItsBodyAlongAnyAxisInEitherDirection) {
  const std::vector<Case> cases = {{0, 0, false, false},
                                   {1, 0, false, false},
                                   {2, 1, true, false},
                                   {0, 2, false, true},
                                   {1, 1, true, true}};
  for (const Case& item : cases) {
    GraphBuilder builder;
    const ValueIndex x = builder.input("x", scanned_shape(item.input_axis));
    const ValueIndex start =
        builder.floats("start", {kBatch, kUnits}, std::vector<float>(6, 0.25F));
    const std::vector<ValueIndex> outputs =
        builder.nodes("Scan", {start, x},
                      {{"body", cell()},
                       {"num_scan_inputs", std::int64_t{1}},
                       {"scan_input_axes", Ints{item.input_axis}},
                       {"scan_input_directions", Ints{item.input_backward ? 1 : 0}},
                       {"scan_output_axes", Ints{item.output_axis - 3}},
                       {"scan_output_directions", Ints{item.output_backward ? 1 : 0}}},
                      2);
    builder.output(outputs[1], scanned_shape(item.output_axis));
    auto session = ReferenceSession::load(builder.finish(), {});
    ASSERT_TRUE(session.ok()) << session.error().message();
    FloatModel model(std::move(*session), 0);
    std::vector<float> values = formula_input(kSteps * kBatch * kUnits);
    const std::vector<float> expected = twin(item, values);
    std::vector<float> y(values.size());
    ASSERT_TRUE(model.run(values, y)) << model.session().error().message();
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y[i], expected[i], 1e-6) << "axes " << item.input_axis << item.output_axis;
  }
}

TEST(Scan, WhatDoesNotFitIsNamedWithItsNode) {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kSteps, kBatch, kUnits + 1});
  const ValueIndex start = builder.floats("start", {kBatch, kUnits}, std::vector<float>(6, 0.25F));
  const auto outputs = builder.nodes("Scan", {start, x},
                                     {{"body", cell()}, {"num_scan_inputs", std::int64_t{1}}}, 2);
  builder.output(outputs[1], {});
  const auto session = ReferenceSession::load(builder.finish(), {});
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().message(), testing::HasSubstr("node 'Scan_0' (Scan)"));
  EXPECT_THAT(session.error().message(), testing::HasSubstr("(Add)"));
}

}  // namespace
}  // namespace tocsin
